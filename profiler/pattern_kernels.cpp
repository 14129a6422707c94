// SPDX-License-Identifier: Apache-2.0
#include "profiler/pattern_kernels.h"

#include <algorithm>

#include <dlfcn.h>

#include "proto/device/map_summary.h"
#include "proto/device/patches.h"

namespace drgpum::profiler {
namespace {

// The driver API's functions, from its reference; 0 is success.
struct Driver {
  int (*push)(void* context);
  int (*pop)(void** context);
  int (*exchange_capture_mode)(int* mode);
  int (*load_module)(void** module, const void* image);
  int (*get_function)(void** function, void* module, const char* name);
  int (*create_stream)(void** stream, unsigned flags);
  int (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream,
                void** parameters, void** extra);
  int (*synchronize)(void* stream);
};

template <typename Function>
bool find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

const Driver* driver() {
  static const Driver* const found = []() -> const Driver* {
    static Driver table{};
    void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);  // never closed
    const bool whole = library != nullptr && find(library, "cuCtxPushCurrent_v2", &table.push) &&
                       find(library, "cuCtxPopCurrent_v2", &table.pop) &&
                       find(library, "cuThreadExchangeStreamCaptureMode",
                            &table.exchange_capture_mode) &&
                       find(library, "cuModuleLoadData", &table.load_module) &&
                       find(library, "cuModuleGetFunction", &table.get_function) &&
                       find(library, "cuStreamCreate", &table.create_stream) &&
                       find(library, "cuLaunchKernel", &table.launch) &&
                       find(library, "cuStreamSynchronize", &table.synchronize);
    return whole ? &table : nullptr;
  }();
  return found;
}

// The context is current, and a capture of the program's does not mind our calls.
class Inside {
 public:
  explicit Inside(sanitizer::Context context) {
    entered_ = driver() != nullptr && driver()->push(context) == 0;
    if (entered_) driver()->exchange_capture_mode(&mode_);
  }
  ~Inside() {
    if (!entered_) return;
    driver()->exchange_capture_mode(&mode_);
    void* context = nullptr;
    driver()->pop(&context);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  static constexpr int kRelaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED
  int mode_ = kRelaxed;
  bool entered_ = false;
};

}  // namespace

std::unique_ptr<PatternKernels> PatternKernels::load(const sanitizer::SanitizerApi& api,
                                                     sanitizer::Context context) {
  constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
  const Inside inside(context);
  if (!inside) return nullptr;
  std::unique_ptr<PatternKernels> kernels(new PatternKernels);
  kernels->context_ = context;
  void* module = nullptr;
  const Driver& call = *driver();
  if (call.load_module(&module, device::pattern_image().data()) != 0 ||
      call.get_function(&kernels->sum_cells_, module, device::kSumCellsKernel) != 0 ||
      call.get_function(&kernels->find_runs_, module, device::kFindRunsKernel) != 0 ||
      call.create_stream(&kernels->stream_, kNonBlocking) != 0 ||
      api.get_stream_handle(context, static_cast<sanitizer::Stream>(kernels->stream_),
                            &kernels->handle_) != sanitizer::Code::kSuccess) {
    return nullptr;
  }
  return kernels;
}

bool PatternKernels::run(std::uint64_t jobs, std::uint32_t count, std::uint32_t most_parts) const {
  constexpr std::uint32_t kWarps = device::kPatternThreads / 32;
  constexpr std::uint32_t kMostBlocks = 64;  // for one map; blocks take more than one part then
  const Inside inside(context_);
  if (!inside) return false;
  void* parameters[] = {&jobs};
  const Driver& call = *driver();
  const std::uint32_t blocks = std::min((most_parts + kWarps - 1) / kWarps, kMostBlocks);
  return call.launch(sum_cells_, blocks, count, 1, device::kPatternThreads, 1, 1, 0, stream_,
                     parameters, nullptr) == 0 &&
         call.launch(find_runs_, count, 1, 1, device::kPatternThreads, 1, 1, 0, stream_, parameters,
                     nullptr) == 0 &&
         call.synchronize(stream_) == 0;
}

}  // namespace drgpum::profiler
