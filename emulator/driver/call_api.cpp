// SPDX-License-Identifier: Apache-2.0
// The state of calls, and what observers hear of them.

#include "emulator/driver/call_api.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include <pthread.h>

#include "emulator/machine/core.h"

namespace drgpum::emulator::driver {
namespace {

thread_local bool per_thread_variant = false;

// CUDA does not work in a child that was forked from a process that uses it.
std::atomic<bool> in_forked_child{false};

void mark_child() {
  if (MachineCore::instance().is_initialised()) in_forked_child.store(true);
}

const bool watches_forks = pthread_atfork(nullptr, nullptr, mark_child) == 0;

// The mangled name of the kernel that a launch names.
std::string symbol_of(CUfunction launched) {
  MachineCore& core = MachineCore::instance();
  const std::lock_guard lock(core.lock());
  if (const auto it = core.functions.find(launched); it != core.functions.end())
    return it->second->name;
  const auto it = core.kernels.find(launched);
  return it != core.kernels.end() ? it->second->name : std::string();
}

// Of calls that look something up or wait, tools make some in callbacks without harm.
bool gives_work(std::string_view function) {
  constexpr std::string_view kBeginnings[] = {
      "cuLaunch",      "cuModuleLoad", "cuLibraryLoad", "cuStreamCreate", "cuStreamDestroy",
      "cuMemAlloc",    "cuMemFree",    "cuMemcpy",      "cuMemset",       "cuEventRecord",
      "cuGraphLaunch", "cuCtxCreate",  "cuCtxDestroy",
  };
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                     [&](std::string_view begins) { return function.starts_with(begins); });
}

void tell(Site site, const ApiFunction& function, const void* parameters, CUfunction launched,
          CUresult* result) {
  MachineCore& core = MachineCore::instance();
  const std::string symbol = launched != nullptr ? symbol_of(launched) : std::string();
  ApiCall call;
  call.site = site;
  call.domain = ApiDomain::kDriver;
  call.id = function.id;
  call.function = function.name;
  call.parameters = parameters;
  call.return_value = result;
  call.symbol = symbol.empty() ? nullptr : symbol.c_str();
  call.context = core.context_of_thread();
  core.tell_observers([&](Observer& observer) { observer.on_api(call); });
}

}  // namespace

bool per_thread_default() {
  return per_thread_variant;
}

bool set_per_thread_default(bool value) {
  const bool before = per_thread_variant;
  per_thread_variant = value;
  return before;
}

bool is_observed() {
  return MachineCore::instance().observed() && !inside_observer();
}

CUresult begin_call(const ApiFunction& function) {
  if (in_forked_child.load(std::memory_order_relaxed)) return CUDA_ERROR_NOT_INITIALIZED;
  MachineCore& core = MachineCore::instance();
  if (!core.is_initialised()) return function.early ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
  if (calls_are_forbidden() && gives_work(function.name)) {
    core.log(std::string(function.name) + " was called in a callback of the Sanitizer library");
    return CUDA_ERROR_NOT_PERMITTED;
  }
  return CUDA_SUCCESS;
}

void tell_enter(const ApiFunction& function, const void* parameters, CUfunction launched) {
  tell(Site::kEnter, function, parameters, launched, nullptr);
}

void tell_exit(const ApiFunction& function, const void* parameters, CUfunction launched,
               CUresult* result) {
  tell(Site::kExit, function, parameters, launched, result);
}

CUresult not_served(const char* name) {
  static std::mutex mutex;
  static std::set<std::string>* const said = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (said->insert(name).second)
    MachineCore::instance().log(std::string(name) +
                                " is not served: it returns CUDA_ERROR_NOT_SUPPORTED");
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult unsupported(const char* what) {
  MachineCore::instance().log(std::string(what) +
                              " is not served: the call returns CUDA_ERROR_NOT_SUPPORTED");
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace drgpum::emulator::driver
