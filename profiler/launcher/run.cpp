// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/run.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/launcher/child_process.h"
#include "profiler/launcher/device_choice.h"
#include "profiler/launcher/locations.h"
#include "profiler/launcher/peak_kernel.h"
#include "profiler/launcher/program_image.h"
#include "profiler/launcher/status_file.h"
#include "profiler/launcher/timing_run.h"
#include "profiler/output_name.h"
#include "profiler/sanitizer_library.h"

namespace drgpum::profiler {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

const char* environment(const char* name) {
  return std::getenv(name);
}

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// `first` in front of what the variable holds already.
std::string prepended(const std::string& first, const char* variable) {
  const char* rest = environment(variable);
  return rest == nullptr || *rest == '\0' ? first : first + ":" + rest;
}

Status check_output(const std::string& path, bool replace) {
  struct stat info {};
  if (lstat(path.c_str(), &info) == 0) {
    if (!replace) {
      return Error{ErrorCode::kIo,
                   "'" + path + "' exists; give -f to replace it or -o another name"};
    }
    if (!S_ISREG(info.st_mode)) {
      return Error{ErrorCode::kIo, "'" + path + "' is not a regular file; give -o another name"};
    }
    if (unlink(path.c_str()) == 0) return Ok{};
    return Error{ErrorCode::kIo, "cannot replace '" + path + "': " + std::strerror(errno)};
  }
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return Error{ErrorCode::kIo, "cannot write into '" + folder + "': " + std::strerror(errno) +
                                     "; give -o another name"};
  }
  return Ok{};
}

// The template for processes that may be elsewhere when they begin to record.
std::string anchored(const std::string& name_template) {
  char folder[PATH_MAX];
  if (name_template.starts_with('/') || getcwd(folder, sizeof folder) == nullptr) {
    return name_template;
  }
  std::string anchor;
  for (const char* at = folder; *at != '\0'; ++at)
    anchor += *at == '%' ? "%%" : std::string(1, *at);
  return anchor + "/" + name_template;
}

// In the child, before it becomes the program: only now is the pid known that names may hold.
Status prepare_output(const RunRequest& request, const std::string& program) {
  ProcessIdentity process = this_process();
  process.application = file_name(program);
  const std::string name_template = request.output.empty() ? Options{}.output : request.output;
  auto name = expand_output_name(name_template, process, environment);
  if (!name) return std::move(name).error();
  setenv("DRGPUM_OUTPUT", anchored(name_template).c_str(), 1);
  if (request.application_only) {
    setenv("DRGPUM_APPLICATION_PID", std::to_string(process.pid).c_str(), 1);
  }
  return check_output(*name, request.force);
}

Status add_emulated_device(const Locations& locations, const ProgramImage& image,
                           const StatusFile& status, Variables* variables) {
  if (access((locations.emulator + "/libcuda.so.1").c_str(), R_OK) != 0) {
    return Error{ErrorCode::kNotFound, "the emulated device is not installed (no '" +
                                           locations.emulator + "/libcuda.so.1')"};
  }
  variables->emplace_back("LD_LIBRARY_PATH", prepended(locations.emulator, "LD_LIBRARY_PATH"));
  variables->emplace_back("DRGPUM_DEVICE_KIND", "emulated");
  variables->emplace_back("DRGPUM_SANITIZER_LIB", locations.emulator + "/libsanitizer-public.so");
  variables->emplace_back("DRGPUM_EMULATOR_STATUS", status.path());
  if (image.has_rpath) {  // it would find NVIDIA's runtime before ours
    variables->emplace_back(
        "LD_PRELOAD",
        prepended(locations.emulator + "/libcudart.so.13:" + locations.emulator + "/libcuda.so.1",
                  "LD_PRELOAD"));
  }
  return Ok{};
}

