// SPDX-License-Identifier: Apache-2.0
// A report as a database. SQLite needs a file to write to: a scratch one, which is then copied.

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <unistd.h>

#include "offline/export/export_format.h"
#include "offline/export/export_words.h"
#include "offline/export/sqlite_rows.h"
#include "offline/export/sqlite_schema.h"
#include "offline/report/report_words.h"
#include "offline/report/units.h"
#include "proto/trace/names.h"

namespace drgpum {
namespace {

using MaybeNumber = std::optional<std::uint64_t>;
using MaybeText = std::optional<std::string>;

MaybeNumber unless_none(std::uint32_t value) {
  return value == kNone ? std::nullopt : MaybeNumber(value);
}

class DatabaseWriter {
 public:
  DatabaseWriter(const ExportInput& input, SqliteFile& file)
      : input_(input), report_(input.report), e_(input.report.evidence), file_(file) {}

  void run() {
    file_.run(
        "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; BEGIN");
    file_.run(kSqliteTables);
    write_meta();
    write_devices();
    write_streams();
    write_call_paths();
    write_apis();
    write_objects();
    write_uses();
    write_findings();
    write_peaks();
    write_coverage();
    file_.run(kSqliteIndices);
    file_.run(("COMMIT; PRAGMA user_version=" + std::to_string(kSqliteSchemaVersion)).c_str());
  }

 private:
  std::uint64_t id_of(std::uint32_t object) const { return e_.objects[object].id; }
  std::uint16_t device_of(std::uint16_t context) const {
    return context < e_.context_device.size() ? e_.context_device[context] : std::uint16_t{0};
  }

  void write_meta() {
    SqliteRows rows(file_, "meta", 2);
    std::string command;
    for (const std::string& word : e_.process.argv)
      command += (command.empty() ? "" : " ") + word;
    rows.add("tool", "drgpum " + input_.tool_version);
    rows.add("trace", printable(e_.path));
    rows.add("executable", printable(e_.process.executable));
    rows.add("command", printable(command));
    rows.add("pid", e_.process.pid);
    rows.add("start_unix_ns", e_.process.start_unix_ns);
    rows.add("mode", printable(e_.process.mode));
    rows.add("complete", report_.complete);
    rows.add("incomplete_because", printable(report_.incomplete_because));
    rows.add("level", report_.level == MemoryLevel::kTensor ? "tensor" : "allocation");
    rows.add("peak_bytes", report_.peak_bytes());
    rows.add("peak_after_all_fixes_bytes", report_.savings.peak_after_all_fixes_bytes);
    rows.add("lower_bound_bytes", report_.lower_bound_bytes);
    rows.add("pinned_peak_bytes", report_.pinned_peak_bytes);
    rows.add("calls", e_.api_count());
  }

  void write_devices() {
    SqliteRows rows(file_, "devices", 6);
    for (const trace::DeviceRecord& device : e_.devices) {
      const DeviceSavings* savings =
          report_.savings.of(static_cast<std::uint16_t>(device.id.value));
      const DeviceSavings none;
      const DeviceSavings& known = savings == nullptr ? none : *savings;
      rows.add(device.id.value, trace::enum_name(device.kind), printable(device.name),
               device.memory_bytes, known.peak_bytes, known.peak_after_all_fixes_bytes);
    }
  }

  void write_streams() {
    SqliteRows rows(file_, "streams", 4);
    for (const Stream& stream : e_.streams)
      rows.add(stream.id, device_of(stream.context), trace::enum_name(stream.kind),
               printable(e_.names[stream.name]));
  }

  void write_call_paths() {
    SqliteRows frames(file_, "frames", 4);
    SqliteRows paths(file_, "call_paths", 4);
    std::map<std::tuple<std::string_view, std::string_view, std::uint32_t>, std::uint64_t> numbers;
    const std::map<std::uint32_t, const CallPath*> by_id = [&] {
      std::map<std::uint32_t, const CallPath*> sorted;
      for (const auto& [id, path] : report_.call_paths)
        sorted.emplace(id, &path);
      return sorted;
    }();
    for (const auto& [id, path] : by_id)
      for (std::size_t depth = 0; depth < path->frames.size(); ++depth) {
        const SourceFrame& frame = path->frames[depth];
        const auto [at, fresh] =
            numbers.try_emplace({frame.function, frame.file, frame.line}, numbers.size() + 1);
        if (fresh)
          frames.add(at->second, printable(frame.function), printable(frame.file), frame.line);
        paths.add(id, depth, at->second, depth == path->site);
      }
  }

  MaybeNumber path_of(std::uint32_t api) const {
    if (!report_.has_call(api) || !report_.call_paths.contains(e_.apis[api].call_path)) return {};
    return e_.apis[api].call_path;
  }

