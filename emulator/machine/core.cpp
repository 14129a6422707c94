// SPDX-License-Identifier: Apache-2.0
// Start-up, observers, and the rule that they are called with the lock free.

#include "emulator/machine/core.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include "emulator/machine/of_thread.h"

namespace drgpum::emulator {
namespace {

thread_local int observer_depth = 0;

struct InObserver {
  InObserver() { ++observer_depth; }
  ~InObserver() { --observer_depth; }
};

thread_local bool forbidden = false;

class Forbidding {
 public:
  explicit Forbidding(bool forbids) : before_(forbidden) { forbidden |= forbids; }
  ~Forbidding() { forbidden = before_; }
  Forbidding(const Forbidding&) = delete;
  Forbidding& operator=(const Forbidding&) = delete;

 private:
  bool before_;
};

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

bool inside_observer() {
  return observer_depth != 0;
}

bool calls_are_forbidden() {
  return forbidden;
}

MachineCore& MachineCore::instance() {
  // Never destroyed: programs make calls from their own static destructors.
  static MachineCore* const core = new MachineCore;
  return *core;
}

CUresult MachineCore::initialise() {
  const std::lock_guard lock(start_lock_);
  if (!started_) {
    started_ = true;
    start_result_ = start();
    initialised_.store(start_result_ == CUDA_SUCCESS, std::memory_order_release);
  }
  return start_result_;
}

CUresult MachineCore::start() {
  auto read = read_settings([](const char* name) -> const char* { return std::getenv(name); });
  if (!read) {
    report_problem("settings", read.error().message);
    return CUDA_ERROR_INVALID_VALUE;
  }
  settings = *std::move(read);
  auto preset = find_preset(settings.preset);
  if (!preset) {
    report_problem("settings", "DRGPUM_EMULATOR_PRESET: " + preset.error().message);
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::uint64_t bytes = settings.device_memory.value_or(preset->memory_bytes);
  auto reserved = DeviceMemory::reserve(settings.devices, bytes);
  if (!reserved) {
    report_problem("settings", reserved.error().message);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  memory = *std::move(reserved);
  if (!settings.access_log.empty()) {
    access_log = AccessLog::open(settings.access_log);
    if (access_log == nullptr) {
      report_problem("settings", "DRGPUM_EMULATOR_ACCESS_LOG=" + settings.access_log +
                                     ": cannot be written; name a file in a folder that can");
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  for (int ordinal = 0; ordinal < settings.devices; ++ordinal) {
    Device& device = devices.emplace_back();
    device.ordinal = ordinal;
    device.preset = *preset;
    device.memory_bytes = bytes;
    device.default_pool = std::make_unique<Pool>();
    device.default_pool->device = ordinal;
    device.default_pool->is_default = true;
    device.current_pool = device.default_pool.get();
  }
  return CUDA_SUCCESS;
}

void MachineCore::report_problem(std::string_view kind, std::string_view text) {
  write_all(STDERR_FILENO, "drgpum: " + std::string(text) + "\n");
  // Read here: a problem with the settings comes before them.
  const char* path = std::getenv("DRGPUM_EMULATOR_STATUS");
  if (path == nullptr || *path == 0) return;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  std::string line = std::string(kind) + "\t" + std::string(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  write_all(file, line + "\n");
  ::close(file);
}

void MachineCore::log(std::string_view text) const {
  if (settings.log) write_all(STDERR_FILENO, "drgpum emulator: " + std::string(text) + "\n");
}

void MachineCore::tell_observers(const std::function<void(Observer&)>& tell) {
  std::shared_ptr<const Observers> observers;
  {
    const std::lock_guard lock(observers_lock_);
    observers = observers_;
  }
  const InObserver inside;
  for (Observer* observer : *observers) {
    const Forbidding forbidding(observer->forbids_calls());
    tell(*observer);
  }
}

void MachineCore::add_observer(Observer* observer) {
  const std::lock_guard lock(observers_lock_);
  auto next = std::make_shared<Observers>(*observers_);
  next->push_back(observer);
  observer_count_.store(next->size(), std::memory_order_relaxed);
  observers_ = std::move(next);
}

void MachineCore::remove_observer(Observer* observer) {
  const std::lock_guard lock(observers_lock_);
  auto next = std::make_shared<Observers>(*observers_);
  std::erase(*next, observer);
  observer_count_.store(next->size(), std::memory_order_relaxed);
  observers_ = std::move(next);
}

void MachineCore::report_api(const ApiCall& call) {
  if (observed() && !inside_observer())
    tell_observers([&](Observer& observer) { observer.on_api(call); });
}

void MachineCore::retire(Context* context) {
  retired_.push_back(contexts.take(context));
}

std::vector<Context*>& MachineCore::context_stack() const {
  return OfThread<std::vector<Context*>, MachineCore>::get();
}

Context* MachineCore::context_of_thread() const {
  return context_stack().empty() ? nullptr : context_stack().back();
}

Stream* MachineCore::resolve_stream(Context& context, const void* handle, bool per_thread_default) {
  if (handle == nullptr) handle = per_thread_default ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  if (handle == CU_STREAM_LEGACY) return &context.legacy;
  if (handle != CU_STREAM_PER_THREAD) return streams.get(handle);
  std::unique_ptr<Stream>& own = context.per_thread[std::this_thread::get_id()];
  if (!own) {
    own = std::make_unique<Stream>();
    own->context = &context;
    own->kind = StreamKind::kPerThread;
    own->id = next_id();
  }
  return own.get();
}

Section::~Section() {
  if (!later_.empty()) {
    held_.unlock();
    for (const auto& tell : later_)
      core_.tell_observers(tell);
  }
}

void Section::flush() {
  std::vector<std::function<void(Observer&)>> now;
  now.swap(later_);
  held_.unlock();
  for (const auto& tell : now)
    core_.tell_observers(tell);
  held_.lock();
}

void Section::await(std::uint64_t ticket) {
  if (ticket == 0 || core_.host_queue.done(ticket)) return;
  held_.unlock();
  core_.host_queue.wait(ticket);
  held_.lock();
}

}  // namespace drgpum::emulator
