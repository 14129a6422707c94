// SPDX-License-Identifier: Apache-2.0
#include "profiler/tool.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/output_name.h"
#include "profiler/sanitizer_library.h"
#include "profiler/session.h"
#include "profiler/timing/cupti_library.h"
#include "profiler/timing/timing_session.h"
#include "profiler/told.h"
#include "proto/sanitizer/abi_probe.h"

#ifndef DRGPUM_VERSION
#define DRGPUM_VERSION "unknown"
#endif

namespace drgpum::profiler {
namespace {

using sanitizer::Code;
using sanitizer::Domain;

// Constant-initialised, and never destroyed: callbacks may come before this library's constructors
// and after its destructors.
std::atomic<bool> started{false};
std::atomic<Session*> session{nullptr};
std::atomic<TimingSession*> timing{nullptr};  // the one or the other, never both
std::atomic<int> exit_code{0};
std::atomic<bool> exit_code_known{false};
Options* options = nullptr;

// One byte that is 1 in the process that records and 0 in a copy of it, whichever way that was made:
// clone and _Fork run no handlers. Null where the kernel cannot do that.
const volatile unsigned char* own_process = nullptr;

void mark_own_process() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* mark = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mark == MAP_FAILED) return;
  if (madvise(mark, page, MADV_WIPEONFORK) != 0) {
    munmap(mark, page);
    return;
  }
  *static_cast<unsigned char*>(mark) = 1;
  own_process = static_cast<const unsigned char*>(mark);
}

bool is_own_process() {
  return own_process == nullptr || *own_process != 0;
}

const char* environment(const char* name) {
  return std::getenv(name);
}

std::uint64_t clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// One line "<kind> <pid> <text>" for the launcher, in one write; without one, a failure goes to
// stderr.
void report(const char* kind, const std::string& text) {
  const bool is_failure = std::string_view(kind) == "failure";
  if (options == nullptr || options->report_to.empty()) {
    if (is_failure) std::fprintf(stderr, "drgpum: %s\n", text.c_str());
    return;
  }
  const std::string line = std::string(kind) + " " + std::to_string(getpid()) + " " + text + "\n";
  const int file = open(options->report_to.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  static_cast<void>(!write(file, line.data(), line.size()));
  close(file);
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  std::string argument;
  while (std::getline(file, argument, '\0'))
    arguments.push_back(argument);
  return arguments;
}

std::string current_folder() {
  char path[PATH_MAX];
  return getcwd(path, sizeof path) == nullptr ? "" : path;
}

std::string executable() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length <= 0 ? "" : std::string(path, static_cast<std::size_t>(length));
}

trace::ProcessRecord describe_process() {
  const ProcessIdentity process = this_process();
  trace::ProcessRecord record;
  record.tool_version = DRGPUM_VERSION;
  record.pid = process.pid;
  record.parent_pid = static_cast<std::uint64_t>(getppid());
  record.host_name = process.host;
  record.executable = executable();
  record.argv = command_line();
  record.working_directory = current_folder();
  record.start_unix_ns = clock_ns(CLOCK_REALTIME);
  record.mode = options->timing                  ? "timing"
                : options->mode == Mode::kIntra ? "intra"
                                                : "object";
  record.options = options_in_force(environment);
  record.rank = rank_of(environment);
  return record;
}

// Relative names are taken from where the process was when CUDA started; a child that goes
// elsewhere does not lose them.
std::string absolute(const std::string& path) {
  return path.starts_with('/') ? path : current_folder() + "/" + path;
}

struct Library {
  sanitizer::SanitizerApi api{};
  sanitizer::Subscriber subscriber = nullptr;
  sanitizer::AbiReport abi;
};

// Null before the start and in a copy of the process.
Session* live_session() {
  return is_own_process() ? session.load(std::memory_order_acquire) : nullptr;
}

void on_callback(void*, Domain domain, std::uint32_t id, const void* data) {
  Session* live = live_session();
  if (live != nullptr) live->on_callback(domain, id, data);
}

void on_told(Told told) {
  Session* live = live_session();
  if (live != nullptr) live->on_told(std::move(told));
}

Result<void*> open_library() {
  const auto candidates = sanitizer_library_candidates(environment);
  std::string why =
      "libsanitizer-public.so not found; install the CUDA toolkit's compute-sanitizer "
      "or set DRGPUM_SANITIZER_LIB";
  for (const std::string& file : candidates) {
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    why = dlerror();
  }
  return Error{ErrorCode::kNotFound, why};
}

Result<Library> attach() {
  ASSIGN_OR_RETURN(void* const handle, open_library());
  Library library;
  ASSIGN_OR_RETURN(library.api, sanitizer::resolve_api(handle));
  const Code code = library.api.subscribe(&library.subscriber, on_callback, nullptr);
  if (code == Code::kMaxLimitReached) {
    return Error{ErrorCode::kDevice,
                 "another tool holds the Sanitizer library's only subscription; run without it"};
  }
  if (code != Code::kSuccess) {
    return Error{ErrorCode::kDevice, "sanitizerSubscribe failed with code " +
                                         std::to_string(static_cast<unsigned>(code))};
  }
  auto abi = sanitizer::probe_abi(library.api, library.subscriber);
  if (!abi) {
    library.api.unsubscribe(library.subscriber);
    return std::move(abi).error();
  }
  library.abi = *std::move(abi);
  return library;
}

std::string describe_abi(const sanitizer::AbiReport& abi) {
  const char* generation = abi.generation == sanitizer::Generation::kCuda11_8   ? "11.8"
                           : abi.generation == sanitizer::Generation::kCuda12_4 ? "12.4 to 13.0"
                                                                                : "after 13.0";
  return std::string(generation) + ": RESOURCE " + std::to_string(abi.counts.resource) +
         ", GRAPHS " + std::to_string(abi.counts.graphs);
}