  void write_apis() {
    SqliteRows rows(file_, "apis", 15);
    auto mark = input_.calls.marks().begin();
    const auto marks_end = input_.calls.marks().end();
    for (std::uint32_t api = 0; api < e_.api_count(); ++api) {
      const Api& call = e_.apis[api];
      while (mark != marks_end && mark->api < api)
        ++mark;
      const bool is_mark = mark != marks_end && mark->api == api;
      if (!(call.flags & kApiPresent)) continue;
      const std::string kernel = report_.kernel_of(api);
      const DeviceSpan span = input_.calls.device_span(api);
      const TransferFact* transfer = input_.calls.transfer(api);
      const bool is_copy = transfer != nullptr && !transfer->is_set;
      rows.add(
          api, trace::enum_name(call.kind), printable(e_.names[call.name]),
          call.stream == kNone ? MaybeNumber() : MaybeNumber(e_.streams[call.stream].id),
          device_of(call.context), call.thread,
          kernel.empty() ? MaybeText() : MaybeText(printable(kernel)), path_of(api),
          input_.calls.has_host_times() ? MaybeNumber(input_.calls.host_ns(api)) : MaybeNumber(),
          span.is_known() ? MaybeNumber(span.begin_ns) : MaybeNumber(),
          span.is_known() ? MaybeNumber(span.end_ns) : MaybeNumber(),
          transfer == nullptr ? MaybeNumber() : MaybeNumber(transfer->bytes),
          is_copy ? MaybeText(trace::enum_name(transfer->direction)) : MaybeText(),
          is_mark ? MaybeText(printable(mark->name)) : MaybeText(), (call.flags & kApiFailed) != 0);
    }
  }

  void write_objects() {
    SqliteRows rows(file_, "objects", 15);
    std::unordered_map<std::uint32_t, std::uint32_t> details;
    for (const ObjectDetail& detail : e_.object_details)
      details.emplace(detail.object, detail.text);
    for (std::uint32_t o = 0; o < e_.objects.size(); ++o) {
      const Object& object = e_.objects[o];
      const auto uses = e_.uses_of(o);
      const auto detail = details.find(o);
      const std::string name =
          o < report_.names.size() ? printable(report_.names[o]) : std::string();
      rows.add(
          object.id, name, object.size, trace::enum_name(object.kind), object.device,
          object.parent == kNone ? MaybeNumber() : MaybeNumber(id_of(object.parent)),
          object.address, object.alloc, object.end, unless_none(object.free),
          uses.empty() ? MaybeNumber() : MaybeNumber(uses.front().api),
          uses.empty() ? MaybeNumber() : MaybeNumber(uses.back().api), path_of(object.alloc),
          detail == details.end() ? MaybeText() : MaybeText(printable(e_.names[detail->second])),
          holds_memory(object, report_.level));
    }
  }

  void write_uses() {
    SqliteRows rows(file_, "uses", 5);
    for (std::uint32_t o = 0; o < e_.objects.size(); ++o)
      for (const Use& use : e_.uses_of(o))
        rows.add(id_of(o), use.api, use.reads(), use.writes(), use.by_kernel());
  }

  void write_findings() {
    SqliteRows rows(file_, "findings", 15);
    for (std::size_t f = 0; f < report_.findings.size(); ++f) {
      const Finding& finding = report_.findings[f];
      rows.add(f + 1, name_of(finding.pattern), id_of(finding.object),
               finding.host == kNone ? MaybeNumber() : MaybeNumber(id_of(finding.host)),
               finding.certainty == Certainty::kProven ? "proven" : "possible", finding.distance,
               finding.wasted_bytes, finding.peak_saving_bytes, finding.joint_saving_bytes,
               finding.idle_at_peak_bytes,
               finding.superseded_by == kNone
                   ? MaybeNumber()
                   : MaybeNumber(std::uint64_t{finding.superseded_by} + 1),
               unless_none(finding.from), unless_none(finding.to),
               printable(advice_for(report_, finding)), printable(reason_for(report_, finding)));
    }
  }

  void write_peaks() {
    SqliteRows rows(file_, "peaks", 5);
    SqliteRows objects(file_, "peak_objects", 3);
    for (std::size_t p = 0; p < report_.peaks.size(); ++p) {
      const Peak& peak = report_.peaks[p];
      rows.add(p + 1, peak.device, peak.bytes, peak.api, peak.until);
      for (const LiveObject& live : peak.objects)
        objects.add(p + 1, id_of(live.object), name_of(live.state));
    }
    SqliteRows live(file_, "live", 3);
    for (const DeviceSavings& device : report_.savings.devices)
      for (const LivePoint& point : live_curve(e_, device.device, report_.level))
        if (report_.has_call(point.api)) live.add(device.device, point.api, point.bytes);
  }

  void write_coverage() {
    SqliteRows rows(file_, "coverage", 3);
    for (const Coverage& gap : coverage_of(e_))
      rows.add(trace::enum_name(gap.kind), printable(gap.text), gap.count);
  }

  const ExportInput& input_;
  const Report& report_;
  const Evidence& e_;
  SqliteFile& file_;
};

// Gone when it goes out of scope.
class ScratchFile {
 public:
  static Result<ScratchFile> make() {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    std::string path = (error ? std::filesystem::path("/tmp") : folder) / "drgpum-export-XXXXXX";
    const int descriptor = ::mkstemp(path.data());
    if (descriptor < 0)
      return Error{ErrorCode::kIo, path + ": cannot be made: " + std::strerror(errno) +
                                       "; TMPDIR names the folder for scratch files"};
    ::close(descriptor);
    return ScratchFile(std::move(path));
  }
  ScratchFile(ScratchFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFile& operator=(ScratchFile&&) = delete;
  ~ScratchFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace

Status export_sqlite(const ExportInput& input, std::ostream& out) {
  ASSIGN_OR_RETURN(const ScratchFile scratch, ScratchFile::make());
  SqliteFile file(scratch.path());
  DatabaseWriter(input, file).run();
  if (Status status = file.close(); !status)
    return Error{ErrorCode::kIo, scratch.path() + ": " + status.error().message};
  std::ifstream written(scratch.path(), std::ios::binary);
  out << written.rdbuf();
  return Ok{};
}

}  // namespace drgpum
