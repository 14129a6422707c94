// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/timing_run.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <unistd.h>

#include "profiler/launcher/device_times.h"
#include "profiler/launcher/silent_run.h"
#include "profiler/launcher/status_file.h"
#include "profiler/timing/cupti_library.h"

namespace drgpum::profiler {
namespace {

const char* environment(const char* name) {
  return std::getenv(name);
}

bool is_emulated(const std::vector<std::pair<std::string, std::string>>& variables) {
  return std::find(variables.begin(), variables.end(),
                   std::pair<std::string, std::string>("DRGPUM_DEVICE_KIND", "emulated")) !=
         variables.end();
}

// In the child: what the program says it has said already.
Status prepare_child(const TimingPlan& plan, const RunRequest& request) {
  if (request.application_only) {
    setenv("DRGPUM_APPLICATION_PID", std::to_string(getpid()).c_str(), 1);
  }
  return silence(plan.input);
}

ChildPlan child_of(const TimingPlan& plan, const RunRequest& request, const TemporaryFolder& folder,
                   const StatusFile& status) {
  ChildPlan child;
  child.path = plan.program;
  child.arguments = request.program;
  child.variables = plan.variables;
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string, std::string>>{
           {"DRGPUM_PASS", "timing"},
           {"DRGPUM_CUPTI_LIB", plan.cupti},
           {"DRGPUM_OUTPUT", folder.path() + "/%p.drgp"},
           {"DRGPUM_STATUS_FILE", status.path()}}) {
    child.variables.emplace_back(name, value);  // the last one counts
  }
  child.before = [&] { return prepare_child(plan, request); };
  return child;
}

bool same_program(const TraceWorks& timing, const trace::ProcessRecord& process, bool arguments) {
  return timing.process.executable == process.executable && timing.process.rank == process.rank &&
         (!arguments || timing.process.argv == process.argv);
}

// The timing of the process that did what this one did: a program may start several.
const TraceWorks* take_timing(std::vector<std::optional<TraceWorks>>& timings,
                              const trace::ProcessRecord& process, TraceWorks* holder) {
  for (const bool arguments : {true, false}) {
    for (auto& timing : timings) {
      if (!timing || !same_program(*timing, process, arguments)) continue;
      *holder = *std::move(timing);
      timing.reset();
      return holder;
    }
  }
  return nullptr;
}

Result<trace::ProcessRecord> process_of(const std::string& path) {
  ASSIGN_OR_RETURN(trace::TraceReader reader, trace::TraceReader::open(path));
  trace::Record record;
  if (reader.next(record) && std::holds_alternative<trace::ProcessRecord>(record)) {
    return std::get<trace::ProcessRecord>(record);
  }
  return Error{ErrorCode::kCorrupt, path + " does not begin with its process"};
}

Status add_times(const std::vector<std::string>& traces, const RunStatus& status) {
  std::vector<std::optional<TraceWorks>> timings;
  for (const std::string& path : status.traces) {
    auto works = works_of_trace(path);
    if (works) timings.emplace_back(*std::move(works));
  }
  for (const std::string& path : traces) {
    ASSIGN_OR_RETURN(const trace::ProcessRecord process, process_of(path));
    TraceWorks timing;
    if (take_timing(timings, process, &timing) == nullptr) {
      return Error{ErrorCode::kNotFound, "the timing run did not start '" + process.executable +
                                             "' as often as the first one"};
    }
    RETURN_IF_ERROR(add_device_times(path, timing));
  }
  return Ok{};
}

}  // namespace

Result<TimingPlan> plan_timing(const Locations& locations, const std::string& program,
                               std::vector<std::pair<std::string, std::string>> variables) {
  TimingPlan plan;
  plan.program = program;
  if (is_emulated(variables)) {
    plan.cupti = locations.emulator + "/libcupti.so.13";
    if (access(plan.cupti.c_str(), R_OK) != 0) {
      return Error{ErrorCode::kNotFound, "--timing: '" + plan.cupti + "' is missing"};
    }
  } else {
    const auto candidates = cupti_library_candidates(environment);
    if (candidates.empty()) {
      return Error{ErrorCode::kNotFound,
                   "--timing: libcupti.so.13 not found; install the CUDA toolkit's CUPTI, or set "
                   "CUDA_HOME or DRGPUM_CUPTI_LIB"};
    }
    plan.cupti = candidates.front();
  }
  plan.variables = std::move(variables);
  plan.input = lseek(STDIN_FILENO, 0, SEEK_CUR);
  return plan;
}

Status time_traces(const TimingPlan& plan, const RunRequest& request,
                   const std::vector<std::string>& traces) {
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::create());
  ASSIGN_OR_RETURN(const StatusFile status_file, StatusFile::create());
  if (plan.input >= 0) lseek(STDIN_FILENO, plan.input, SEEK_SET);
  const ChildEnd end = run_child(child_of(plan, request, folder, status_file));
  if (!end.started) return Error{ErrorCode::kDevice, end.refusal};
  if (end.by_signal) {
    return Error{ErrorCode::kDevice, "the timing run died by signal " + std::to_string(end.code)};
  }
  const RunStatus status = status_file.read();
  if (!status.failures.empty()) return Error{ErrorCode::kDevice, status.failures.front()};
  return add_times(traces, status);
}

}  // namespace drgpum::profiler
