// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/peak_kernel.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <unordered_map>

#include <unistd.h>

#include "profiler/launcher/child_process.h"
#include "profiler/launcher/status_file.h"
#include "proto/trace/trace_reader.h"

namespace drgpum::profiler {
namespace {

// Takes records in file order.
class ObjectBytes {
 public:
  void take(const trace::Record& record) {
    if (const auto* object = std::get_if<trace::ObjectRecord>(&record)) {
      const bool counts = object->kind != trace::ObjectKind::kHostPinned;
      sizes_[object->id.value] = counts ? object->size : 0;
    } else if (const auto* kernel = std::get_if<trace::KernelRecord>(&record)) {
      names_[kernel->id.value] = kernel->name;
    } else if (const auto* api = std::get_if<trace::GpuApi>(&record)) {
      const auto* launch = std::get_if<trace::LaunchApi>(&api->payload);
      if (launch != nullptr) kernels_[api->id.value] = launch->kernel.value;
    } else if (const auto* access = std::get_if<trace::AccessRecord>(&record)) {
      const auto size = sizes_.find(access->object.value);
      if (size != sizes_.end()) touched_[access->api.value] += size->second;
    }
  }
  [[nodiscard]] PeakKernel peak() const {
    PeakKernel peak;
    for (const auto& [api, bytes] : touched_) {
      const auto kernel = kernels_.find(api);
      if (bytes <= peak.bytes || kernel == kernels_.end()) continue;
      const auto name = names_.find(kernel->second);
      if (name != names_.end()) peak = {name->second, bytes};
    }
    return peak;
  }

 private:
  std::unordered_map<std::uint32_t, std::uint64_t> sizes_;
  std::unordered_map<std::uint32_t, std::string> names_;
  std::unordered_map<std::uint64_t, std::uint32_t> kernels_;  // by launch
  std::map<std::uint64_t, std::uint64_t> touched_;            // bytes by launch
};

}  // namespace

Result<PeakKernel> peak_kernel_of(const std::string& trace) {
  ASSIGN_OR_RETURN(trace::TraceReader reader, trace::TraceReader::open(trace));
  ObjectBytes bytes;
  trace::Record record;
  while (reader.next(record))
    bytes.take(record);
  return bytes.peak();
}

Result<PeakWhitelist> find_peak(const std::string& program, const RunRequest& request,
                                std::vector<std::pair<std::string, std::string>> variables) {
  ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::create());
  ASSIGN_OR_RETURN(const StatusFile status_file, StatusFile::create());
  const off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
  ChildPlan child;
  child.path = program;
  child.arguments = request.program;
  child.variables = std::move(variables);
  child.variables.emplace_back("DRGPUM_MODE", "object");  // the last one of a name counts
  child.variables.emplace_back("DRGPUM_OUTPUT", folder.path() + "/%p.drgp");
  child.variables.emplace_back("DRGPUM_STATUS_FILE", status_file.path());
  child.before = [input] { return silence(input); };
  const ChildEnd end = run_child(child);
  if (input >= 0) lseek(STDIN_FILENO, input, SEEK_SET);
  if (!end.started) return Error{ErrorCode::kDevice, end.refusal};
  PeakKernel peak;
  for (const std::string& trace : status_file.read().traces) {
    auto found = peak_kernel_of(trace);
    if (found && found->bytes > peak.bytes) peak = *std::move(found);
  }
  if (peak.name.empty()) {
    return Error{ErrorCode::kNotFound,
                 "--whitelist-peak: no kernel accessed an object in the first run"};
  }
  std::string file = folder.path() + "/whitelist";
  if (!(std::ofstream(file) << peak.name << '\n')) {
    return Error{ErrorCode::kIo, "cannot write '" + file + "'"};
  }
  return PeakWhitelist{std::move(folder), std::move(file), std::move(peak)};
}

}  // namespace drgpum::profiler
