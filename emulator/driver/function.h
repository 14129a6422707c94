// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions by the handles that programs give: of a module's function, or of a library's kernel.

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {

// The function that the handle means in the context; a kernel's module is loaded where it has to
// be.
CUresult find_function(Section& section, Context& context, const void* handle, Function** function);

// Packs the arguments of a launch, given as an array of pointers or as one buffer.
CUresult pack_parameters(const Function& function, void** arguments, void** extra,
                         std::vector<std::byte>* packed);

// Checks a launch against the device's and the function's limits and completes it.
struct LaunchShape {
  exec::Dim3 grid, block, cluster;
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
};
CUresult make_kernel_work(Section& section, Context& context, const void* handle,
                          const LaunchShape& shape, void** arguments, void** extra,
                          KernelWork* work);

int blocks_per_multiprocessor(const Device& device, const Function& function, int block_size,
                              std::size_t dynamic_shared);

}  // namespace drgpum::emulator::driver
