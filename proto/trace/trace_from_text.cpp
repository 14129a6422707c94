// SPDX-License-Identifier: Apache-2.0
// Reads a text trace, statement by statement.
#include <cstdlib>
#include <map>
#include <utility>

#include "proto/trace/names.h"
#include "proto/trace/text_words.h"
#include "proto/trace/trace_text.h"

namespace drgpum::trace {
namespace {

constexpr std::uint64_t kNsPerCall = 1000;
constexpr std::uint64_t kCallNs = 500;
constexpr std::uint64_t kFirstAddress = 0x7f0000000000;
constexpr std::uint64_t kAlignment = 512;  // of cudaMalloc
constexpr std::uint64_t kDeviceMemory = 1 << 30;
constexpr std::int32_t kOutOfMemory = 2;  // cudaErrorMemoryAllocation

Error bad(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

template <typename Enum>
std::optional<Enum> enum_of(std::string_view word) {
  for (std::size_t k = 0; k < kEnumNames<Enum>.size(); ++k)
    if (kEnumNames<Enum>[k] == word) return static_cast<Enum>(k);
  return std::nullopt;
}

struct Range {
  ObjectId object;
  Region region;
  bool whole = true;
};

class TextParser {
 public:
  Status statement(Words words);
  Result<std::vector<Record>> finish() {
    begin_context_if_none();
    return std::move(records_);
  }

 private:
  struct Object {
    ObjectId id;
    std::uint64_t size = 0;
    std::uint64_t address = 0;
  };
  struct Call {  // the fields that all calls have
    GpuApi api;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> time;
    std::vector<AccessRecord> accesses;
  };
  using Handler = Status (TextParser::*)(Words&);
  using CallHandler = Status (TextParser::*)(Words&, Call&);

  void begin_process();
  void begin_device_if_none();
  void begin_context_if_none();
  void begin_context(const std::string& name, DeviceId device);

  Status process(Words&);
  Status device(Words&);
  Status context(Words&);
  Status stream(Words&);
  Status end_stream(Words&);
  Status end_context(Words&);
  Status end_object(Words&);
  Status name(Words&);
  Status global(Words&);
  Status path(Words&);
  Status module(Words&);
  Status end_module(Words&);
  Status map(Words&);
  Status site(Words&);
  Status coverage(Words&);
  Status end(Words&);

  Status call(Words& words, CallHandler handler);
  Status common(Words&, Call&);
  Status alloc(Words&, Call&);
  Status alloc_failed(Words&, Call&);
  Status free(Words&, Call&);
  Status memcpy(Words&, Call&);
  Status memset(Words&, Call&);
  Status launch(Words&, Call&);
  Status record_event(Words&, Call&);
  Status wait(Words&, Call&);
  Status sync(Words&, Call&);
  Status query(Words&, Call&);
  Status graph(Words&, Call&);
  Status host_function(Words&, Call&);
  Status push(Words& words, Call& call) { return mark(words, call, MarkKind::kRangePush); }
  Status pop(Words& words, Call& call) { return mark(words, call, MarkKind::kRangePop); }
  Status instant(Words& words, Call& call) { return mark(words, call, MarkKind::kInstant); }
  Status iteration(Words& words, Call& call) { return mark(words, call, MarkKind::kIteration); }
  Status start(Words& words, Call& call) { return mark(words, call, MarkKind::kCaptureStart); }
  Status stop(Words& words, Call& call) { return mark(words, call, MarkKind::kCaptureStop); }
  Status mark(Words&, Call&, MarkKind);
  Status synchronize(Words&, Call&, bool query);

  static const std::map<std::string_view, Handler>& declarations();
  static const std::map<std::string_view, CallHandler>& calls();

  Result<ObjectRecord> new_object(Words&, ObjectKind kind);
  Result<Object> object(const std::string& name) const;
  Result<ObjectId> object_option(Words&, std::string_view key) const;
  Result<StreamId> find_stream(const std::string& name) const;
  Result<Range> range(const std::string& text) const;
  Status access(Call&, const std::string& how, const std::string& text, std::uint64_t widths[2]);
  KernelId kernel(const std::string& name);
  EventId event(const std::string& name);
  Result<ApiId> subject(Words&) const;
  void set_stream(Call& call) const;

  std::vector<Record> records_;
  bool has_device_ = false;
  bool process_begun_ = false;
  std::uint32_t contexts_made_ = 0;
  ContextId context_;
  DeviceId device_;
  CubinId cubin_;
  std::map<std::string, std::pair<ContextId, DeviceId>, std::less<>> contexts_;
  std::uint32_t streams_made_ = 0;
  std::map<std::uint32_t, StreamId> default_streams_;  // by context
  std::map<std::string, StreamId, std::less<>> streams_;
  std::map<std::string, Object, std::less<>> objects_;
  std::uint32_t objects_made_ = 0;
  std::uint64_t next_address_ = kFirstAddress;
  std::map<std::pair<std::uint32_t, std::string>, KernelId> kernels_;
  std::map<std::string, EventId, std::less<>> events_;
  std::map<std::uint32_t, ApiId> recorded_;  // by event
  std::map<std::string, CallPathId, std::less<>> paths_;
  std::map<std::string, ModuleId, std::less<>> modules_;
  std::map<std::string, std::uint64_t, std::less<>> graphs_;
  std::uint64_t graph_launches_ = 0;
  std::uint64_t next_api_ = 0;
};

void TextParser::begin_process() {
  if (std::exchange(process_begun_, true)) return;
  ProcessRecord process;
  process.executable = "/app";
  process.argv = {"app"};
  process.mode = "object";
  records_.push_back(process);
}

void TextParser::begin_device_if_none() {
  begin_process();
  if (std::exchange(has_device_, true)) return;
  DeviceRecord device;
  device.kind = DeviceKind::kEmulated;
  device.name = "test device";
  device.memory_bytes = kDeviceMemory;
  records_.push_back(device);
}

void TextParser::begin_context(const std::string& name, DeviceId device) {
  begin_device_if_none();
  context_ = {contexts_made_};
  device_ = device;
  cubin_ = {contexts_made_++};
  contexts_[name] = {context_, device_};
  default_streams_[context_.value] = {streams_made_++};
  records_.push_back(ContextRecord{context_, device_});
  records_.push_back(
      StreamRecord{default_streams_[context_.value], context_, StreamKind::kLegacyDefault, ""});
  records_.push_back(CubinRecord{cubin_, context_, 0, "", ""});
}

void TextParser::begin_context_if_none() {
  if (contexts_made_ == 0) begin_context("0", {});
}

const std::map<std::string_view, TextParser::Handler>& TextParser::declarations() {
  static const std::map<std::string_view, Handler> table{{"stream", &TextParser::stream},
                                                         {"end-stream", &TextParser::end_stream},
                                                         {"end-context", &TextParser::end_context},
                                                         {"end-object", &TextParser::end_object},
                                                         {"name", &TextParser::name},
                                                         {"global", &TextParser::global},
                                                         {"path", &TextParser::path},
                                                         {"module", &TextParser::module},
                                                         {"end-module", &TextParser::end_module},
                                                         {"map", &TextParser::map},
                                                         {"site", &TextParser::site},
                                                         {"coverage", &TextParser::coverage},
                                                         {"end", &TextParser::end}};
  return table;
}

const std::map<std::string_view, TextParser::CallHandler>& TextParser::calls() {
  static const std::map<std::string_view, CallHandler> table{
      {"alloc", &TextParser::alloc},         {"alloc-failed", &TextParser::alloc_failed},
      {"free", &TextParser::free},           {"memcpy", &TextParser::memcpy},
      {"memset", &TextParser::memset},       {"launch", &TextParser::launch},
      {"record", &TextParser::record_event}, {"wait", &TextParser::wait},
      {"sync", &TextParser::sync},           {"query", &TextParser::query},
      {"graph", &TextParser::graph},         {"host-function", &TextParser::host_function},
      {"push", &TextParser::push},           {"pop", &TextParser::pop},
      {"mark", &TextParser::instant},        {"iteration", &TextParser::iteration},
      {"capture-start", &TextParser::start}, {"capture-stop", &TextParser::stop}};
  return table;
}

Status TextParser::statement(Words words) {
  if (words.empty()) return Ok{};
  std::optional<std::uint64_t> number;
  if (auto read = parse_number(words.peek())) {
    number = *read;
    if (*read != next_api_) return bad("this is call " + std::to_string(next_api_));
    ASSIGN_OR_RETURN(const std::string taken, words.take("the number"));
  }
  ASSIGN_OR_RETURN(const std::string verb, words.take("the statement"));
  if (const auto found = calls().find(verb); found != calls().end()) {
    begin_context_if_none();
    RETURN_IF_ERROR(call(words, found->second));
  } else if (number) {
    return bad("'" + verb + "' is no call and has no number");
  } else if (verb == "process") {
    RETURN_IF_ERROR(process(words));
  } else if (verb == "device") {
    RETURN_IF_ERROR(device(words));
  } else if (verb == "context") {
    RETURN_IF_ERROR(context(words));
  } else if (const auto other = declarations().find(verb); other != declarations().end()) {
    begin_context_if_none();
    RETURN_IF_ERROR((this->*other->second)(words));
  } else {
    return bad("no statement is called '" + verb + "'");
  }
  if (!words.empty()) return bad("'" + std::string(words.peek()) + "' does not belong here");
  return Ok{};
}

Status TextParser::process(Words& words) {
  if (process_begun_) return bad("the process comes first");
  ProcessRecord process;
  process.executable = words.option("exe").value_or("/app");
  process.mode = words.option("mode").value_or("object");
  ASSIGN_OR_RETURN(process.pid, words.number_option("pid", 0));
  while (auto argument = words.option("arg"))
    process.argv.push_back(*argument);
  process_begun_ = true;
  records_.push_back(process);
  return Ok{};
}

Status TextParser::device(Words& words) {
  begin_process();
  DeviceRecord device;
  device.id = {has_device_ ? device_.value + 1 : 0};
  device_ = device.id;
  has_device_ = true;
  device.kind = words.flag("gpu") ? DeviceKind::kGpu : DeviceKind::kEmulated;
  device.name = words.option("name").value_or("test device");
  ASSIGN_OR_RETURN(device.memory_bytes, words.number_option("memory", kDeviceMemory));
  records_.push_back(device);
  return Ok{};
}

Status TextParser::context(Words& words) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the context's name"));
  ASSIGN_OR_RETURN(const std::uint64_t device, words.number_option("device", 0));
  const auto known = contexts_.find(name);
  if (known == contexts_.end())
    begin_context(name, {static_cast<std::uint32_t>(device)});
  else
    std::tie(context_, device_) = known->second;
  cubin_ = {context_.value};
  return Ok{};
}

Status TextParser::stream(Words& words) {
  StreamRecord stream{{streams_made_++}, context_, StreamKind::kBlocking, ""};
  ASSIGN_OR_RETURN(const std::string name, words.take("the stream's name"));
  for (std::size_t k = 0; k < kEnumNames<StreamKind>.size(); ++k)
    if (words.flag(kEnumNames<StreamKind>[k])) stream.kind = static_cast<StreamKind>(k);
  stream.name = words.option("name").value_or("");
  streams_[name] = stream.id;
  records_.push_back(stream);
  return Ok{};
}

Status TextParser::end_stream(Words& words) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the stream's name"));
  ASSIGN_OR_RETURN(const StreamId id, find_stream(name));
  records_.push_back(StreamEndRecord{id, {next_api_}});
  return Ok{};
}

Status TextParser::end_context(Words& words) {
  ContextId id = context_;
  if (!words.empty()) {
    ASSIGN_OR_RETURN(const std::string name, words.take("the context's name"));
    const auto known = contexts_.find(name);
    if (known == contexts_.end()) return bad("there is no context '" + name + "'");
    id = known->second.first;
  }
  records_.push_back(ContextEndRecord{id, {next_api_}});
  return Ok{};
}

Status TextParser::end_object(Words& words) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the object"));
  ASSIGN_OR_RETURN(const Object found, object(name));
  records_.push_back(ObjectEndRecord{found.id, {next_api_}});
  return Ok{};
}

