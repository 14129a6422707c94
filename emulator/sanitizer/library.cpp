// SPDX-License-Identifier: Apache-2.0
// Joins the machine and the subscriber.
#include "emulator/sanitizer/library.h"

#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

namespace drgpum::emulator::sanitizer {
namespace {

bool fidelity_is_wanted() {
  const char* value = std::getenv("DRGPUM_EMULATOR_FIDELITY");
  return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

Machine* find_machine() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return nullptr;
  void* symbol = dlsym(driver, "drgpum_emulator_machine");
  return symbol == nullptr ? nullptr : reinterpret_cast<Machine* (*)()>(symbol)();
}

}  // namespace

LibraryState& LibraryState::get() {
  static auto* const state = new LibraryState(find_machine());  // callbacks come until the very end
  return *state;
}

LibraryState::LibraryState(Machine* machine)
    : machine_(machine), patches_(!fidelity_is_wanted()), reporter_(machine, gate_, patches_) {}

Code LibraryState::subscribe(Callback callback, void* user) {
  const Code code = gate_.subscribe(callback, user);
  if (code == Code::kSuccess && machine_ != nullptr) machine_->add_observer(&reporter_);
  return code;
}

Code LibraryState::unsubscribe() {
  if (machine_ != nullptr && gate_.has_subscriber()) machine_->remove_observer(&reporter_);
  return gate_.unsubscribe();
}

}  // namespace drgpum::emulator::sanitizer
