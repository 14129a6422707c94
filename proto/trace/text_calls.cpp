// SPDX-License-Identifier: Apache-2.0
// Calls in a text trace that allocate, copy, set and launch.
#include <algorithm>
#include <utility>

#include "proto/trace/text_parser.h"

namespace drgpum::trace {
namespace {

constexpr std::int32_t kOutOfMemory = 2;  // cudaErrorMemoryAllocation

const char* alloc_name(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kPitched:
      return "cudaMallocPitch";
    case ObjectKind::kManaged:
      return "cudaMallocManaged";
    case ObjectKind::kAsync:
      return "cudaMallocAsync";
    case ObjectKind::kHostPinned:
      return "cudaMallocHost";
    case ObjectKind::kArray:
      return "cudaMallocArray";
    case ObjectKind::kVirtual:
      return "cuMemMap";
    default:
      return "cudaMalloc";
  }
}

}  // namespace

Status TextParser::alloc(Words& words, Call& call) {
  ASSIGN_OR_RETURN(const ObjectRecord made, new_object(words, ObjectKind::kDevice));
  if (made.kind == ObjectKind::kAsync) set_stream(call);
  set_rest(call.api, ApiKind::kAlloc, alloc_name(made.kind), false, words);
  call.api.payload = AllocApi{made.id, made.size, 0};
  records_.push_back(made);
  return Ok{};
}

Status TextParser::alloc_failed(Words& words, Call& call) {
  AllocApi alloc;
  ASSIGN_OR_RETURN(const std::string size, words.take("the size"));
  ASSIGN_OR_RETURN(alloc.requested, parse_number(size));
  ASSIGN_OR_RETURN(const std::uint64_t error, words.number_option("error", kOutOfMemory));
  alloc.error = static_cast<std::int32_t>(error);
  set_rest(call.api, ApiKind::kAlloc, "cudaMalloc", false, words);
  call.api.payload = alloc;
  return Ok{};
}

Status TextParser::free(Words& words, Call& call) {
  FreeApi free;
  free.stream_ordered = words.flag("async");
  ASSIGN_OR_RETURN(const std::uint64_t error, words.number_option("error", 0));
  free.error = static_cast<std::int32_t>(error);
  ASSIGN_OR_RETURN(const std::string name, words.take("the object"));
  if (name.starts_with("0x")) {
    ASSIGN_OR_RETURN(free.address, parse_number(name));
  } else {
    ASSIGN_OR_RETURN(const Object found, object(name));
    free.object = found.id;
    free.address = found.address;
  }
  if (free.stream_ordered) set_stream(call);
  set_rest(call.api, ApiKind::kFree, free.stream_ordered ? "cudaFreeAsync" : "cudaFree",
           !free.stream_ordered, words);
  call.api.payload = free;
  return Ok{};
}

Status TextParser::memcpy(Words& words, Call& call) {
  MemcpyApi copy;
  copy.async = words.flag("async");
  if (const auto peer = words.option("peer")) {
    ASSIGN_OR_RETURN(copy.source_stream, find_stream(*peer));
  }
  ASSIGN_OR_RETURN(const std::string direction, words.take("the direction"));
  const auto known = enum_of<CopyDirection>(direction);
  if (!known) return bad_text("no copy goes '" + direction + "'");
  copy.direction = *known;
  std::vector<TextRange> ranges;
  while (!words.empty() && words.peek() != "blocks" && words.peek() != "unblocked") {
    ASSIGN_OR_RETURN(const std::string text, words.take("a range"));
    ASSIGN_OR_RETURN(const TextRange read, range(text));
    ranges.push_back(read);
  }
  const bool to_host = copy.direction == CopyDirection::kDeviceToHost;
  const bool one_side = copy.direction != CopyDirection::kDeviceToDevice;
  if (ranges.empty() || ranges.size() > 2 || (ranges.size() == 1 && !one_side))
    if (copy.direction != CopyDirection::kHostToHost)
      return bad_text("a copy needs its source and its destination; the host's side may be left out");
  Region pageable = ranges.empty() ? Region{} : ranges.front().region;
  pageable.object = kNoObject;
  pageable.offset = 0;
  pageable.is_host = true;
  copy.source = copy.destination = pageable;
  if (ranges.size() == 2) copy.source = ranges[0].region;
  if (ranges.size() == 2) copy.destination = ranges[1].region;
  if (ranges.size() == 1) (to_host ? copy.source : copy.destination) = ranges[0].region;
  set_stream(call);
  const bool blocks = one_side && !copy.async;
  set_rest(call.api, ApiKind::kMemcpy, copy.async ? "cudaMemcpyAsync" : "cudaMemcpy", blocks,
           words);
  call.api.payload = copy;
  return Ok{};
}