Status TextParser::name(Words& words) {
  ASSIGN_OR_RETURN(const std::string what, words.take("the object"));
  ASSIGN_OR_RETURN(const Object found, object(what));
  ASSIGN_OR_RETURN(const std::string text, words.take("the name"));
  records_.push_back(ObjectNameRecord{found.id, text});
  return Ok{};
}

Status TextParser::global(Words& words) {
  ASSIGN_OR_RETURN(const ObjectRecord made, new_object(words, ObjectKind::kModuleGlobal));
  records_.push_back(made);
  return Ok{};
}

Status TextParser::path(Words& words) {
  CallPathRecord path;
  ASSIGN_OR_RETURN(const std::string name, words.take("the path's name"));
  path.id = {static_cast<std::uint32_t>(paths_.size() + 1)};
  while (!words.empty()) {
    ASSIGN_OR_RETURN(const std::string frame, words.take("a frame"));
    ASSIGN_OR_RETURN(const std::uint64_t address, parse_number(frame));
    path.frames.push_back(address);
  }
  paths_[name] = path.id;
  records_.push_back(path);
  return Ok{};
}

Status TextParser::module(Words& words) {
  HostModuleRecord module;
  module.id = {static_cast<std::uint32_t>(modules_.size())};
  ASSIGN_OR_RETURN(const std::string name, words.take("the module's name"));
  ASSIGN_OR_RETURN(const std::string begin, words.take("the begin"));
  ASSIGN_OR_RETURN(const std::string end, words.take("the end"));
  ASSIGN_OR_RETURN(module.begin, parse_number(begin));
  ASSIGN_OR_RETURN(module.end, parse_number(end));
  ASSIGN_OR_RETURN(module.load_bias, words.number_option("bias", module.begin));
  module.path = words.option("path").value_or("/" + name);
  module.build_id = words.option("build-id").value_or("");
  module.loaded_at = {next_api_};
  modules_[name] = module.id;
  records_.push_back(module);
  return Ok{};
}

