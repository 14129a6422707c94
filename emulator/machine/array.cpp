// SPDX-License-Identifier: Apache-2.0
// Sizes of texels.

#include "emulator/machine/array.h"

namespace drgpum::emulator {

std::uint64_t channel_bytes(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      return 4;
    default:
      return 0;
  }
}

std::uint64_t Array::texel_bytes() const {
  return channel_bytes(descriptor.Format) * descriptor.NumChannels;
}

}  // namespace drgpum::emulator
