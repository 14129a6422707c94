// SPDX-License-Identifier: Apache-2.0
// Copies and sets of every shape, compared with the same moves on the host.
#include <numeric>
#include <vector>

#include "tests/unit/emulator/runtime/runtime_fixture.h"

namespace drgpum::emulator::runtime {
namespace {

class Copies : public RuntimeTest {
 protected:
  static constexpr std::size_t kBytes = 4096;

  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_OK(cudaMalloc(reinterpret_cast<void**>(&device_), kBytes));
    ASSERT_OK(cudaMemset(device_, 0, kBytes));
    std::iota(numbers_.begin(), numbers_.end(), static_cast<unsigned char>(1));
  }
  void TearDown() override {
    EXPECT_OK(cudaFree(device_));
    RuntimeTest::TearDown();
  }

  std::vector<unsigned char> all() {
    std::vector<unsigned char> host(kBytes);
    EXPECT_OK(cudaMemcpy(host.data(), device_, kBytes, cudaMemcpyDeviceToHost));
    return host;
  }

  unsigned char* device_ = nullptr;
  std::vector<unsigned char> numbers_ = std::vector<unsigned char>(kBytes);
};

TEST_F(Copies, GoThereAndBack) {
  ASSERT_OK(cudaMemcpy(device_, numbers_.data(), kBytes, cudaMemcpyHostToDevice));
  EXPECT_EQ(all(), numbers_);
  ASSERT_OK(cudaMemcpy(device_ + 100, device_, 50, cudaMemcpyDeviceToDevice));
  std::copy_n(numbers_.begin(), 50, numbers_.begin() + 100);
  EXPECT_EQ(all(), numbers_);
  EXPECT_OK(cudaMemcpy(device_, numbers_.data(), 0, cudaMemcpyHostToDevice));
}

TEST_F(Copies, FindTheirDirectionThemselves) {
  ASSERT_OK(cudaMemcpy(device_, numbers_.data(), kBytes, cudaMemcpyDefault));
  std::vector<unsigned char> back(kBytes);
  ASSERT_OK(cudaMemcpyAsync(back.data(), device_, kBytes, cudaMemcpyDefault, nullptr));
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(back, numbers_);
}

TEST_F(Copies, RefuseUnknownDirectionsAndBadMemory) {
  expect_error(cudaMemcpy(device_, numbers_.data(), 1, static_cast<cudaMemcpyKind>(7)),
               cudaErrorInvalidMemcpyDirection);
  expect_error(cudaMemcpy(device_, numbers_.data(), kBytes + 1, cudaMemcpyHostToDevice),
               cudaErrorInvalidValue);
}

TEST_F(Copies, MoveRectangles) {
  // 5 rows of 7 bytes from rows of 16 to rows of 64.
  ASSERT_OK(cudaMemcpy2D(device_ + 3, 64, numbers_.data(), 16, 7, 5, cudaMemcpyHostToDevice));
  std::vector<unsigned char> expected(kBytes);
  for (std::size_t row = 0; row < 5; ++row)
    std::copy_n(numbers_.begin() + static_cast<std::ptrdiff_t>(16 * row), 7,
                expected.begin() + static_cast<std::ptrdiff_t>(3 + 64 * row));
  EXPECT_EQ(all(), expected);
  std::vector<unsigned char> back(35);
  ASSERT_OK(
      cudaMemcpy2DAsync(back.data(), 7, device_ + 3, 64, 7, 5, cudaMemcpyDeviceToHost, nullptr));
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(back[8], numbers_[17]);
  expect_error(cudaMemcpy2D(device_, 4, numbers_.data(), 16, 7, 5, cudaMemcpyHostToDevice),
               cudaErrorInvalidPitchValue);
}

TEST_F(Copies, MoveBoxes) {
  cudaPitchedPtr box{};
  ASSERT_OK(cudaMalloc3D(&box, {8, 4, 3}));
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = {numbers_.data(), 8, 8, 4};
  parameters.dstPtr = box;
  parameters.extent = {8, 4, 3};
  parameters.kind = cudaMemcpyHostToDevice;
  ASSERT_OK(cudaMemcpy3D(&parameters));

  std::vector<unsigned char> back(2 * 2 * 2);
  cudaMemcpy3DParms part{};
  part.srcPtr = box;
  part.srcPos = {3, 1, 1};
  part.dstPtr = {back.data(), 2, 2, 2};
  part.extent = {2, 2, 2};
  part.kind = cudaMemcpyDeviceToHost;
  ASSERT_OK(cudaMemcpy3D(&part));
  for (std::size_t z = 0; z < 2; ++z)
    for (std::size_t y = 0; y < 2; ++y)
      for (std::size_t x = 0; x < 2; ++x)
        EXPECT_EQ(back[4 * z + 2 * y + x], numbers_[32 * (z + 1) + 8 * (y + 1) + x + 3]);
  EXPECT_OK(cudaFree(box.ptr));
}

TEST_F(Copies, SetBytesRectanglesAndBoxes) {
  ASSERT_OK(cudaMemset(device_ + 1, 0x1FF, 3));  // the low byte counts
  ASSERT_OK(cudaMemset2D(device_ + 64, 32, 7, 5, 3));
  ASSERT_OK(cudaMemset3D({device_ + 1024, 16, 16, 4}, 9, {8, 2, 2}));
  std::vector<unsigned char> expected(kBytes);
  std::fill_n(expected.begin() + 1, 3, 0xFF);
  for (int row = 0; row < 3; ++row)
    std::fill_n(expected.begin() + 64 + 32 * row, 5, 7);
  for (int plane = 0; plane < 2; ++plane)
    for (int row = 0; row < 2; ++row)
      std::fill_n(expected.begin() + 1024 + 64 * plane + 16 * row, 8, 9);
  EXPECT_EQ(all(), expected);
}

TEST_F(Copies, ArraysKeepTheirElements) {
  const cudaChannelFormatDesc floats =
      cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t array = nullptr;
  ASSERT_OK(cudaMallocArray(&array, &floats, 8, 4, 0));
  std::vector<float> values(32);
  std::iota(values.begin(), values.end(), 1.0F);
  ASSERT_OK(cudaMemcpy2DToArray(array, 0, 0, values.data(), 32, 32, 4, cudaMemcpyHostToDevice));
  std::vector<float> back(4);
  ASSERT_OK(cudaMemcpy2DFromArray(back.data(), 8, array, 8, 1, 8, 2, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back, (std::vector<float>{11, 12, 19, 20}));
  // As one sequence of bytes, from the middle of a row on.
  std::vector<float> sequence(12);
  ASSERT_OK(cudaMemcpyFromArray(sequence.data(), array, 24, 0, 48, cudaMemcpyDeviceToHost));
  EXPECT_EQ(sequence.front(), 7.0F);
  EXPECT_EQ(sequence.back(), 18.0F);

  cudaChannelFormatDesc found{};
  cudaExtent extent{};
  unsigned flags = 1;
  ASSERT_OK(cudaArrayGetInfo(&found, &extent, &flags, array));
  EXPECT_EQ(found.x, 32);
  EXPECT_EQ(found.y, 0);
  EXPECT_EQ(found.f, cudaChannelFormatKindFloat);
  EXPECT_EQ(extent.width, 8U);
  EXPECT_EQ(extent.height, 4U);
  EXPECT_OK(cudaFreeArray(array));
  const cudaChannelFormatDesc odd =
      cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
  expect_error(cudaMallocArray(&array, &odd, 8, 4, 0), cudaErrorInvalidValue);
}

TEST_F(Copies, ABatchIsTheSameAsItsCopies) {
  void* to[] = {device_, device_ + 100};
  const void* from[] = {numbers_.data(), numbers_.data() + 50};
  const std::size_t sizes[] = {10, 20};
  cudaStream_t stream = nullptr;
  ASSERT_OK(cudaStreamCreate(&stream));
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t index = 0;
  ASSERT_OK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &index, 1, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  std::vector<unsigned char> expected(kBytes);
  std::copy_n(numbers_.begin(), 10, expected.begin());
  std::copy_n(numbers_.begin() + 50, 20, expected.begin() + 100);
  EXPECT_EQ(all(), expected);
  EXPECT_OK(cudaStreamDestroy(stream));
}

}  // namespace
}  // namespace drgpum::emulator::runtime