Status TextParser::end_module(Words& words) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the module's name"));
  if (!modules_.contains(name)) return bad("there is no module '" + name + "'");
  records_.push_back(HostModuleEndRecord{modules_[name], {next_api_}});
  return Ok{};
}

// The call that a fact is about.
Result<ApiId> TextParser::subject(Words& words) const {
  if (next_api_ == 0) return bad("there is no call yet that this could be about");
  ASSIGN_OR_RETURN(const std::uint64_t api, words.number_option("api", next_api_ - 1));
  return ApiId{api};
}

Result<std::vector<ByteRange>> ranges_of(Words& words, std::string_view key) {
  std::vector<ByteRange> ranges;
  const std::string text = words.option(key).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::size_t colon = text.find(':', at);
    if (colon >= comma) return bad("'" + text + "' is no list of ranges A:B");
    ByteRange range;
    ASSIGN_OR_RETURN(range.begin, parse_number(text.substr(at, colon - at)));
    ASSIGN_OR_RETURN(range.end, parse_number(text.substr(colon + 1, comma - colon - 1)));
    ranges.push_back(range);
    at = comma + 1;
  }
  return ranges;
}

Status TextParser::map(Words& words) {
  AccessMapRecord map;
  ASSIGN_OR_RETURN(const std::string name, words.take("the object"));
  ASSIGN_OR_RETURN(const Object found, object(name));
  map.object = found.id;
  ASSIGN_OR_RETURN(map.api, subject(words));
  ASSIGN_OR_RETURN(const std::uint64_t cell, words.number_option("cell", 1));
  map.cell_bytes = static_cast<std::uint32_t>(cell);
  map.exact = words.flag("exact");
  ASSIGN_OR_RETURN(map.read_ranges, ranges_of(words, "reads"));
  ASSIGN_OR_RETURN(map.written_ranges, ranges_of(words, "writes"));
  ASSIGN_OR_RETURN(map.counted_cells, words.number_option("counted", 0));
  map.count_mean = std::strtod(words.option("mean").value_or("0").c_str(), nullptr);
  map.count_variance = std::strtod(words.option("variance").value_or("0").c_str(), nullptr);
  ASSIGN_OR_RETURN(map.count_histogram, words.list_option("histogram"));
  ASSIGN_OR_RETURN(const std::vector<ByteRange> hot, ranges_of(words, "hot"));
  if (!hot.empty()) map.hot_range = hot.front();
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> heat, words.list_option("heat"));
  for (const std::uint64_t cells : heat)
    map.heat_strip.push_back(static_cast<std::uint32_t>(cells));
  records_.push_back(map);
  return Ok{};
}

