// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the driver says about a device. Only calls that read constants are made: the Sanitizer API
// forbids the rest inside callbacks.

#include "proto/trace/record.h"

namespace drgpum::profiler {

// The driver that the program has loaded; fields stay at their defaults when it does not answer.
trace::DeviceRecord describe_device(DeviceId device);

}  // namespace drgpum::profiler
