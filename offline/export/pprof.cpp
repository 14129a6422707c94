// SPDX-License-Identifier: Apache-2.0
// A pprof Profile: one sample for each place that allocates.

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include <zlib.h>

#include "offline/export/allocation_sites.h"
#include "offline/export/export_words.h"
#include "offline/report/units.h"
#include "proto/wire.h"

namespace drgpum {
namespace {

// Profile
constexpr std::uint32_t kSampleType = 1;
constexpr std::uint32_t kSample = 2;
constexpr std::uint32_t kMapping = 3;
constexpr std::uint32_t kLocation = 4;
constexpr std::uint32_t kFunction = 5;
constexpr std::uint32_t kStringTable = 6;
constexpr std::uint32_t kTimeNanos = 9;
constexpr std::uint32_t kComment = 13;
constexpr std::uint32_t kDefaultSampleType = 14;
// The other messages' fields are named where they are written.

class ProfileWriter {
 public:
  explicit ProfileWriter(const ExportInput& input) : input_(input) { text(""); }

  std::string run() {
    write_types();
    for (const AllocationSite& site : allocation_sites(input_).sites)
      write_sample(site);
    write_mapping();
    const trace::ProcessRecord& process = input_.report.evidence.process;
    out_.varint_field(kTimeNanos, clamped(process.start_unix_ns));
    out_.varint_field(kComment, text("GPU memory, by drgpum " + input_.tool_version));
    out_.varint_field(kComment, text("inuse: at the highest peak; wasted: what the worst finding "
                                     "of each object wastes"));
    if (!input_.report.complete)
      out_.varint_field(kComment, text("the trace is not complete: " +
                                       printable(input_.report.incomplete_because)));
    for (const std::string* one : texts_)
      out_.bytes_field(kStringTable, *one);
    const auto bytes = out_.bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  static std::uint64_t clamped(std::uint64_t value) {
    return std::min<std::uint64_t>(value, INT64_MAX);  // the fields are signed
  }

  std::uint64_t text(const std::string& value) {
    const auto [at, fresh] = numbers_.try_emplace(value, numbers_.size());
    if (fresh) texts_.push_back(&at->first);
    return at->second;
  }

  void write_types() {
    constexpr std::pair<const char*, const char*> kTypes[] = {{"alloc_objects", "count"},
                                                              {"alloc_space", "bytes"},
                                                              {"inuse_objects", "count"},
                                                              {"inuse_space", "bytes"},
                                                              {"wasted_space", "bytes"}};
    for (const auto& [type, unit] : kTypes) {
      const std::size_t message = out_.begin_message(kSampleType);
      out_.varint_field(1, text(type));
      out_.varint_field(2, text(unit));
      out_.end_message(message);
    }
    out_.varint_field(kDefaultSampleType, text("inuse_space"));
  }

  // Locations come before the sample in the buffer, as messages of their own.
  void write_sample(const AllocationSite& site) {
    std::vector<std::uint64_t> locations;
    for (const SourceFrame& frame : frames_of(input_.report, site.api))
      locations.push_back(location_of(frame));
    if (locations.empty()) locations.push_back(location_of({"(no call path)", "", 0}));
    const std::size_t message = out_.begin_message(kSample);
    write_packed(1, locations);
    write_packed(2, {clamped(site.objects), clamped(site.bytes), clamped(site.objects_at_peak),
                     clamped(site.bytes_at_peak), clamped(site.wasted_bytes)});
    out_.end_message(message);
  }

  void write_packed(std::uint32_t field, const std::vector<std::uint64_t>& values) {
    const std::size_t list = out_.begin_message(field);
    for (const std::uint64_t value : values)
      out_.varint(value);
    out_.end_message(list);
  }

  std::uint64_t location_of(const SourceFrame& frame) {
    const auto key = std::tuple(function_of(frame), frame.line);
    const auto [at, fresh] = locations_.try_emplace(key, locations_.size() + 1);
    if (!fresh) return at->second;
    const std::size_t location = out_.begin_message(kLocation);
    out_.varint_field(1, at->second);
    const std::size_t line = out_.begin_message(4);
    out_.varint_field(1, std::get<0>(key));
    out_.varint_field(2, frame.line);
    out_.end_message(line);
    out_.end_message(location);
    return at->second;
  }

  std::uint64_t function_of(const SourceFrame& frame) {
    const std::string name = frame.function.empty() ? "?" : printable(frame.function);
    const auto key = std::pair(text(name), text(printable(frame.file)));
    const auto [at, fresh] = functions_.try_emplace(key, functions_.size() + 1);
    if (!fresh) return at->second;
    const std::size_t function = out_.begin_message(kFunction);
    out_.varint_field(1, at->second);
    out_.varint_field(2, key.first);
    out_.varint_field(3, key.first);
    out_.varint_field(4, key.second);
    out_.end_message(function);
    return at->second;
  }

  // The program. Reports do not keep which module a frame lies in, so no location names it; it says
  // that nothing is left to look up.
  void write_mapping() {
    const trace::ProcessRecord& process = input_.report.evidence.process;
    const std::size_t mapping = out_.begin_message(kMapping);
    out_.varint_field(1, 1);
    out_.varint_field(5, text(printable(process.executable)));
    for (const std::uint32_t resolved : {7u, 8u, 9u, 10u})  // functions, files, lines, inlining
      out_.varint_field(resolved, 1);
    out_.end_message(mapping);
  }

  const ExportInput& input_;
  wire::Encoder out_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::vector<const std::string*> texts_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> functions_;
  std::map<std::tuple<std::uint64_t, std::uint32_t>, std::uint64_t> locations_;
};

// The same bytes whenever it is written: no time, no name.
Status write_gzip(std::string bytes, std::ostream& out) {
  constexpr int kGzip = 16;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return Error{ErrorCode::kIo, "zlib cannot be set up to pack the profile"};
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string packed(1 << 16, '\0');
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    state = deflate(&stream, Z_FINISH);
    out.write(packed.data(), static_cast<std::streamsize>(packed.size() - stream.avail_out));
  }
  deflateEnd(&stream);
  if (state != Z_STREAM_END) return Error{ErrorCode::kIo, "zlib failed to pack the profile"};
  return Ok{};
}

}  // namespace

Status export_pprof(const ExportInput& input, std::ostream& out) {
  return write_gzip(ProfileWriter(input).run(), out);
}

}  // namespace drgpum