Status TextParser::site(Words& words) {
  AccessSiteRecord site;
  ASSIGN_OR_RETURN(const std::string name, words.take("the object"));
  ASSIGN_OR_RETURN(const Object found, object(name));
  site.object = found.id;
  ASSIGN_OR_RETURN(const std::string function, words.take("the function"));
  ASSIGN_OR_RETURN(const std::string offset, words.take("the offset"));
  ASSIGN_OR_RETURN(site.offset, parse_number(offset));
  ASSIGN_OR_RETURN(site.api, subject(words));
  ASSIGN_OR_RETURN(site.reads, words.number_option("reads", 0));
  ASSIGN_OR_RETURN(site.writes, words.number_option("writes", 0));
  site.function = kernel(function);
  records_.push_back(site);
  return Ok{};
}

Status TextParser::coverage(Words& words) {
  CoverageRecord coverage;
  ASSIGN_OR_RETURN(const std::string kind, words.take("the kind"));
  const auto known = enum_of<CoverageKind>(kind);
  if (!known) return bad("no coverage is called '" + kind + "'");
  coverage.kind = *known;
  if (const auto api = words.option("api")) {
    ASSIGN_OR_RETURN(const std::uint64_t id, parse_number(*api));
    coverage.api = ApiId{id};
  }
  ASSIGN_OR_RETURN(coverage.object, object_option(words, "object"));
  ASSIGN_OR_RETURN(coverage.count, words.number_option("count", 1));
  if (!words.empty()) {
    ASSIGN_OR_RETURN(coverage.text, words.take("the text"));
  }
  records_.push_back(coverage);
  return Ok{};
}

