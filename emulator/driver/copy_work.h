// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the structs that describe pitched copies and sets to work.

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {

CUresult copy_work_of(MachineCall& call, const CUDA_MEMCPY2D& form, CopyWork* work);
CUresult copy_work_of(MachineCall& call, const CUDA_MEMCPY3D& form, CopyWork* work);
CUresult copy_work_of(MachineCall& call, const CUDA_MEMCPY3D_PEER& form, CopyWork* work);

CUresult set_work_of(const CUDA_MEMSET_NODE_PARAMS& form, SetWork* work);

}  // namespace drgpum::emulator::driver
