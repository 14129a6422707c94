// SPDX-License-Identifier: Apache-2.0
// Errors: the last one of a thread, their names and their texts.
#include <algorithm>
#include <array>

#include "emulator/runtime/api.h"

namespace drgpum::emulator::runtime {
namespace {

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;  // null: the driver's text for the same number
};

#define TEXT(error, text)                      \
  ErrorText {                                  \
    cudaError##error, "cudaError" #error, text \
  }

// Errors that the runtime alone gives have their texts here; the rest is the driver's.
constexpr ErrorText kErrors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    TEXT(InvalidValue, "invalid argument"),
    TEXT(MemoryAllocation, "out of memory"),
    TEXT(InitializationError, "initialization failed"),
    TEXT(CudartUnloading, "the runtime is being unloaded"),
    TEXT(ProfilerDisabled, nullptr),
    TEXT(InvalidConfiguration, "the device cannot run this launch configuration"),
    TEXT(InvalidPitchValue, "invalid pitch"),
    TEXT(InvalidSymbol, "not a device variable"),
    TEXT(InvalidHostPointer, "not a host pointer"),
    TEXT(InvalidDevicePointer, "not a device pointer"),
    TEXT(InvalidTexture, "invalid texture reference"),
    TEXT(InvalidTextureBinding, "the texture is bound to nothing"),
    TEXT(InvalidChannelDescriptor, "invalid channel descriptor"),
    TEXT(InvalidMemcpyDirection, "invalid copy direction"),
    TEXT(InvalidFilterSetting, "invalid filter setting"),
    TEXT(InvalidNormSetting, "invalid normalization setting"),
    TEXT(StubLibrary, nullptr),
    TEXT(InsufficientDriver, "the CUDA driver is missing or too old for this runtime"),
    TEXT(CallRequiresNewerDriver, "the call needs a newer CUDA driver"),
    TEXT(InvalidSurface, "invalid surface reference"),
    TEXT(DuplicateVariableName, "a global variable's name is used twice"),
    TEXT(DuplicateTextureName, "a texture's name is used twice"),
    TEXT(DuplicateSurfaceName, "a surface's name is used twice"),
    TEXT(DevicesUnavailable, "every CUDA device is busy"),
    TEXT(IncompatibleDriverContext, "the current context does not fit the runtime"),
    TEXT(MissingConfiguration, "launch without a configuration"),
    TEXT(LaunchMaxDepthExceeded, "launch nesting is too deep"),
    TEXT(LaunchFileScopedTex, "file-scoped texture in a launch from a kernel"),
    TEXT(LaunchFileScopedSurf, "file-scoped surface in a launch from a kernel"),
    TEXT(SyncDepthExceeded, "synchronization nesting is too deep"),
    TEXT(LaunchPendingCountExceeded, "too many pending launches from kernels"),
    TEXT(InvalidDeviceFunction, "not a device function"),
    TEXT(NoDevice, "no CUDA device was found"),
    TEXT(InvalidDevice, "no device has this number"),
    TEXT(DeviceNotLicensed, nullptr),
    TEXT(SoftwareValidityNotEstablished, "the runtime's self-check failed"),
    TEXT(StartupFailure, "the runtime could not start"),
    TEXT(InvalidKernelImage, nullptr),
    TEXT(DeviceUninitialized, nullptr),
    TEXT(MapBufferObjectFailed, nullptr),
    TEXT(UnmapBufferObjectFailed, nullptr),
    TEXT(ArrayIsMapped, nullptr),
    TEXT(AlreadyMapped, nullptr),
    TEXT(NoKernelImageForDevice, nullptr),
    TEXT(AlreadyAcquired, nullptr),
    TEXT(NotMapped, nullptr),
    TEXT(NotMappedAsArray, nullptr),
    TEXT(NotMappedAsPointer, nullptr),
    TEXT(ECCUncorrectable, nullptr),
    TEXT(UnsupportedLimit, nullptr),
    TEXT(DeviceAlreadyInUse, nullptr),
    TEXT(PeerAccessUnsupported, nullptr),
    TEXT(InvalidPtx, nullptr),
    TEXT(InvalidGraphicsContext, nullptr),
    TEXT(NvlinkUncorrectable, nullptr),
    TEXT(JitCompilerNotFound, nullptr),
    TEXT(UnsupportedPtxVersion, nullptr),
    TEXT(JitCompilationDisabled, nullptr),
    TEXT(UnsupportedExecAffinity, nullptr),
    TEXT(UnsupportedDevSideSync, nullptr),
    TEXT(InvalidSource, nullptr),
    TEXT(FileNotFound, nullptr),
    TEXT(SharedObjectSymbolNotFound, nullptr),
    TEXT(SharedObjectInitFailed, nullptr),
    TEXT(OperatingSystem, nullptr),
    TEXT(InvalidResourceHandle, nullptr),
    TEXT(IllegalState, nullptr),
    TEXT(LossyQuery, nullptr),
    TEXT(SymbolNotFound, nullptr),
    TEXT(NotReady, nullptr),
    TEXT(IllegalAddress, nullptr),
    TEXT(LaunchOutOfResources, nullptr),
    TEXT(LaunchTimeout, nullptr),
    TEXT(LaunchIncompatibleTexturing, nullptr),
    TEXT(PeerAccessAlreadyEnabled, nullptr),
    TEXT(PeerAccessNotEnabled, nullptr),
    TEXT(SetOnActiveProcess, "the primary context exists already"),
    TEXT(ContextIsDestroyed, nullptr),
    TEXT(Assert, nullptr),
    TEXT(TooManyPeers, nullptr),
    TEXT(HostMemoryAlreadyRegistered, nullptr),
    TEXT(HostMemoryNotRegistered, nullptr),
    TEXT(HardwareStackError, nullptr),
    TEXT(IllegalInstruction, nullptr),
    TEXT(MisalignedAddress, nullptr),
    TEXT(InvalidAddressSpace, nullptr),
    TEXT(InvalidPc, nullptr),
    TEXT(LaunchFailure, nullptr),
    TEXT(CooperativeLaunchTooLarge, nullptr),
    TEXT(NotPermitted, nullptr),
    TEXT(NotSupported, nullptr),
    TEXT(SystemNotReady, nullptr),
    TEXT(SystemDriverMismatch, nullptr),
    TEXT(CompatNotSupportedOnDevice, nullptr),
    TEXT(StreamCaptureUnsupported, nullptr),
    TEXT(StreamCaptureInvalidated, nullptr),
    TEXT(StreamCaptureMerge, nullptr),
    TEXT(StreamCaptureUnmatched, nullptr),
    TEXT(StreamCaptureUnjoined, nullptr),
    TEXT(StreamCaptureIsolation, nullptr),
    TEXT(StreamCaptureImplicit, nullptr),
    TEXT(CapturedEvent, nullptr),
    TEXT(StreamCaptureWrongThread, nullptr),
    TEXT(Timeout, nullptr),
    TEXT(GraphExecUpdateFailure, nullptr),
    TEXT(ExternalDevice, nullptr),
    TEXT(InvalidClusterSize, nullptr),
    TEXT(FunctionNotLoaded, nullptr),
    TEXT(InvalidResourceType, nullptr),
    TEXT(InvalidResourceConfiguration, nullptr),
    TEXT(Unknown, nullptr),
    TEXT(ApiFailureBase, "an unspecified API failure"),
};