Status TextParser::end(Words& words) {
  EndRecord end;
  end.api_count = {next_api_};
  if (const auto code = words.option("exit")) {
    end.exit_code_known = true;
    end.exit_code = std::atoi(code->c_str());
  }
  records_.push_back(end);
  return Ok{};
}

Status TextParser::call(Words& words, CallHandler handler) {
  Call call;
  RETURN_IF_ERROR(common(words, call));
  RETURN_IF_ERROR((this->*handler)(words, call));
  ++next_api_;
  const ApiId id = call.api.id;
  records_.push_back(std::move(call.api));
  for (AccessRecord& access : call.accesses)
    records_.push_back(access);
  if (call.time) records_.push_back(TimeRecord{id, call.time->first, call.time->second});
  return Ok{};
}

Status TextParser::common(Words& words, Call& call) {
  GpuApi& api = call.api;
  api.id = {next_api_};
  api.context = context_;
  ASSIGN_OR_RETURN(const std::uint64_t thread, words.number_option("thread", 0));
  api.thread = {static_cast<std::uint32_t>(thread)};
  ASSIGN_OR_RETURN(const auto host, words.list_option("host"));
  api.host_begin_ns = host.empty() ? next_api_ * kNsPerCall : host.front();
  api.host_end_ns = host.empty() ? api.host_begin_ns + kCallNs : host.back();
  ASSIGN_OR_RETURN(const auto time, words.list_option("time"));
  if (!time.empty()) call.time = {time.front(), time.back()};
  if (const auto on = words.option("on")) {
    ASSIGN_OR_RETURN(api.stream, find_stream(*on));
  }
  if (const auto path = words.option("path")) {
    if (!paths_.contains(*path)) return bad("there is no path '" + *path + "'");
    api.call_path = paths_[*path];
  }
  api.name = words.option("call").value_or("");
  if (words.flag("node")) api.graph_launch = graph_launches_;
  ASSIGN_OR_RETURN(const auto after, words.list_option("after"));
  for (const std::uint64_t before : after)
    api.depends_on.push_back({before});
  return Ok{};
}

