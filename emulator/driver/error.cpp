// SPDX-License-Identifier: Apache-2.0
// Names of errors, and what they mean in our words.

#include <array>
#include <utility>

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {

extern const ErrorName kErrorNames[];
extern const std::size_t kErrorNameCount;

namespace {

using Row = std::pair<CUresult, const char*>;

constexpr std::array kMeanings = {
    Row{CUDA_SUCCESS, "no error"},
    Row{CUDA_ERROR_INVALID_VALUE, "invalid argument"},
    Row{CUDA_ERROR_OUT_OF_MEMORY, "out of memory"},
    Row{CUDA_ERROR_NOT_INITIALIZED, "the driver is not initialized"},
    Row{CUDA_ERROR_DEINITIALIZED, "the driver is shutting down"},
    Row{CUDA_ERROR_NO_DEVICE, "there is no CUDA device"},
    Row{CUDA_ERROR_INVALID_DEVICE, "invalid device number"},
    Row{CUDA_ERROR_INVALID_IMAGE, "the device code cannot be read"},
    Row{CUDA_ERROR_INVALID_CONTEXT, "no valid context is current"},
    Row{CUDA_ERROR_NO_BINARY_FOR_GPU, "the program has no code that this device can run"},
    Row{CUDA_ERROR_INVALID_PTX, "the PTX code is not valid"},
    Row{CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the PTX code needs what this device does not do"},
    Row{CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "the devices cannot reach each other's memory"},
    Row{CUDA_ERROR_FILE_NOT_FOUND, "file not found"},
    Row{CUDA_ERROR_INVALID_HANDLE, "invalid handle"},
    Row{CUDA_ERROR_ILLEGAL_STATE, "the object is in the wrong state"},
    Row{CUDA_ERROR_NOT_FOUND, "no symbol of that name"},
    Row{CUDA_ERROR_NOT_READY, "the work is not finished yet"},
    Row{CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel accessed memory that is not allocated"},
    Row{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "the launch asks for too many resources"},
    Row{CUDA_ERROR_LAUNCH_TIMEOUT, "a kernel did not come to an end"},
    Row{CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is enabled already"},
    Row{CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access is not enabled"},
    Row{CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "the primary context is in use"},
    Row{CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context has been destroyed"},
    Row{CUDA_ERROR_ASSERT, "an assertion in a kernel failed"},
    Row{CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "the host memory is registered already"},
    Row{CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "the host memory is not registered"},
    Row{CUDA_ERROR_HARDWARE_STACK_ERROR, "the stack of a kernel overflowed"},
    Row{CUDA_ERROR_ILLEGAL_INSTRUCTION, "a kernel ran into an illegal instruction"},
    Row{CUDA_ERROR_MISALIGNED_ADDRESS, "a kernel accessed a misaligned address"},
    Row{CUDA_ERROR_LAUNCH_FAILED, "a kernel failed"},
    Row{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        "the cooperative launch has more blocks than the device holds at once"},
    Row{CUDA_ERROR_NOT_PERMITTED, "the operation is not permitted"},
    Row{CUDA_ERROR_NOT_SUPPORTED, "the operation is not supported"},
    Row{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "not permitted while a stream is captured"},
    Row{CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture was spoiled by an earlier error"},
    Row{CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the stream is not the one whose capture began"},
    Row{CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "captured work was not joined to the first stream"},
    Row{CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "captured work would wait for work outside"},
    Row{CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the default stream would wait for a capture"},
    Row{CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capture"},
    Row{CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture began on another thread"},
    Row{CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graph differs too much for an update"},
    Row{CUDA_ERROR_UNKNOWN, "unknown error"},
};

const char* name_of(CUresult error) {
  for (std::size_t i = 0; i < kErrorNameCount; ++i)
    if (kErrorNames[i].code == error) return kErrorNames[i].name;
  return nullptr;
}

}  // namespace

CUresult cuGetErrorName(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = name_of(error);
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = name_of(error);
  for (const auto& [code, meaning] : kMeanings)
    if (code == error) *text = meaning;
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace drgpum::emulator::driver