const ErrorText* find_error(cudaError_t error) {
  const auto* found = std::ranges::find(kErrors, error, &ErrorText::error);
  return found == std::end(kErrors) ? nullptr : found;
}

// Asking for the last error is a call as any other, but what it returns is not its own error.
cudaError_t ask(std::uint32_t id, const char* name, cudaError_t (*get)()) {
  ApiScope scope(id, name, nullptr);
  return scope.pass(get());
}

}  // namespace

extern "C" DRGPUM_EXPORT cudaError_t cudaGetLastError() {
  return ask(CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020, "cudaGetLastError", take_error);
}

extern "C" DRGPUM_EXPORT cudaError_t cudaPeekAtLastError() {
  return ask(CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020, "cudaPeekAtLastError", peek_error);
}

extern "C" DRGPUM_EXPORT const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* found = find_error(error);
  return found == nullptr ? "unrecognized error code" : found->name;
}

extern "C" DRGPUM_EXPORT const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* found = find_error(error);
  if (found != nullptr && found->text != nullptr) return found->text;
  const char* text = nullptr;
  const auto code = static_cast<CUresult>(error);
  if (CU(cuGetErrorString)(code, &text) == CUDA_SUCCESS && text != nullptr) return text;
  return found == nullptr ? "unrecognized error code" : found->name;
}

}  // namespace drgpum::emulator::runtime
