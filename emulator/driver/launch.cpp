// SPDX-License-Identifier: Apache-2.0
// Kernel launches and occupancy.

#include <algorithm>
#include <climits>
#include <cstring>

#include "emulator/driver/function.h"
#include "emulator/machine/cost_model.h"

namespace drgpum::emulator::driver {
namespace {

constexpr std::uint32_t kMaxBlockThreads = 1024;
constexpr std::uint32_t kMaxBlockZ = 64;
constexpr std::uint32_t kMaxGridYz = 65535;
constexpr std::uint32_t kMaxClusterBlocks = 16;  // 8 are portable

std::uint64_t volume(const exec::Dim3& extent) {
  return std::uint64_t{extent.x} * extent.y * extent.z;
}

bool is_cluster_divisor(const exec::Dim3& cluster, const exec::Dim3& grid) {
  return cluster.x != 0 && cluster.y != 0 && cluster.z != 0 && grid.x % cluster.x == 0 &&
         grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
}

CUresult check(const Device& device, const Function& function, const LaunchShape& shape) {
  const exec::Dim3& grid = shape.grid;
  const exec::Dim3& block = shape.block;
  if (volume(grid) == 0 || volume(block) == 0) return CUDA_ERROR_INVALID_VALUE;
  if (grid.x > INT_MAX || grid.y > kMaxGridYz || grid.z > kMaxGridYz)
    return CUDA_ERROR_INVALID_VALUE;
  if (block.x > kMaxBlockThreads || block.y > kMaxBlockThreads || block.z > kMaxBlockZ ||
      volume(block) > kMaxBlockThreads)
    return CUDA_ERROR_INVALID_VALUE;
  if (static_cast<int>(volume(block)) > function.max_threads(kMaxBlockThreads))
    return CUDA_ERROR_INVALID_VALUE;
  if (shape.shared_bytes > function.max_dynamic_shared) return CUDA_ERROR_INVALID_VALUE;
  const bool fits = device.preset.compute_major >= 9 ? volume(shape.cluster) <= kMaxClusterBlocks
                                                     : volume(shape.cluster) == 1;
  if (!fits || !is_cluster_divisor(shape.cluster, grid)) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  const int resident = blocks_per_multiprocessor(device, function, static_cast<int>(volume(block)),
                                                 shape.shared_bytes);
  if (resident == 0) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  const std::uint64_t at_once = static_cast<std::uint64_t>(resident) *
                                static_cast<std::uint64_t>(device.preset.multiprocessors);
  if (shape.cooperative && volume(grid) > at_once) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return CUDA_SUCCESS;
}

// The cluster that a kernel was compiled for; one given at the launch has to be the same.
bool take_required_cluster(const Function& function, exec::Dim3* cluster) {
  const std::uint32_t(&required)[3] = function.code().required_cluster;
  if (required[0] == 0) return true;
  const bool same =
      cluster->x == required[0] && cluster->y == required[1] && cluster->z == required[2];
  if (volume(*cluster) != 1 && !same) return false;
  *cluster = {required[0], required[1], required[2]};
  return true;
}

CUresult launch(CUfunction handle, CUstream stream, const LaunchShape& shape, void** arguments,
                void** extra) {
  StreamCall call(stream);
  if (call.error != CUDA_SUCCESS) return call.error;
  KernelWork work;
  const CUresult made =
      make_kernel_work(call, *call.context, handle, shape, arguments, extra, &work);
  return made == CUDA_SUCCESS ? call.submit(std::move(work)) : made;
}

}  // namespace

int blocks_per_multiprocessor(const Device& device, const Function& function, int block_size,
                              std::size_t dynamic_shared) {
  BlockNeeds needs;
  needs.threads = static_cast<std::uint32_t>(block_size);
  needs.registers_per_thread =
      fitting_registers(device.preset, function.registers(), needs.threads);
  needs.shared_bytes = function.static_shared() + static_cast<std::uint32_t>(dynamic_shared);
  return occupancy_of(device.preset, needs).blocks_per_multiprocessor;
}

CUresult pack_parameters(const Function& function, void** arguments, void** extra,
                         std::vector<std::byte>* packed) {
  const ptx::Function& code = function.code();
  packed->assign(code.parameter_bytes, std::byte{0});
  if (arguments != nullptr) {
    for (std::size_t i = 0; i < code.parameters.size(); ++i) {
      if (arguments[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
      std::memcpy(packed->data() + code.parameters[i].offset, arguments[i],
                  code.parameters[i].size);
    }
    return CUDA_SUCCESS;
  }
  if (extra == nullptr) return code.parameters.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  const void* buffer = nullptr;
  std::size_t size = 0;
  for (void** item = extra; *item != CU_LAUNCH_PARAM_END; item += 2) {
    if (*item == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = item[1];
    else if (*item == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = *static_cast<std::size_t*>(item[1]);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (buffer == nullptr || size < packed->size()) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(packed->data(), buffer, packed->size());
  return CUDA_SUCCESS;
}

CUresult make_kernel_work(Section& section, Context& context, const void* handle,
                          const LaunchShape& shape, void** arguments, void** extra,
                          KernelWork* work) {
  Function* function = nullptr;
  CUresult result = find_function(section, context, handle, &function);
  if (result != CUDA_SUCCESS) return result;
  if (function->module->context != &context) return CUDA_ERROR_INVALID_CONTEXT;
  LaunchShape complete = shape;
  if (!take_required_cluster(*function, &complete.cluster)) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  result = check(*context.device, *function, complete);
  if (result != CUDA_SUCCESS) return result;
  work->function = function;
  work->grid = shape.grid;
  work->block = shape.block;
  work->cluster = complete.cluster;
  work->shared_bytes = shape.shared_bytes;
  work->cooperative = shape.cooperative;
  return pack_parameters(*function, arguments, extra, &work->parameters);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** arguments, void** extra) {
  const LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {}, shared, false};
  return launch(function, stream, shape, arguments, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** arguments) {
  const LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {}, shared, true};
  return launch(function, stream, shape, arguments, nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                          void** extra) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  LaunchShape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                    {config->blockDimX, config->blockDimY, config->blockDimZ},
                    {},
                    config->sharedMemBytes,
                    false};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      shape.cooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      shape.cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y,
                       attribute.value.clusterDim.z};
  }
  return launch(function, config->hStream, shape, arguments, extra);
}

namespace {

struct OccupancyCall : ContextCall {
  explicit OccupancyCall(const void* handle) {
    if (error == CUDA_SUCCESS) error = find_function(*this, *context, handle, &function);
  }
  int blocks(int block_size, std::size_t shared) const {
    return blocks_per_multiprocessor(*context->device, *function, block_size, shared);
  }
  Function* function = nullptr;
};

}  // namespace

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int block_size, std::size_t shared,
                                                              unsigned) {
  const OccupancyCall call(function);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (blocks == nullptr || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
  *blocks = block_size > call.function->max_threads(kMaxBlockThreads)
                ? 0
                : call.blocks(block_size, shared);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                     int block_size, std::size_t shared) {
  return driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                      shared, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* block_size,
                                                   CUfunction function,
                                                   CUoccupancyB2DSize shared_of, std::size_t shared,
                                                   int limit, unsigned) {
  const OccupancyCall call(function);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (min_grid == nullptr || block_size == nullptr) return CUDA_ERROR_INVALID_VALUE;
  int most = call.function->max_threads(kMaxBlockThreads);
  if (limit > 0) most = std::min(most, limit);
  int best_threads = -1;
  *block_size = 0;
  *min_grid = 0;
  // From large to small in whole warps; the largest of equals stands.
  for (int size = most; size > 0; size = (size - 1) / 32 * 32) {
    const int blocks = call.blocks(size, shared_of != nullptr ? shared_of(size) : shared);
    if (blocks * size <= best_threads) continue;
    best_threads = blocks * size;
    *block_size = size;
    *min_grid = blocks * call.context->device->preset.multiprocessors;
  }
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int* min_grid, int* block_size, CUfunction function,
                                          CUoccupancyB2DSize shared_of, std::size_t shared,
                                          int limit) {
  return driver::cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block_size, function,
                                                           shared_of, shared, limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function,
                                                 int blocks, int block_size) {
  const OccupancyCall call(function);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (bytes == nullptr || blocks <= 0 || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
  const Preset& preset = call.context->device->preset;
  const int each =
      std::min(preset.shared_per_multiprocessor / blocks - preset.shared_reserved_per_block,
               preset.shared_per_block_optin);
  const int left = each - static_cast<int>(call.function->static_shared());
  *bytes = static_cast<std::size_t>(std::max(left, 0)) / 128 * 128;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function,
                                            const CUlaunchConfig* config) {
  const OccupancyCall call(function);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (size == nullptr || config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *size = call.context->device->preset.compute_major >= 9 ? 8 : 1;  // the portable size
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int* count, CUfunction function,
                                      const CUlaunchConfig* config) {
  const OccupancyCall call(function);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (count == nullptr || config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  exec::Dim3 cluster;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      cluster = {config->attrs[i].value.clusterDim.x, config->attrs[i].value.clusterDim.y,
                 config->attrs[i].value.clusterDim.z};
  const int threads =
      static_cast<int>(volume({config->blockDimX, config->blockDimY, config->blockDimZ}));
  const int blocks =
      call.blocks(threads, config->sharedMemBytes) * call.context->device->preset.multiprocessors;
  *count = volume(cluster) != 0 ? blocks / static_cast<int>(volume(cluster)) : 0;
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator::driver
