// SPDX-License-Identifier: Apache-2.0
// Reports runtime calls to the machine.
#include "emulator/runtime/api.h"

#include "emulator/machine/observer.h"

namespace drgpum::emulator::runtime {

ApiScope::ApiScope(std::uint32_t id, const char* name, const void* parameters, const char* symbol)
    : machine_(machine()), id_(id), name_(name), parameters_(parameters), symbol_(symbol) {
  report(true, nullptr);
}

cudaError_t ApiScope::finish(cudaError_t result) {
  record_error(result);
  return pass(result);
}

cudaError_t ApiScope::pass(cudaError_t result) {
  report(false, &result);
  return result;
}

void ApiScope::report(bool enter, cudaError_t* result) const {
  if (machine_ == nullptr) return;
  ApiCall call;
  call.site = enter ? Site::kEnter : Site::kExit;
  call.domain = ApiDomain::kRuntime;
  call.id = id_;
  call.function = name_;
  call.parameters = parameters_;
  call.return_value = result;
  call.symbol = symbol_;
  call.context = current_context();
  machine_->report_api(call);
}

}  // namespace drgpum::emulator::runtime

// Answers for an exported function that is not served.
extern "C" int drgpum_runtime_unserved(const char* name) {
  drgpum::emulator::runtime::log("not served:", name);
  drgpum::emulator::runtime::record_error(cudaErrorNotSupported);
  return cudaErrorNotSupported;
}
