// SPDX-License-Identifier: Apache-2.0
#include "profiler/timing/cupti_api.h"

#include <dlfcn.h>

namespace drgpum::profiler {
namespace {

constexpr std::uint32_t kFirstVersion = 130000;

class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <typename Function>
  void find(const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library_, name));
    if (*function == nullptr && missing_.empty()) missing_ = name;
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

Result<CuptiApi> resolve(void* library, const std::string& file) {
  CuptiApi api;
  Symbols symbols(library);
  symbols.find("cuptiGetVersion", &api.get_version);
  symbols.find("cuptiGetTimestamp", &api.get_timestamp);
  symbols.find("cuptiGetResultString", &api.get_result_string);
  symbols.find("cuptiSubscribe", &api.subscribe);
  symbols.find("cuptiEnableCallback", &api.enable_callback);
  symbols.find("cuptiActivityRegisterCallbacks", &api.register_callbacks);
  symbols.find("cuptiActivityEnable", &api.enable);
  symbols.find("cuptiActivityDisable", &api.disable);
  symbols.find("cuptiActivityFlushAll", &api.flush_all);
  symbols.find("cuptiActivityFlushPeriod", &api.flush_period);
  symbols.find("cuptiActivityGetNextRecord", &api.next_record);
  symbols.find("cuptiActivityGetNumDroppedRecords", &api.dropped_records);
  if (!symbols.missing().empty()) {
    return Error{ErrorCode::kUnsupported, file + " has no " + symbols.missing()};
  }
  std::uint32_t version = 0;
  if (api.get_version(&version) != CUPTI_SUCCESS || version < kFirstVersion) {
    return Error{ErrorCode::kUnsupported, file + " has version " + std::to_string(version) +
                                              "; that of CUDA 13 (" +
                                              std::to_string(kFirstVersion) + ") is needed"};
  }
  return api;
}

}  // namespace

Result<CuptiApi> open_cupti(const std::vector<std::string>& files) {
  std::string why = "libcupti.so.13 not found; install the CUDA toolkit's CUPTI or set "
                    "DRGPUM_CUPTI_LIB";
  for (const std::string& file : files) {
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return resolve(library, file);
    why = dlerror();
  }
  return Error{ErrorCode::kNotFound, why};
}

Status check_cupti(const CuptiApi& api, CUptiResult result, const char* function) {
  if (result == CUPTI_SUCCESS) return Ok{};
  const char* words = nullptr;
  if (api.get_result_string(result, &words) != CUPTI_SUCCESS || words == nullptr) words = "?";
  return Error{ErrorCode::kDevice, std::string(function) + ": " + words + " (code " +
                                       std::to_string(static_cast<int>(result)) + ")"};
}

}  // namespace drgpum::profiler