// Programs that tell of pools, tensors and ranges find the library by these. A Kokkos tool that the
// user has chosen stays.
void add_hooks(const Locations& locations, const ProgramImage& image, Variables* variables) {
  variables->emplace_back("NVTX_INJECTION64_PATH", locations.injected_library);
  if (environment("KOKKOS_TOOLS_LIBS") == nullptr) {
    variables->emplace_back("KOKKOS_TOOLS_LIBS", locations.injected_library);
  }
  const auto own = read_program_image(locations.injected_library);
  if (image.insists_on_order() || (own && own->insists_on_order())) return;
  for (auto& [name, value] : *variables) {
    if (name == "LD_PRELOAD") value = locations.injected_library + ":" + value;
    if (name == "LD_PRELOAD") return;
  }
  variables->emplace_back("LD_PRELOAD", prepended(locations.injected_library, "LD_PRELOAD"));
}

Status add_gpu(Variables* variables) {
  if (!has_gpu()) {
    return Error{ErrorCode::kNotFound, "no NVIDIA GPU answers here; use --device emulated"};
  }
  const auto libraries = sanitizer_library_candidates(environment);
  if (libraries.empty()) {
    return Error{ErrorCode::kNotFound,
                 "libsanitizer-public.so not found; install the CUDA toolkit's compute-sanitizer, "
                 "set CUDA_HOME or DRGPUM_SANITIZER_LIB, or use --device emulated"};
  }
  variables->emplace_back("DRGPUM_DEVICE_KIND", "gpu");
  variables->emplace_back("DRGPUM_SANITIZER_LIB", libraries.front());
  return Ok{};
}

Result<Variables> variables_for(const RunRequest& request, const Locations& locations,
                                const std::string& program, const StatusFile& status) {
  Variables variables = request.variables;
  if (access(locations.injected_library.c_str(), R_OK) != 0) {
    return Error{ErrorCode::kNotFound, "'" + locations.injected_library + "' is missing"};
  }
  ASSIGN_OR_RETURN(const ProgramImage image, read_program_image(program));
  const DeviceChoice asked = request.device == DeviceChoice::kAuto && request.asks_for_emulation
                                 ? DeviceChoice::kEmulated
                                 : request.device;
  if (resolve(asked) == DeviceChoice::kEmulated) {
    RETURN_IF_ERROR(check_for_emulation(program, image));
    RETURN_IF_ERROR(add_emulated_device(locations, image, status, &variables));
  } else {
    RETURN_IF_ERROR(add_gpu(&variables));
  }
  variables.emplace_back("CUDA_INJECTION64_PATH", locations.injected_library);
  if (request.hooks) add_hooks(locations, image, &variables);
  variables.emplace_back("DRGPUM_STATUS_FILE", status.path());
  return variables;
}

// `drgpum report --brief` with its output on stderr or in a file: stdout belongs to the program.
void report(const Locations& locations, const std::vector<std::string>& traces,
            const std::string& log_file) {
  std::vector<std::string> words = {locations.drgpum, "report", "--brief"};
  words.insert(words.end(), traces.begin(), traces.end());
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (log_file.empty()) {
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_file.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
  }
  pid_t child = 0;
  const bool started = posix_spawn(&child, locations.drgpum.c_str(), &actions, nullptr,
                                   arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (started) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
      continue;
    return;
  }
  for (const std::string& trace : traces)
    std::fprintf(stderr, "drgpum: trace %s\n", trace.c_str());
}

std::vector<std::string> traces_of(const RunStatus& status) {
  std::vector<std::string> traces;
  for (const std::string& trace : status.traces) {
    if (access(trace.c_str(), R_OK) == 0) traces.push_back(trace);
  }
  return traces;
}