// Calls what was not given: the stream, the name, whether the host waits.
void set_rest(GpuApi& api, ApiKind kind, const char* name, bool blocks, Words& words) {
  api.kind = kind;
  if (api.name.empty()) api.name = name;
  api.blocks_host =
      words.flag("blocked") || words.flag("blocks") || (blocks && !words.flag("unblocked"));
}

void TextParser::set_stream(Call& call) const {
  if (call.api.stream == kNoStream) call.api.stream = default_streams_.at(context_.value);
}

Result<ObjectRecord> TextParser::new_object(Words& words, ObjectKind kind) {
  ObjectRecord made;
  ASSIGN_OR_RETURN(const std::string name, words.take("the object's name"));
  ASSIGN_OR_RETURN(const std::string size, words.take("the size"));
  ASSIGN_OR_RETURN(made.size, parse_number(size));
  for (std::size_t k = 0; k < kEnumNames<ObjectKind>.size(); ++k)
    if (words.flag(kEnumNames<ObjectKind>[k])) kind = static_cast<ObjectKind>(k);
  made.id = {objects_made_++};
  made.kind = kind;
  ASSIGN_OR_RETURN(made.parent, object_option(words, "parent"));
  made.device = device_;
  made.context = context_;
  ASSIGN_OR_RETURN(made.address, words.number_option("at", next_address_));
  next_address_ += (made.size + kAlignment) / kAlignment * kAlignment;
  ASSIGN_OR_RETURN(made.pitch, words.number_option("pitch", 0));
  ASSIGN_OR_RETURN(made.width, words.number_option("width", 0));
  made.allocated_by = {next_api_};
  made.name = words.option("name").value_or(name);
  made.opaque = words.flag("opaque");
  objects_[name] = {made.id, made.size, made.address};
  return made;
}

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
  ASSIGN_OR_RETURN(const std::string direction, words.take("the direction"));
  const auto known = enum_of<CopyDirection>(direction);
  if (!known) return bad("no copy goes '" + direction + "'");
  copy.direction = *known;
  std::vector<Range> ranges;
  while (!words.empty() && words.peek() != "blocks" && words.peek() != "unblocked") {
    ASSIGN_OR_RETURN(const std::string text, words.take("a range"));
    ASSIGN_OR_RETURN(const Range read, range(text));
    ranges.push_back(read);
  }
  const bool to_host = copy.direction == CopyDirection::kDeviceToHost;
  const bool one_side = copy.direction != CopyDirection::kDeviceToDevice;
  if (ranges.empty() || ranges.size() > 2 || (ranges.size() == 1 && !one_side))
    if (copy.direction != CopyDirection::kHostToHost)
      return bad("a copy needs its source and its destination; the host's side may be left out");
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
  ASSIGN_OR_RETURN(const Range where, range(text));
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
  if (how.empty()) return bad("'" + text + "' comes before reads, writes, updates or atomics");
  ASSIGN_OR_RETURN(const Range where, range(text));
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

