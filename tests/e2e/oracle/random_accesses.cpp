// SPDX-License-Identifier: Apache-2.0
// A random program: random_accesses SEED. Objects come and go out of order, random kernels use
// them. What its kernels really access is in the emulated device's access log.

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <cuda.h>

#include "tests/e2e/oracle/random_kernel.h"

namespace {

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "?";
  cuGetErrorName(result, &name);
  std::fprintf(stderr, "random_accesses: %s: %s\n", what, name);
  std::exit(1);
}
#define CHECK(call) check(call, #call)

struct Object {
  CUdeviceptr address = 0;
  std::size_t size = 0;
};

class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed), seed_(seed) {}

  void run() {
    for (unsigned i = 0; i < drgpum::oracle::kBuffers; ++i)
      allocate();
    const unsigned steps = 12 + pick(20);
    for (unsigned i = 0; i < steps; ++i)
      step();
    CHECK(cuCtxSynchronize());
    while (!objects_.empty())
      release();
  }

 private:
  unsigned pick(unsigned count) {
    return std::uniform_int_distribution<unsigned>(0, count - 1)(random_);
  }

  void step() {
    switch (pick(8)) {
      case 0:
        return allocate();
      case 1:
        if (objects_.size() > drgpum::oracle::kBuffers) release();
        return;
      case 2: {
        const Object& object = objects_[pick(static_cast<unsigned>(objects_.size()))];
        return CHECK(cuMemsetD8(object.address, 1, object.size));
      }
      case 3:
        return CHECK(cuCtxSynchronize());
      default:
        return launch();
    }
  }

  void allocate() {
    Object object;
    object.size = drgpum::oracle::kLeastBytes + pick(pick(4) == 0 ? 40000 : 600);
    if (pick(5) == 0)
      CHECK(cuMemAllocAsync(&object.address, object.size, nullptr));
    else
      CHECK(cuMemAlloc(&object.address, object.size));
    objects_.push_back(object);
  }

  void release() {
    const unsigned which = pick(static_cast<unsigned>(objects_.size()));
    CHECK(cuMemFree(objects_[which].address));
    objects_.erase(objects_.begin() + which);
  }

  // Of a new kernel, or of one that ran before.
  void launch() {
    if (kernels_.empty() || pick(3) != 0) {
      const std::string name =
          "random_" + std::to_string(seed_) + "_" + std::to_string(kernels_.size());
      const std::string text = drgpum::oracle::random_kernel(random_, name);
      CUmodule module = nullptr;
      CUfunction function = nullptr;
      CHECK(cuModuleLoadData(&module, text.c_str()));
      CHECK(cuModuleGetFunction(&function, module, name.c_str()));
      kernels_.push_back(function);
    }
    CUdeviceptr addresses[drgpum::oracle::kBuffers];
    unsigned sizes[drgpum::oracle::kBuffers];
    std::vector<void*> arguments;
    for (unsigned i = 0; i < drgpum::oracle::kBuffers; ++i) {
      const Object& object = objects_[pick(static_cast<unsigned>(objects_.size()))];
      addresses[i] = object.address;
      sizes[i] = static_cast<unsigned>(object.size);
    }
    for (auto& address : addresses)
      arguments.push_back(&address);
    for (auto& size : sizes)
      arguments.push_back(&size);
    constexpr unsigned kBlocks[] = {1, 31, 32, 64, 100, 130, 256};
    CHECK(cuLaunchKernel(kernels_[pick(static_cast<unsigned>(kernels_.size()))], 1 + pick(3), 1, 1,
                         kBlocks[pick(7)], 1, 1, 0, nullptr, arguments.data(), nullptr));
  }

  std::mt19937 random_;
  unsigned seed_;
  std::vector<Object> objects_;
  std::vector<CUfunction> kernels_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: random_accesses SEED\n", stderr);
    return 2;
  }
  CHECK(cuInit(0));
  CUdevice device = 0;
  CUcontext context = nullptr;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  RandomProgram(static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10))).run();
  CHECK(cuDevicePrimaryCtxRelease(device));
  return 0;
}
