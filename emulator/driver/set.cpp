// SPDX-License-Identifier: Apache-2.0
// Sets of all widths.

#include "emulator/driver/copy_work.h"

namespace drgpum::emulator::driver {
namespace {

CUresult run(CUstream stream, CUdeviceptr address, std::size_t pitch, std::uint32_t element_size,
             std::uint32_t value, std::size_t width, std::size_t height, bool is_async) {
  StreamCall call(stream);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (address % element_size != 0) return CUDA_ERROR_INVALID_VALUE;
  if (height > 1 && pitch < width * element_size) return CUDA_ERROR_INVALID_VALUE;
  if (!is_async && call.on->capture != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  SetWork work;
  work.address = address;
  work.pitch = height > 1 ? pitch : width * element_size;
  work.element_size = element_size;
  work.value = value;
  work.width = width;
  work.height = height;
  work.is_async = is_async;
  return call.submit(work);
}

}  // namespace

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return run(nullptr, to, 0, 1, value, count, 1, false);
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return run(nullptr, to, 0, 2, value, count, 1, false);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, std::size_t count) {
  return run(nullptr, to, 0, 4, value, count, 1, false);
}
CUresult cuMemsetD2D8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
  return run(nullptr, to, pitch, 1, value, width, height, false);
}
CUresult cuMemsetD2D16(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                       std::size_t height) {
  return run(nullptr, to, pitch, 2, value, width, height, false);
}
CUresult cuMemsetD2D32(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height) {
  return run(nullptr, to, pitch, 4, value, width, height, false);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return run(stream, to, 0, 1, value, count, 1, true);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return run(stream, to, 0, 2, value, count, 1, true);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return run(stream, to, 0, 4, value, count, 1, true);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return run(stream, to, pitch, 1, value, width, height, true);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return run(stream, to, pitch, 2, value, width, height, true);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CUstream stream) {
  return run(stream, to, pitch, 4, value, width, height, true);
}

}  // namespace drgpum::emulator::driver
