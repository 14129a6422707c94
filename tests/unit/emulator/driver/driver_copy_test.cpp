// SPDX-License-Identifier: Apache-2.0
// Copies and sets: which bytes end up where.

#include <numeric>

#include "fixture.h"

namespace drgpum::emulator {
namespace {

using Copy = DriverTest;
using Bytes = std::vector<unsigned char>;

Bytes counting(std::size_t count) {
  Bytes bytes(count);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  return bytes;
}

TEST_F(Copy, GoesToTheDeviceAlongItAndBack) {
  const Bytes bytes = counting(200);
  const CUdeviceptr from = upload(bytes);
  const CUdeviceptr to = allocate(200);
  EXPECT_CUDA(cuMemcpyDtoD(to, from, 200));
  EXPECT_EQ(download<unsigned char>(to, 200), bytes);
}

TEST_F(Copy, FindsTheDirectionFromUnifiedAddresses) {
  const Bytes bytes = counting(16);
  Bytes back(16);
  const CUdeviceptr device = allocate(16);
  EXPECT_CUDA(cuMemcpy(device, reinterpret_cast<CUdeviceptr>(bytes.data()), 16));
  EXPECT_CUDA(cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(back.data()), device, 16, nullptr));
  EXPECT_EQ(back, bytes);
}

TEST_F(Copy, IsRefusedWhenItLeavesAnAllocation) {
  const Bytes bytes = counting(200);
  const CUdeviceptr address = allocate(100);
  EXPECT_EQ(cuMemcpyHtoD(address, bytes.data(), 101), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(address + 50, bytes.data(), 51), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyHtoD(address + 50, bytes.data(), 50));
  EXPECT_CUDA(cuMemcpyHtoD(address, bytes.data(), 0));
}

TEST_F(Copy, TakesARectangleOutOfAnother) {
  // A 4 x 2 rectangle at (1, 1) of a matrix with 10 bytes a row.
  const CUdeviceptr from = upload(counting(50));
  Bytes to(8);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.srcPitch = 10;
  copy.srcXInBytes = 1;
  copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to.data();
  copy.dstPitch = 4;
  copy.WidthInBytes = 4;
  copy.Height = 2;
  ASSERT_CUDA(cuMemcpy2D(&copy));
  EXPECT_EQ(to, (Bytes{11, 12, 13, 14, 21, 22, 23, 24}));
  copy.srcPitch = 4;
  EXPECT_EQ(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE) << "rows that do not fit the pitch";
}

TEST_F(Copy, TakesABoxOutOfAnother) {
  const CUdeviceptr from = upload(counting(4 * 3 * 2));  // 4 wide, 3 rows, 2 slices
  Bytes to(4);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.srcPitch = 4;
  copy.srcHeight = 3;
  copy.srcXInBytes = 2;
  copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to.data();
  copy.dstPitch = 2;
  copy.dstHeight = 1;
  copy.WidthInBytes = 2;
  copy.Height = 1;
  copy.Depth = 2;
  ASSERT_CUDA(cuMemcpy3D(&copy));
  EXPECT_EQ(to, (Bytes{6, 7, 18, 19}));
}

TEST_F(Copy, GoesThroughArrays) {
  CUDA_ARRAY_DESCRIPTOR descriptor{};
  descriptor.Width = 4;
  descriptor.Height = 2;
  descriptor.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  descriptor.NumChannels = 1;
  CUarray array = nullptr;
  ASSERT_CUDA(cuArrayCreate(&array, &descriptor));
  const Bytes bytes = counting(8);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = bytes.data();
  copy.srcPitch = 4;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 4;
  copy.Height = 2;
  ASSERT_CUDA(cuMemcpy2D(&copy));
  Bytes back(3);
  EXPECT_CUDA(cuMemcpyAtoH(back.data(), array, 5, 3));
  EXPECT_EQ(back, (Bytes{5, 6, 7}));
  EXPECT_EQ(cuMemcpyAtoH(back.data(), array, 6, 3), CUDA_ERROR_INVALID_VALUE);
  copy.WidthInBytes = 5;
  EXPECT_EQ(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuArrayDestroy(array));
}

TEST_F(Copy, SetsBytesWordsAndRectangles) {
  const CUdeviceptr address = allocate(32);
  EXPECT_CUDA(cuMemsetD8(address, 0, 32));
  EXPECT_CUDA(cuMemsetD32(address, 0x01020304, 2));
  EXPECT_CUDA(cuMemsetD16Async(address + 8, 0x0506, 1, nullptr));
  EXPECT_CUDA(cuMemsetD2D8(address + 16, 8, 9, 2, 2));
  EXPECT_EQ(download<unsigned char>(address, 32),
            (Bytes{4, 3, 2, 1, 4, 3, 2, 1, 6, 5, 0, 0, 0, 0, 0, 0,
                   9, 9, 0, 0, 0, 0, 0, 0, 9, 9, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(cuMemsetD8(address, 0, 33), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(address + 2, 0, 1), CUDA_ERROR_INVALID_VALUE) << "misaligned";
}

}  // namespace
}  // namespace drgpum::emulator
