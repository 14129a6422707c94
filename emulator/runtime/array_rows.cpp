// SPDX-License-Identifier: Apache-2.0
// The older copies that treat an array as one sequence of bytes, row after row.
#include <algorithm>
#include <array>
#include <span>

#include "emulator/runtime/array.h"
#include "emulator/runtime/forward.h"

namespace drgpum::emulator::runtime {
namespace {

// A rectangle of an array and where its bytes lie in the sequence.
struct Piece {
  std::size_t x = 0;  // bytes
  std::size_t y = 0;
  std::size_t width = 0;  // bytes
  std::size_t height = 0;
  std::size_t at = 0;
};

// The rest of the first row, whole rows, and the beginning of the last.
using Pieces = std::array<Piece, 3>;

cudaError_t split(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t count,
                  Pieces* pieces) {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  RETURN_IF_CUDA_ERROR(forward(CU(cuArray3DGetDescriptor), &shape, driver_array(array)));
  const std::size_t row = shape.Width * element_bytes({shape.Format, shape.NumChannels});
  const std::size_t rows = std::max<std::size_t>(shape.Height, 1);
  if (row == 0 || x >= row || y >= rows || count > (rows - y) * row - x)
    return cudaErrorInvalidValue;
  const std::size_t first = x == 0 ? 0 : std::min(count, row - x);
  const std::size_t whole = (count - first) / row;
  const std::size_t below = y + (first != 0 ? 1 : 0);
  const std::size_t last = count - first - whole * row;
  *pieces = {Piece{x, y, first, 1, 0}, Piece{0, below, row, whole, first},
             Piece{0, below + whole, last, 1, first + whole * row}};
  return cudaSuccess;
}

enum class Direction { kToArray, kFromArray };

CUDA_MEMCPY2D copy_of(const Piece& piece, cudaArray_const_t array, const void* linear,
                      Direction direction) {
  CUDA_MEMCPY2D copy{};
  copy.WidthInBytes = piece.width;
  copy.Height = piece.height;
  const auto address = reinterpret_cast<CUdeviceptr>(linear) + piece.at;
  const bool to_array = direction == Direction::kToArray;
  copy.srcMemoryType = to_array ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_ARRAY;
  copy.dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  (to_array ? copy.srcDevice : copy.dstDevice) = address;
  (to_array ? copy.srcPitch : copy.dstPitch) = piece.width;
  (to_array ? copy.dstArray : copy.srcArray) = driver_array(array);
  (to_array ? copy.dstXInBytes : copy.srcXInBytes) = piece.x;
  (to_array ? copy.dstY : copy.srcY) = piece.y;
  return copy;
}

template <typename Copy>
cudaError_t each_piece(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t count,
                       const void* linear, Direction direction, Copy copy) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  Pieces pieces;
  RETURN_IF_CUDA_ERROR(split(array, x, y, count, &pieces));
  for (const Piece& piece : pieces) {
    if (piece.width == 0 || piece.height == 0) continue;
    const CUDA_MEMCPY2D rectangle = copy_of(piece, array, linear, direction);
    RETURN_IF_CUDA_ERROR(copy(&rectangle));
  }
  return cudaSuccess;
}

cudaError_t copy_rows(DefaultStream meaning, cudaArray_const_t array, std::size_t x, std::size_t y,
                      std::size_t count, const void* linear, Direction direction) {
  return each_piece(array, x, y, count, linear, direction, [&](const CUDA_MEMCPY2D* rectangle) {
    return CU_MEANING(meaning, cuMemcpy2DUnaligned)(rectangle);
  });
}

cudaError_t copy_rows_async(cudaArray_const_t array, std::size_t x, std::size_t y,
                            std::size_t count, const void* linear, Direction direction,
                            CUstream stream) {
  return each_piece(array, x, y, count, linear, direction, [&](const CUDA_MEMCPY2D* rectangle) {
    return CU(cuMemcpy2DAsync)(rectangle, stream);
  });
}

}  // namespace

BLOCKING_API(cudaMemcpyToArray, v3020, v7000,
             (DefaultStream meaning, cudaArray_t to, std::size_t x, std::size_t y, const void* from,
              std::size_t count, cudaMemcpyKind),
             (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t count,
              cudaMemcpyKind kind),
             to, x, y, from, count, kind) {
  return copy_rows(meaning, to, x, y, count, from, Direction::kToArray);
}

BLOCKING_API(cudaMemcpyFromArray, v3020, v7000,
             (DefaultStream meaning, void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
              std::size_t count, cudaMemcpyKind),
             (void* to, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t count,
              cudaMemcpyKind kind),
             to, from, x, y, count, kind) {
  return copy_rows(meaning, from, x, y, count, to, Direction::kFromArray);
}

STREAM_API(cudaMemcpyToArrayAsync, v3020, v7000,
           (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t count,
            [[maybe_unused]] cudaMemcpyKind kind, cudaStream_t stream),
           to, x, y, from, count, kind, stream) {
  return copy_rows_async(to, x, y, count, from, Direction::kToArray, stream);
}

STREAM_API(cudaMemcpyFromArrayAsync, v3020, v7000,
           (void* to, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t count,
            [[maybe_unused]] cudaMemcpyKind kind, cudaStream_t stream),
           to, from, x, y, count, kind, stream) {
  return copy_rows_async(from, x, y, count, to, Direction::kFromArray, stream);
}

}  // namespace drgpum::emulator::runtime
