// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a program file says about itself before it runs: which CUDA runtime it has, and whether its
// device code comes as PTX.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "profiler/launcher/allocator_hooks.h"
#include "proto/base/result.h"

namespace drgpum::profiler {

struct ProgramImage {
  bool is_elf = false;  // false: a script or another format; the rest but `hooks` is empty
  bool is_64_bit_x86 = false;
  std::vector<std::string> needed;  // DT_NEEDED
  bool has_rpath = false;           // DT_RPATH: searched before LD_LIBRARY_PATH
  bool has_device_code = false;     // fat binaries
  std::uint32_t ptx_images = 0;
  std::uint32_t machine_code_images = 0;
  std::vector<std::uint32_t> ptx_architectures;           // 75, 90; sorted, each once
  std::vector<std::uint32_t> machine_code_architectures;  // likewise
  std::vector<std::string> cuda_imports;                  // undefined cu* and cuda* functions
  std::vector<std::string> cuda_exports;                  // and those that it defines
  std::set<AllocatorHook> hooks;                          // that it has, or its libraries do

  // The soname of the shared CUDA runtime it links, or "".
  [[nodiscard]] std::string shared_runtime() const;
  [[nodiscard]] bool has_static_runtime() const;
  // Linked with the shared runtime of AddressSanitizer or ThreadSanitizer, which insists on being
  // loaded first.
  [[nodiscard]] bool insists_on_order() const;
};

// kIo when the file cannot be read. Damaged files give what could be read of them.
Result<ProgramImage> read_program_image(const std::string& path);

}  // namespace drgpum::profiler