Status TextParser::record_event(Words& words, Call& call) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the event"));
  set_stream(call);
  set_rest(call.api, ApiKind::kEventRecord, "cudaEventRecord", false, words);
  const EventId id = event(name);
  recorded_[id.value] = call.api.id;
  call.api.payload = EventApi{id, {}, false};
  return Ok{};
}

Status TextParser::wait(Words& words, Call& call) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the event"));
  set_stream(call);
  set_rest(call.api, ApiKind::kStreamWait, "cudaStreamWaitEvent", false, words);
  const EventId id = event(name);
  const auto found = recorded_.find(id.value);
  const bool recorded = found != recorded_.end();
  call.api.payload = EventApi{id, recorded ? found->second : ApiId{}, recorded};
  return Ok{};
}

Status TextParser::sync(Words& words, Call& call) {
  return synchronize(words, call, false);
}
Status TextParser::query(Words& words, Call& call) {
  return synchronize(words, call, true);
}

Status TextParser::synchronize(Words& words, Call& call, bool query) {
  SynchronizeApi sync;
  sync.query = query;
  ASSIGN_OR_RETURN(const std::string scope, words.take("device, context, stream or event"));
  const auto known = enum_of<SyncScope>(scope);
  if (!known) return bad("'" + scope + "' is not device, context, stream or event");
  sync.scope = *known;
  const char* name = "cudaDeviceSynchronize";
  if (sync.scope == SyncScope::kContext) name = "cuCtxSynchronize";
  if (sync.scope == SyncScope::kStream) {
    name = query ? "cudaStreamQuery" : "cudaStreamSynchronize";
    if (!words.empty()) {
      ASSIGN_OR_RETURN(const std::string stream, words.take("the stream"));
      ASSIGN_OR_RETURN(call.api.stream, find_stream(stream));
    }
    set_stream(call);
  }
  if (sync.scope == SyncScope::kEvent) {
    name = query ? "cudaEventQuery" : "cudaEventSynchronize";
    ASSIGN_OR_RETURN(const std::string which, words.take("the event"));
    sync.event = event(which);
    const auto found = recorded_.find(sync.event.value);
    sync.recorded = found != recorded_.end();
    if (sync.recorded) sync.recorded_by = found->second;
  }
  set_rest(call.api, ApiKind::kSynchronize, name, true, words);
  call.api.payload = sync;
  return Ok{};
}

Status TextParser::graph(Words& words, Call& call) {
  ASSIGN_OR_RETURN(const std::string name, words.take("the graph"));
  set_stream(call);
  set_rest(call.api, ApiKind::kGraphLaunch, "cudaGraphLaunch", false, words);
  const std::uint64_t id = graphs_.emplace(name, graphs_.size()).first->second;
  call.api.payload = GraphLaunchApi{id, ++graph_launches_};
  return Ok{};
}

Status TextParser::host_function(Words& words, Call& call) {
  set_stream(call);
  set_rest(call.api, ApiKind::kHostFunction, "cudaLaunchHostFunc", false, words);
  call.api.payload = HostFunctionApi{};
  return Ok{};
}

Status TextParser::mark(Words& words, Call& call, MarkKind kind) {
  MarkApi mark{kind, ""};
  set_rest(call.api, ApiKind::kMark, "", false, words);
  if (!words.empty()) {
    ASSIGN_OR_RETURN(mark.name, words.take("the name"));
  }
  call.api.payload = mark;
  return Ok{};
}

