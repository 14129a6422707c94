// SPDX-License-Identifier: Apache-2.0
// Arrays and mipmapped arrays.
#include "emulator/runtime/array.h"

#include "emulator/runtime/forward.h"

namespace drgpum::emulator::runtime {
namespace {

struct Row {
  CUarray_format format;
  int bits;
  cudaChannelFormatKind kind;
};

constexpr Row kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

const Row* row_of(CUarray_format format) {
  for (const Row& row : kFormats)
    if (row.format == format) return &row;
  return nullptr;
}

unsigned channels_of(const cudaChannelFormatDesc& d) {
  const int widths[] = {d.x, d.y, d.z, d.w};
  unsigned count = 0;
  while (count < 4 && widths[count] == d.x && d.x != 0)
    ++count;
  for (unsigned i = count; i < 4; ++i)
    if (widths[i] != 0) return 0;
  return count;
}

// What cudaMalloc3DArray and its relatives ask of the driver.
std::optional<CUDA_ARRAY3D_DESCRIPTOR> shape_of(const cudaChannelFormatDesc* descriptor,
                                                const cudaExtent& extent, unsigned flags) {
  if (descriptor == nullptr) return std::nullopt;
  const auto element = format_of(*descriptor);
  if (!element) return std::nullopt;
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  shape.Width = extent.width;
  shape.Height = extent.height;
  shape.Depth = extent.depth;
  shape.Format = element->format;
  shape.NumChannels = element->channels;
  shape.Flags = flags;
  return shape;
}

cudaError_t create_array(cudaArray_t* array, const cudaChannelFormatDesc* descriptor,
                         const cudaExtent& extent, unsigned flags) {
  const auto shape = shape_of(descriptor, extent, flags);
  if (array == nullptr || !shape) return cudaErrorInvalidValue;
  return forward(CU(cuArray3DCreate), array, &*shape);
}

}  // namespace

std::optional<ElementFormat> format_of(const cudaChannelFormatDesc& descriptor) {
  const unsigned channels = channels_of(descriptor);
  if (channels == 0 || channels == 3) return std::nullopt;
  for (const Row& row : kFormats)
    if (row.bits == descriptor.x && row.kind == descriptor.f)
      return ElementFormat{row.format, channels};
  return std::nullopt;
}

cudaChannelFormatDesc descriptor_of(const ElementFormat& element) {
  const Row* row = row_of(element.format);
  if (row == nullptr) return {0, 0, 0, 0, cudaChannelFormatKindNone};
  const auto width = [&](unsigned channel) { return channel < element.channels ? row->bits : 0; };
  return {width(0), width(1), width(2), width(3), row->kind};
}

std::size_t element_bytes(const ElementFormat& element) {
  const Row* row = row_of(element.format);
  return row == nullptr ? 0 : static_cast<std::size_t>(row->bits / 8) * element.channels;
}

cudaError_t array_element_bytes(cudaArray_const_t array, std::size_t* bytes) {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  RETURN_IF_CUDA_ERROR(forward(CU(cuArray3DGetDescriptor), &shape, const_cast<cudaArray_t>(array)));
  *bytes = element_bytes({shape.Format, shape.NumChannels});
  return *bytes == 0 ? cudaErrorInvalidChannelDescriptor : cudaSuccess;
}

extern "C" DRGPUM_EXPORT cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                     cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

RUNTIME_API(cudaMallocArray, v3020,
            (cudaArray_t * array, const cudaChannelFormatDesc* descriptor, std::size_t width,
             std::size_t height, unsigned flags),
            array, descriptor, width, height, flags) {
  return create_array(array, descriptor, {width, height, 0}, flags);
}

RUNTIME_API(cudaMalloc3DArray, v3020,
            (cudaArray_t * array, const cudaChannelFormatDesc* descriptor, cudaExtent extent,
             unsigned flags),
            array, descriptor, extent, flags) {
  return create_array(array, descriptor, extent, flags);
}

RUNTIME_API(cudaFreeArray, v3020, (cudaArray_t array), array) {
  return array == nullptr ? ensure_context() : forward(CU(cuArrayDestroy), array);
}

RUNTIME_API(cudaArrayGetInfo, v4010,
            (cudaChannelFormatDesc * descriptor, cudaExtent* extent, unsigned* flags,
             cudaArray_t array),
            descriptor, extent, flags, array) {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  RETURN_IF_CUDA_ERROR(forward(CU(cuArray3DGetDescriptor), &shape, array));
  if (descriptor != nullptr) *descriptor = descriptor_of({shape.Format, shape.NumChannels});
  if (extent != nullptr) *extent = {shape.Width, shape.Height, shape.Depth};
  if (flags != nullptr) *flags = shape.Flags;
  return cudaSuccess;
}

RUNTIME_API(cudaGetChannelDesc, v3020,
            (cudaChannelFormatDesc * descriptor, cudaArray_const_t array), descriptor, array) {
  if (descriptor == nullptr) return cudaErrorInvalidValue;
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  RETURN_IF_CUDA_ERROR(forward(CU(cuArray3DGetDescriptor), &shape, const_cast<cudaArray_t>(array)));
  *descriptor = descriptor_of({shape.Format, shape.NumChannels});
  return cudaSuccess;
}

RUNTIME_API(cudaMallocMipmappedArray, v5000,
            (cudaMipmappedArray_t * array, const cudaChannelFormatDesc* descriptor,
             cudaExtent extent, unsigned levels, unsigned flags),
            array, descriptor, extent, levels, flags) {
  const auto shape = shape_of(descriptor, extent, flags);
  if (array == nullptr || !shape) return cudaErrorInvalidValue;
  return forward(CU(cuMipmappedArrayCreate), array, &*shape, levels);
}

RUNTIME_API(cudaGetMipmappedArrayLevel, v5000,
            (cudaArray_t * level_array, cudaMipmappedArray_const_t array, unsigned level),
            level_array, array, level) {
  return forward(CU(cuMipmappedArrayGetLevel), level_array, const_cast<cudaMipmappedArray_t>(array),
                 level);
}

RUNTIME_API(cudaFreeMipmappedArray, v5000, (cudaMipmappedArray_t array), array) {
  return array == nullptr ? ensure_context() : forward(CU(cuMipmappedArrayDestroy), array);
}

FORWARD_API(cudaArrayGetPlane, v11020, cuArrayGetPlane,
            (cudaArray_t * plane, cudaArray_t array, unsigned index), plane, array, index)

}  // namespace drgpum::emulator::runtime
