// SPDX-License-Identifier: Apache-2.0
#pragma once
// drgpum's own patches, as code of the host: the same marks in the same words of device memory,
// without interpreting PTX for every access.

#include <optional>
#include <string_view>

#include "emulator/exec/access_hook.h"
#include "emulator/memory/address_space.h"

namespace drgpum::emulator::sanitizer {

enum class Twin : std::uint8_t {
  kNone,
  kMarkAccess,
  kMapAccess,
  kMarkAsyncCopy,
  kMapAsyncCopy,
  kHeapAllocation,
  kHeapFree,
};

// The twin of the device function of this name; kNone for functions of other tools.
Twin twin_of(std::string_view device_function);

// Where the host finds a launch's user data. The twin needs everything that the data refers to in
// one region of device memory; absent when that is not so or the data's layout is another version.
// Data of version 0 says that the launch is not observed.
class TwinData {
 public:
  // `alone`: no other thread changes the data meanwhile, so words need no atomic changes.
  static std::optional<TwinData> open(const AddressSpace& memory, std::uint64_t user_data,
                                      bool alone);

  void on_access(Twin twin, const exec::WarpContext& warp, const exec::WarpAccess& access) const;
  void on_malloc(std::uint32_t mask, const std::uint64_t* pointers,
                 const std::uint64_t* sizes) const;
  void on_free(std::uint32_t mask, const std::uint64_t* pointers) const;

 private:
  TwinData(std::uint64_t user_data, std::ptrdiff_t alias_offset, bool alone)
      : user_data_(user_data), alias_offset_(alias_offset), alone_(alone) {}

  std::uint64_t user_data_;  // 0: nothing is observed
  std::ptrdiff_t alias_offset_;
  bool alone_;
};

}  // namespace drgpum::emulator::sanitizer
