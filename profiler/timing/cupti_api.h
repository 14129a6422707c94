// SPDX-License-Identifier: Apache-2.0
#pragma once
// The calls of CUPTI that a timing run makes, opened at run time. Their types are the toolkit's own
// (cupti.h of CUDA 13); NVIDIA's library and the emulated device's are interchangeable.

#include <string>
#include <vector>

#include <cupti.h>

#include "proto/base/result.h"

namespace drgpum::profiler {

struct CuptiApi {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetTimestamp) get_timestamp = nullptr;
  decltype(&cuptiGetResultString) get_result_string = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityFlushPeriod) flush_period = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
};

// Opens the first file that opens. kNotFound when none does, kUnsupported when it lacks a call or
// is older than CUDA 13, whose records have other shapes.
Result<CuptiApi> open_cupti(const std::vector<std::string>& files);

// kDevice with the function and the library's own words, unless `result` is success.
Status check_cupti(const CuptiApi& api, CUptiResult result, const char* function);

}  // namespace drgpum::profiler