Result<TextParser::Object> TextParser::object(const std::string& name) const {
  const auto found = objects_.find(name);
  if (found == objects_.end()) return bad("there is no object '" + name + "'");
  return found->second;
}

Result<ObjectId> TextParser::object_option(Words& words, std::string_view key) const {
  const auto name = words.option(key);
  if (!name) return kNoObject;
  ASSIGN_OR_RETURN(const Object found, object(*name));
  return found.id;
}

Result<StreamId> TextParser::find_stream(const std::string& name) const {
  if (name == "0") return default_streams_.at(context_.value);
  const auto found = streams_.find(name);
  if (found == streams_.end()) return bad("there is no stream '" + name + "'");
  return found->second;
}

// OBJECT, OBJECT[BEGIN:END), OBJECT[BEGIN:END)xROWS/PITCH.
Result<Range> TextParser::range(const std::string& text) const {
  Range range;
  const std::size_t bracket = text.find('[');
  ASSIGN_OR_RETURN(const Object found, object(text.substr(0, bracket)));
  range.object = range.region.object = found.id;
  range.region.width = found.size;
  range.whole = bracket == std::string::npos;
  if (range.whole) return range;
  const std::size_t colon = text.find(':', bracket);
  const std::size_t close = text.find(')', bracket);
  if (colon >= close || close == std::string::npos) return bad("'" + text + "' is no range");
  const std::string_view whole = text;
  ASSIGN_OR_RETURN(range.region.offset,
                   parse_number(whole.substr(bracket + 1, colon - bracket - 1)));
  ASSIGN_OR_RETURN(const std::uint64_t end,
                   parse_number(whole.substr(colon + 1, close - colon - 1)));
  if (end < range.region.offset) return bad("'" + text + "' ends before it begins");
  range.region.width = end - range.region.offset;
  if (close + 1 == text.size()) return range;
  const std::size_t slash = text.find('/', close);
  if (text[close + 1] != 'x' || slash == std::string::npos)
    return bad("'" + text + "': rows are given as xROWS/PITCH");
  ASSIGN_OR_RETURN(range.region.height, parse_number(whole.substr(close + 2, slash - close - 2)));
  ASSIGN_OR_RETURN(range.region.pitch, parse_number(whole.substr(slash + 1)));
  return range;
}

KernelId TextParser::kernel(const std::string& name) {
  const auto next = static_cast<std::uint32_t>(kernels_.size());
  const auto [found, made] = kernels_.emplace(std::pair{cubin_.value, name}, KernelId{next});
  if (made) records_.push_back(KernelRecord{found->second, cubin_, name});
  return found->second;
}

EventId TextParser::event(const std::string& name) {
  return events_.emplace(name, EventId{static_cast<std::uint32_t>(events_.size())}).first->second;
}

// Where the statement that begins at `at` ends: a line's end, a ';' or a '#', outside of quotes.
std::size_t statement_end(std::string_view text, std::size_t at) {
  for (bool quoted = false; at < text.size(); ++at) {
    if (text[at] == '"') quoted = !quoted;
    if (text[at] == '\n' || (!quoted && (text[at] == ';' || text[at] == '#'))) break;
  }
  return at;
}

}  // namespace

Result<std::vector<Record>> trace_from_text(std::string_view text) {
  TextParser parser;
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = statement_end(text, at);
    const std::string where = "line " + std::to_string(line);
    auto words = Words::split(text.substr(at, end - at));
    if (!words) return std::move(words).error().while_doing(where);
    if (Status status = parser.statement(*std::move(words)); !status)
      return std::move(status).error().while_doing(where);
    if (end < text.size() && text[end] == '#') end = std::min(text.find('\n', end), text.size());
    if (end < text.size() && text[end] == '\n') ++line;
    at = end + 1;
  }
  return parser.finish();
}

}  // namespace drgpum::trace