// The second run; returns the status that takes the place of 0.
int add_times(const TimingPlan& plan, const RunRequest& request, const RunStatus& status,
              const ChildEnd& end) {
  const std::vector<std::string> traces = traces_of(status);
  if (traces.empty()) return 0;
  if (end.by_signal) return fail("no device times: the program did not end by itself", kToolFailed);
  if (isatty(STDERR_FILENO) == 1 && !request.quiet) {
    std::fprintf(stderr, "drgpum: running once more for device times\n");
  }
  const Status timed = time_traces(plan, request, traces);
  return timed ? 0 : fail("no device times: " + timed.error().message, kToolFailed);
}

// The kernel to observe, found by a run of its own; the whitelist lives as long as what comes back.
Result<PeakWhitelist> observe_peak(const RunRequest& request, const std::string& program,
                                   Variables* variables) {
  if (isatty(STDERR_FILENO) == 1 && !request.quiet) {
    std::fprintf(stderr, "drgpum: running once to find the kernel that works on the most bytes\n");
  }
  ASSIGN_OR_RETURN(PeakWhitelist peak, find_peak(program, request, *variables));
  const bool has_mode = std::any_of(variables->begin(), variables->end(), [](const auto& variable) {
    return variable.first == "DRGPUM_MODE";
  });
  if (!has_mode) variables->emplace_back("DRGPUM_MODE", "intra");
  variables->emplace_back("DRGPUM_WHITELIST", peak.file);
  if (!request.quiet) {
    std::fprintf(stderr, "drgpum: observing %s, whose objects sum to %llu bytes\n",
                 peak.kernel.name.c_str(), static_cast<unsigned long long>(peak.kernel.bytes));
  }
  return peak;
}

// What is left to say when the program has ended; returns the status that takes the place of 0.
int conclude(const RunRequest& request, const Locations& locations, const RunStatus& status) {
  const std::vector<std::string> traces = traces_of(status);
  if (!traces.empty() && !request.quiet) report(locations, traces, request.log_file);
  for (const std::string& failure : status.failures)
    fail(failure, 0);
  if (status.nothing_recorded || !status.device_problems.empty()) return kToolFailed;
  if (traces.empty() && !request.quiet) {
    fail("'" + request.program[0] + "' did not use CUDA; there is no trace", 0);
  }
  return 0;
}

}  // namespace

int fail(const std::string& message, int status) {
  std::fprintf(stderr, "drgpum: %s\n", message.c_str());
  return status;
}

int run(const RunRequest& request) {
  const std::string program = find_program(request.program[0], environment);
  if (program.empty()) return fail("'" + request.program[0] + "' not found", kNotFound);
  if (access(program.c_str(), X_OK) != 0) {
    return fail("'" + program + "' is not executable", kNotExecutable);
  }
  const Locations locations = locations_from(own_path());
  auto status_file = StatusFile::create();
  if (!status_file) return fail(status_file.error().message, kToolFailed);
  auto variables = variables_for(request, locations, program, *status_file);
  if (!variables) return fail(variables.error().message, kToolFailed);
  std::optional<PeakWhitelist> peak;
  if (request.whitelist_peak) {
    auto found = observe_peak(request, program, &*variables);
    if (!found) return fail(found.error().message, kToolFailed);
    peak.emplace(*std::move(found));
  }
  Result<TimingPlan> timing = TimingPlan{};
  if (request.timing) timing = plan_timing(locations, program, *variables);
  if (!timing) return fail(timing.error().message, kToolFailed);
  ChildPlan plan;
  plan.path = program;
  plan.arguments = request.program;
  plan.variables = *std::move(variables);
  plan.before = [&] { return prepare_output(request, program); };
  const ChildEnd end = run_child(plan);
  if (!end.started) return fail(end.refusal, end.refusal_status);
  const RunStatus told = status_file->read();
  const int without_times = request.timing ? add_times(*timing, request, told, end) : 0;
  const int status = std::max(without_times, conclude(request, locations, told));
  unlink(status_file->path().c_str());
  peak.reset();  // nothing after the next line is run
  end_like(end, status);
}

}  // namespace drgpum::profiler