Status TextParser::memset(Words& words, Call& call) {
  MemsetApi set;
  set.async = words.flag("async");
  ASSIGN_OR_RETURN(const std::uint64_t value, words.number_option("value", 0));
  ASSIGN_OR_RETURN(const std::uint64_t element, words.number_option("element", 1));
  ASSIGN_OR_RETURN(const std::string text, words.take("a range"));
  ASSIGN_OR_RETURN(const TextRange where, range(text));
  set.value = static_cast<std::uint32_t>(value);
  set.element_size = static_cast<std::uint32_t>(element);
  set.destination = where.region;
  set_stream(call);
  set_rest(call.api, ApiKind::kMemset, set.async ? "cudaMemsetAsync" : "cudaMemset", false, words);
  call.api.payload = set;
  return Ok{};
}

Status TextParser::launch(Words& words, Call& call) {
  LaunchApi launch;
  launch.instrumented = !words.flag("uninstrumented");
  for (const auto& [key, to] :
       {std::pair{"grid", &launch.grid}, std::pair{"block", &launch.block}}) {
    ASSIGN_OR_RETURN(const auto sizes, words.list_option(key));
    for (std::size_t k = 0; k < sizes.size() && k < 3; ++k)
      (*to)[k] = static_cast<std::uint32_t>(sizes[k]);
  }
  ASSIGN_OR_RETURN(const std::uint64_t shared, words.number_option("shared", 0));
  launch.shared_bytes = static_cast<std::uint32_t>(shared);
  ASSIGN_OR_RETURN(const auto access_bytes, words.list_option("access"));
  std::uint64_t widths[2]{};
  if (!access_bytes.empty()) widths[0] = access_bytes.front();
  if (!access_bytes.empty()) widths[1] = access_bytes.back();
  set_stream(call);
  set_rest(call.api, ApiKind::kLaunch, "cudaLaunchKernel", false, words);
  ASSIGN_OR_RETURN(const std::string name, words.take("the kernel"));
  std::string how;
  while (!words.empty()) {
    ASSIGN_OR_RETURN(const std::string word, words.take("a range"));
    if (word == "reads" || word == "writes" || word == "updates" || word == "atomics")
      how = word;
    else
      RETURN_IF_ERROR(access(call, how, word, widths));
  }
  launch.kernel = kernel(name);
  call.api.payload = launch;
  return Ok{};
}

Status TextParser::access(Call& call, const std::string& how, const std::string& text,
                          std::uint64_t widths[2]) {
  if (how.empty()) return bad_text("'" + text + "' comes before reads, writes, updates or atomics");
  ASSIGN_OR_RETURN(const TextRange where, range(text));
  auto found = call.accesses.begin();
  while (found != call.accesses.end() && found->object != where.object)
    ++found;
  if (found == call.accesses.end()) {
    found = call.accesses.insert(found, AccessRecord{});
    found->api = call.api.id;
    found->object = where.object;
    if (!where.whole) found->bounds = {where.region.offset, where.region.offset};
  }
  found->reads |= how != "writes";
  found->writes |= how != "reads";
  found->atomics |= how == "atomics";
  found->min_access_bytes = static_cast<std::uint32_t>(widths[0]);
  found->max_access_bytes = static_cast<std::uint32_t>(widths[1]);
  if (where.whole) found->bounds.reset();
  if (found->bounds)
    found->bounds =
        ByteRange{std::min(found->bounds->begin, where.region.offset),
                  std::max(found->bounds->end, where.region.offset + where.region.width)};
  return Ok{};
}

}  // namespace drgpum::trace