Status enable(const Library& library) {
  constexpr Domain kNeeded[] = {Domain::kDriverApi, Domain::kRuntimeApi, Domain::kResource,
                                Domain::kLaunch,    Domain::kMemcpy,     Domain::kMemset};
  constexpr Domain kUseful[] = {Domain::kSynchronize, Domain::kEvents, Domain::kGraphs,
                                Domain::kExternalMemory};
  for (const Domain domain : kNeeded) {
    if (library.api.enable_domain(1, library.subscriber, domain) == Code::kSuccess) continue;
    return Error{ErrorCode::kDevice, "the Sanitizer library refuses callback domain " +
                                         std::to_string(static_cast<unsigned>(domain))};
  }
  for (const Domain domain : kUseful)
    library.api.enable_domain(1, library.subscriber, domain);
  return Ok{};
}

// "a.drgp" -> "a.<pid>.drgp".
std::string with_pid(const std::string& path) {
  const std::string pid = "." + std::to_string(getpid());
  const std::string ending = ".drgp";
  return path.ends_with(ending) ? path.substr(0, path.size() - ending.size()) + pid + ending
                                : path + pid;
}

// Under the launcher, which made sure that the name was free, a file of that name belongs to
// another process of the same run.
Result<std::unique_ptr<trace::TraceWriter>> create_trace(std::string* path) {
  trace::TraceWriter::Options file;
  file.max_bytes = options->max_bytes;
  const bool under_launcher = !options->report_to.empty();
  file.replace = options->replace_output && !under_launcher;
  const trace::ProcessRecord process = describe_process();
  auto writer = trace::TraceWriter::create(*path, process, file);
  if (writer || !under_launcher || access(path->c_str(), F_OK) != 0) return writer;
  *path = with_pid(*path);
  return trace::TraceWriter::create(*path, process, file);
}

Result<std::string> trace_path() {
  auto name = expand_output_name(options->output, this_process(), environment);
  if (!name) return std::move(name).error();
  return absolute(*name);
}

Status start_timing() {
  ASSIGN_OR_RETURN(const CuptiApi api, open_cupti(cupti_library_candidates(environment)));
  ASSIGN_OR_RETURN(std::string path, trace_path());
  ASSIGN_OR_RETURN(std::unique_ptr<trace::TraceWriter> writer, create_trace(&path));
  auto made = std::make_unique<TimingSession>(api, std::move(writer));
  RETURN_IF_ERROR(made->start());
  report("trace", path);
  timing.store(made.release(), std::memory_order_release);
  return Ok{};
}

Status start() {
  ASSIGN_OR_RETURN(Options read, options_from(environment));
  options = new Options(std::move(read));
  if (options->application_pid != 0 &&
      options->application_pid != static_cast<std::uint64_t>(getpid())) {
    return Ok{};
  }
  mark_own_process();
  if (options->timing) return start_timing();
  Session::Setup setup;
  setup.options = *options;
  ASSIGN_OR_RETURN(setup.filter, KernelFilter::make(*options));
  ASSIGN_OR_RETURN(setup.trace_path, trace_path());
  setup.start_ns = clock_ns(CLOCK_MONOTONIC);
  setup.python = find_python();
  ASSIGN_OR_RETURN(const Library library, attach());
  auto writer = create_trace(&setup.trace_path);
  if (!writer) {
    library.api.unsubscribe(library.subscriber);
    return std::move(writer).error();
  }
  setup.writer = *std::move(writer);
  setup.api = library.api;
  setup.generation = library.abi.generation;
  setup.abi = describe_abi(library.abi);
  report("trace", setup.trace_path);
  session.store(new Session(std::move(setup)), std::memory_order_release);
  listen(on_told);
  return enable(library);
}

void on_fork_child() {
  started.store(true);
  stop_listening();
  // Left as they are: their memory is the parent's as well. Leak checkers find them here.
  static std::atomic<Session*> left_session;
  static std::atomic<TimingSession*> left_timing;
  left_session = session.exchange(nullptr);
  left_timing = timing.exchange(nullptr);
  if (Session* live = left_session.load()) live->abandon();
  if (TimingSession* live = left_timing.load()) live->abandon();
}

// Runs before the handlers that the program registered earlier: CUDA still works.
void on_process_exit(int code, void*) {
  exit_code.store(code);
  exit_code_known.store(true);
  if (!is_own_process()) return;
  if (Session* live = live_session()) live->drain();
  if (TimingSession* live = timing.load(std::memory_order_acquire)) live->finish(code);
}

}  // namespace

void start_tool() noexcept {
  if (started.exchange(true)) return;
  try {
    if (auto status = start(); !status) {
      report("failure", "not recording: " + status.error().message);
      return;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "drgpum: not recording: %s\n", error.what());
    return;
  }
  if (session.load() == nullptr && timing.load() == nullptr) return;
  pthread_atfork(nullptr, nullptr, on_fork_child);
  on_exit(on_process_exit, nullptr);
}

void end_tool() noexcept {
  Session* live = live_session();
  if (live == nullptr) return;
  live->finish(exit_code_known.load(), exit_code.load());
  try {
    if (const std::string why = live->failure(); !why.empty()) {
      report("failure", "recording stopped: " + why);
    }
    const MapTraffic& traffic = live->map_traffic();
    if (traffic.map_bytes != 0 && !options->report_to.empty()) {
      report("map-bytes", std::to_string(traffic.map_bytes.load()) + " " +
                              std::to_string(traffic.crossed.load()));
    }
  } catch (...) {
    exit_code_known.store(false);  // out of memory: nothing can be told
  }
}

}  // namespace drgpum::profiler
