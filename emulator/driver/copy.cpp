// SPDX-License-Identifier: Apache-2.0
// Copies of all forms: each becomes one CopyWork.

#include "emulator/driver/copy_work.h"

namespace drgpum::emulator::driver {
namespace {

CUresult run(CUstream stream, CopyWork work, bool is_async) {
  StreamCall call(stream);
  if (call.error != CUDA_SUCCESS) return call.error;
  work.is_async = is_async;
  const bool capturing = call.on->capture != nullptr;
  if (!is_async && capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (is_async) return call.submit(std::move(work));
  // A blocking copy waits, except from device to device, as the runtime documentation says.
  const DeviceMemory& memory = *call.core().memory;
  const auto on_device = [&](const CopyEnd& end) {
    return end.array != nullptr || is_on_device(memory, end.address);
  };
  const bool waits = !on_device(work.source) || !on_device(work.destination);
  return call.submit(std::move(work), waits ? HostWaits::kYes : HostWaits::kNo);
}

std::uint64_t address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

CopyEnd linear(std::uint64_t where) {
  CopyEnd end;
  end.address = where;
  return end;
}

CUresult run_linear(CUstream stream, std::uint64_t to, std::uint64_t from, std::size_t size,
                    bool is_async) {
  CopyWork work;
  work.source = linear(from);
  work.destination = linear(to);
  work.width = size;
  return run(stream, work, is_async);
}

// The bytes of an array from an offset on, when they lie in one row.
CUresult run_with_array(CUstream stream, CUarray array, std::size_t offset, std::uint64_t other,
                        std::size_t size, bool to_array, bool is_async) {
  CopyWork work;
  CopyEnd& end = to_array ? work.destination : work.source;
  (to_array ? work.source : work.destination) = linear(other);
  {
    MachineCall call;
    end.array = call.core().arrays.get(array);
  }
  if (end.array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  end.x = offset;
  if (offset + size > end.array->bytes()) return CUDA_ERROR_INVALID_VALUE;
  work.width = size;
  return run(stream, work, is_async);
}

template <typename Form>
CUresult run_form(CUstream stream, const Form* form, bool is_async) {
  if (form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CopyWork work;
  {
    MachineCall call;
    if (const CUresult result = copy_work_of(call, *form, &work); result != CUDA_SUCCESS)
      return result;
  }
  return run(stream, work, is_async);
}

CUresult run_peer(CUstream stream, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                  CUcontext from_context, std::size_t size, bool is_async) {
  CopyWork work;
  work.source = linear(from);
  work.destination = linear(to);
  work.width = size;
  {
    MachineCall call;
    work.source.context = call.core().contexts.get(from_context);
    work.destination.context = call.core().contexts.get(to_context);
  }
  if (work.source.context == nullptr || work.destination.context == nullptr)
    return CUDA_ERROR_INVALID_CONTEXT;
  return run(stream, work, is_async);
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  return run_linear(nullptr, to, from, size, false);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return run_linear(stream, to, from, size, true);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t size) {
  return run_linear(nullptr, to, address(from), size, false);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t size, CUstream stream) {
  return run_linear(stream, to, address(from), size, true);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t size) {
  return run_linear(nullptr, address(to), from, size, false);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return run_linear(stream, address(to), from, size, true);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  return run_linear(nullptr, to, from, size, false);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return run_linear(stream, to, from, size, true);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t size) {
  return run_peer(nullptr, to, to_context, from, from_context, size, false);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t size, CUstream stream) {
  return run_peer(stream, to, to_context, from, from_context, size, true);
}

CUresult cuMemcpyDtoA(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t size) {
  return run_with_array(nullptr, to, offset, from, size, true, false);
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t size) {
  return run_with_array(nullptr, from, offset, to, size, false, false);
}
CUresult cuMemcpyHtoA(CUarray to, std::size_t offset, const void* from, std::size_t size) {
  return run_with_array(nullptr, to, offset, address(from), size, true, false);
}
CUresult cuMemcpyAtoH(void* to, CUarray from, std::size_t offset, std::size_t size) {
  return run_with_array(nullptr, from, offset, address(to), size, false, false);
}
CUresult cuMemcpyHtoAAsync(CUarray to, std::size_t offset, const void* from, std::size_t size,
                           CUstream stream) {
  return run_with_array(stream, to, offset, address(from), size, true, true);
}
CUresult cuMemcpyAtoHAsync(void* to, CUarray from, std::size_t offset, std::size_t size,
                           CUstream stream) {
  return run_with_array(stream, from, offset, address(to), size, false, true);
}
CUresult cuMemcpyAtoA(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset,
                      std::size_t size) {
  CopyWork work;
  {
    MachineCall call;
    work.source.array = call.core().arrays.get(from);
    work.destination.array = call.core().arrays.get(to);
  }
  if (work.source.array == nullptr || work.destination.array == nullptr)
    return CUDA_ERROR_INVALID_HANDLE;
  work.source.x = from_offset;
  work.destination.x = to_offset;
  work.width = size;
  return run(nullptr, work, false);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* form) {
  return run_form(nullptr, form, false);
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* form) {
  return run_form(nullptr, form, false);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* form, CUstream stream) {
  return run_form(stream, form, true);
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D* form) {
  return run_form(nullptr, form, false);
}
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* form, CUstream stream) {
  return run_form(stream, form, true);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* form) {
  return run_form(nullptr, form, false);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* form, CUstream stream) {
  return run_form(stream, form, true);
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes,
                               std::size_t count, CUmemcpyAttributes*, std::size_t*, std::size_t,
                               CUstream stream) {
  if (to == nullptr || from == nullptr || sizes == nullptr || count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    const CUresult result = run_linear(stream, to[i], from[i], sizes[i], true);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemcpyBatchAsync_v1(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes,
                               std::size_t count, CUmemcpyAttributes* attributes,
                               std::size_t* attribute_indices, std::size_t attribute_count,
                               std::size_t* failed, CUstream stream) {
  const CUresult result = driver::cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes,
                                                        attribute_indices, attribute_count, stream);
  if (result != CUDA_SUCCESS && failed != nullptr) *failed = SIZE_MAX;
  return result;
}

}  // namespace drgpum::emulator::driver
