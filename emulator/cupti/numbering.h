// SPDX-License-Identifier: Apache-2.0
#pragma once
// The small numbers by which records name contexts and streams.

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "emulator/machine/observer.h"

namespace drgpum::emulator::cupti {

// Thread-safe. Numbers start at 1, go up in order of first mention and are not used again.
class Numbering {
 public:
  std::uint32_t context(Handle context);
  void set_device(Handle context, std::int32_t device);
  std::uint32_t device_of(Handle context);
  // By the stream's unique handle.
  std::uint32_t stream(Handle unique_stream);
  void forget_stream(Handle unique_stream);
  void forget_context(Handle context);
  // A kernel's name, for good: records point at it.
  const char* keep(const char* name);

 private:
  struct Context {
    std::uint32_t number;
    std::uint32_t device;
  };
  std::mutex mutex_;
  std::uint32_t next_context_ = 1;
  std::uint32_t next_stream_ = 1;
  std::unordered_map<Handle, Context> contexts_;
  std::unordered_map<Handle, std::uint32_t> streams_;
  std::set<std::string, std::less<>> names_;  // whose elements stay where they are
};

}  // namespace drgpum::emulator::cupti
