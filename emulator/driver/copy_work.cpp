// SPDX-License-Identifier: Apache-2.0
// Reads the copy structs.

#include "emulator/driver/copy_work.h"

namespace drgpum::emulator::driver {
namespace {

struct Side {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t pitch, rows, x, y, z;
};

CUresult end_of(MachineCall& call, const Side& side, std::size_t width, std::size_t height,
                std::size_t depth, CopyEnd* end) {
  end->x = side.x;
  end->y = side.y;
  end->z = side.z;
  if (side.type == CU_MEMORYTYPE_ARRAY) {
    end->array = call.core().arrays.get(side.array);
    if (end->array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const Array& array = *end->array;
    const bool inside = side.x + width <= array.row_bytes() && side.y + height <= array.rows() &&
                        side.z + depth <= array.slices();
    return inside ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  if (side.type < CU_MEMORYTYPE_HOST || side.type > CU_MEMORYTYPE_UNIFIED)
    return CUDA_ERROR_INVALID_VALUE;
  end->address =
      side.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(side.host) : side.device;
  end->pitch = side.pitch != 0 ? side.pitch : side.x + width;
  end->rows = side.rows != 0 ? side.rows : side.y + height;
  const bool pitch_fits = end->pitch >= side.x + width || (height <= 1 && depth <= 1);
  return pitch_fits && end->rows >= side.y + height ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

template <typename Form>
Side source_of(const Form& form) {
  return {form.srcMemoryType, form.srcHost,  form.srcDevice,
          form.srcArray,      form.srcPitch, 0,
          form.srcXInBytes,   form.srcY,     0};
}

template <typename Form>
Side destination_of(const Form& form) {
  return {form.dstMemoryType, form.dstHost,  form.dstDevice,
          form.dstArray,      form.dstPitch, 0,
          form.dstXInBytes,   form.dstY,     0};
}

CUresult both_ends(MachineCall& call, const Side& source, const Side& destination,
                   std::size_t width, std::size_t height, std::size_t depth, CopyWork* work) {
  work->width = width;
  work->height = height;
  work->depth = depth;
  const CUresult result = end_of(call, source, width, height, depth, &work->source);
  if (result != CUDA_SUCCESS) return result;
  return end_of(call, destination, width, height, depth, &work->destination);
}

template <typename Form>
CUresult three_dimensional(MachineCall& call, const Form& form, CopyWork* work) {
  Side source = source_of(form);
  Side destination = destination_of(form);
  source.rows = form.srcHeight;
  source.z = form.srcZ;
  destination.rows = form.dstHeight;
  destination.z = form.dstZ;
  return both_ends(call, source, destination, form.WidthInBytes, form.Height, form.Depth, work);
}

}  // namespace

CUresult copy_work_of(MachineCall& call, const CUDA_MEMCPY2D& form, CopyWork* work) {
  return both_ends(call, source_of(form), destination_of(form), form.WidthInBytes, form.Height, 1,
                   work);
}

CUresult copy_work_of(MachineCall& call, const CUDA_MEMCPY3D& form, CopyWork* work) {
  return three_dimensional(call, form, work);
}

CUresult copy_work_of(MachineCall& call, const CUDA_MEMCPY3D_PEER& form, CopyWork* work) {
  work->source.context = call.core().contexts.get(form.srcContext);
  work->destination.context = call.core().contexts.get(form.dstContext);
  return three_dimensional(call, form, work);
}

CUresult set_work_of(const CUDA_MEMSET_NODE_PARAMS& form, SetWork* work) {
  if (form.elementSize != 1 && form.elementSize != 2 && form.elementSize != 4)
    return CUDA_ERROR_INVALID_VALUE;
  work->address = form.dst;
  work->element_size = form.elementSize;
  work->value = form.value;
  work->width = form.width;
  work->height = form.height;
  work->pitch = form.height > 1 ? form.pitch : form.width * form.elementSize;
  work->is_async = true;
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator::driver
