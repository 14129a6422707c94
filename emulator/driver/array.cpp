// SPDX-License-Identifier: Apache-2.0
// CUDA arrays.

#include "emulator/machine/array.h"

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {
namespace {

CUarray handle(Array* array) {
  return reinterpret_cast<CUarray>(array);
}

void tell_array(Section& section, Array& array, bool creation) {
  ArrayEvent event;
  event.creation = creation;
  event.context = array.context;
  event.array = &array;
  event.width = array.descriptor.Width;
  event.height = array.descriptor.Height;
  event.depth = array.descriptor.Depth;
  section.tell([event](Observer& o) { o.on_array(event); });
}

CUresult create(ContextCall& call, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, Array** result) {
  auto array = std::make_unique<Array>();
  array->context = call.context;
  array->descriptor = descriptor;
  if (array->texel_bytes() == 0 || descriptor.Width == 0) return CUDA_ERROR_INVALID_VALUE;
  if ((descriptor.Flags & CUDA_ARRAY3D_SPARSE) != 0) return unsupported("a sparse array");
  BlockRequest request;
  request.size = array->bytes();
  request.kind = BlockKind::kArray;
  request.device = call.context->device->ordinal;
  request.context = call.context;
  array->block = call.core().memory->allocate(request);
  if (array->block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *result = call.core().arrays.add(std::move(array));
  tell_array(call, **result, true);
  return CUDA_SUCCESS;
}

void destroy(Section& section, Array& array) {
  tell_array(section, array, false);
  section.core().memory->free(array.block);
  section.core().arrays.remove(&array);
}

}  // namespace

CUresult cuArray3DCreate(CUarray* result, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (result == nullptr || descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Array* array = nullptr;
  const CUresult created = create(call, *descriptor, &array);
  if (created == CUDA_SUCCESS) *result = handle(array);
  return created;
}

CUresult cuArrayCreate(CUarray* result, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
  if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR full{};
  full.Width = descriptor->Width;
  full.Height = descriptor->Height;
  full.Format = descriptor->Format;
  full.NumChannels = descriptor->NumChannels;
  return driver::cuArray3DCreate(result, &full);
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray which) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const Array* array = call.core().arrays.get(which);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *descriptor = array->descriptor;
  return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray which) {
  CUDA_ARRAY3D_DESCRIPTOR full{};
  if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = driver::cuArray3DGetDescriptor(&full, which);
  if (result == CUDA_SUCCESS)
    *descriptor = {full.Width, full.Height, full.Format, full.NumChannels};
  return result;
}

CUresult cuArrayDestroy(CUarray which) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  Array* array = call.core().arrays.get(which);
  if (array == nullptr || array->is_level) return CUDA_ERROR_INVALID_HANDLE;
  synchronize_context(call, *call.context);
  destroy(call, *array);
  return CUDA_SUCCESS;
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* needs, CUarray which,
                                      CUdevice) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const Array* array = call.core().arrays.get(which);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (needs == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *needs = {};
  needs->size = array->bytes();
  needs->alignment = kAllocationUnit;
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* result, const CUDA_ARRAY3D_DESCRIPTOR* descriptor,
                                unsigned levels) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (result == nullptr || descriptor == nullptr || levels == 0) return CUDA_ERROR_INVALID_VALUE;
  MipmappedArray* mipmapped = call.core().mipmapped_arrays.make();
  mipmapped->context = call.context;
  CUDA_ARRAY3D_DESCRIPTOR level = *descriptor;
  const bool layered = (descriptor->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
  const auto halve = [](std::size_t& extent) { extent = extent > 1 ? extent / 2 : extent; };
  for (unsigned i = 0; i < levels; ++i) {
    Array* array = nullptr;
    if (const CUresult created = create(call, level, &array); created != CUDA_SUCCESS) {
      for (Array* made : mipmapped->levels)
        destroy(call, *made);
      call.core().mipmapped_arrays.remove(mipmapped);
      return created;
    }
    array->is_level = true;
    mipmapped->levels.push_back(array);
    halve(level.Width);
    halve(level.Height);
    if (!layered) halve(level.Depth);
  }
  *result = reinterpret_cast<CUmipmappedArray>(mipmapped);
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray* result, CUmipmappedArray which, unsigned level) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const MipmappedArray* mipmapped = call.core().mipmapped_arrays.get(which);
  if (mipmapped == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (result == nullptr || level >= mipmapped->levels.size()) return CUDA_ERROR_INVALID_VALUE;
  *result = handle(mipmapped->levels[level]);
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray which) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  MipmappedArray* mipmapped = call.core().mipmapped_arrays.get(which);
  if (mipmapped == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  synchronize_context(call, *call.context);
  for (Array* array : mipmapped->levels)
    destroy(call, *array);
  call.core().mipmapped_arrays.remove(mipmapped);
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator::driver
