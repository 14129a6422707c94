// SPDX-License-Identifier: Apache-2.0
// Which frames are the developer's, which functions allocate for others.
#include "offline/source/frame_rules.h"

#include <gtest/gtest.h>

namespace drgpum {
namespace {

TEST(FrameRulesTest, SystemModulesAreKnownByName) {
  EXPECT_TRUE(is_system_module("/usr/lib/x86_64-linux-gnu/libc.so.6"));
  EXPECT_TRUE(is_system_module("/lib64/ld-linux-x86-64.so.2"));
  EXPECT_TRUE(is_system_module("/opt/drgpum/lib/libcudart.so.13"));
  EXPECT_TRUE(is_system_module("/opt/drgpum/lib/libdrgpum.so"));
  EXPECT_FALSE(is_system_module("/home/me/app"));
  EXPECT_FALSE(is_system_module("/home/libc.so/libcublasx.so"));
  EXPECT_FALSE(is_system_module("/usr/lib/libmine.so"));
}

TEST(FrameRulesTest, PackagesOfPythonAreKnownByPlace) {
  EXPECT_TRUE(is_package_module("/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311.so"));
  EXPECT_TRUE(is_package_module("/home/me/env/lib/python3.11/site-packages/torch/lib/libtorch.so"));
  EXPECT_TRUE(is_package_module("/usr/lib/x86_64-linux-gnu/libffi.so.8.1.2"));
  EXPECT_TRUE(is_package_module("/usr/bin/python3.11"));
  EXPECT_FALSE(is_package_module("/home/me/python/kernels.cpython-311.so"));
}

TEST(FrameRulesTest, SystemFilesAreKnownByPlace) {
  EXPECT_TRUE(is_system_file("/usr/local/cuda-13.0/include/cuda_runtime.h"));
  EXPECT_TRUE(is_system_file("/tmp/toolkit/include/cuda_runtime.h"));
  EXPECT_TRUE(is_system_file("/usr/include/c++/12/bits/stl_vector.h"));
  EXPECT_TRUE(is_system_file("/opt/gcc/include/c++/12/new"));
  EXPECT_TRUE(is_system_file("../sysdeps/nptl/libc_start_call_main.h"));
  EXPECT_FALSE(is_system_file("/home/me/cuda/main.cu"));
  EXPECT_FALSE(is_system_file("/home/me/my_cuda_runtime.h"));
  EXPECT_FALSE(is_system_file(""));
}

// What an atomic operation, a half, a group or a scan of cub leaves as innermost line in a kernel.
TEST(FrameRulesTest, HeadersOfAToolkitAnywhereAreTheSystems) {
  EXPECT_TRUE(is_system_file("/home/me/cu13/bin/..//include/device_atomic_functions.hpp"));
  EXPECT_TRUE(is_system_file("/apps/cuda/12.4/include/sm_60_atomic_functions.hpp"));
  EXPECT_TRUE(is_system_file("/apps/cuda/12.4/include/sm_30_intrinsics.hpp"));
  EXPECT_TRUE(is_system_file("/apps/cuda/12.4/include/cuda_fp16.hpp"));
  EXPECT_TRUE(is_system_file("/apps/cuda/12.4/include/cooperative_groups/details/reduce.h"));
  EXPECT_TRUE(is_system_file("/apps/cuda/13.0/include/cccl/cub/block/block_scan.cuh"));
  EXPECT_TRUE(is_system_file("/apps/cuda/12.4/include/cuda/std/detail/libcxx/include/atomic"));
  EXPECT_TRUE(is_system_file("/home/me/conda/targets/x86_64-linux/include/surface_types.h"));
  EXPECT_TRUE(is_system_file("/env/site-packages/nvidia/cuda_runtime/include/a.hpp"));
  EXPECT_TRUE(is_system_file("/home/me/build/_deps/cccl-src/thrust/thrust/for_each.h"));
  EXPECT_FALSE(is_system_file("/home/me/cuda/include/device_kernels.hpp"));
  EXPECT_FALSE(is_system_file("/home/me/cuda/include/kernels.cuh"));
  EXPECT_FALSE(is_system_file("/home/me/app/sm_kernels.hpp"));
  EXPECT_FALSE(is_system_file("/home/me/bin/../include/kernels.cuh"));
  EXPECT_FALSE(is_system_file("/home/me/cub/kernels.cu"));
}

TEST(FrameRulesTest, StartUpIsKnown) {
  EXPECT_TRUE(is_start_up("_start"));
  EXPECT_TRUE(is_start_up("__libc_start_main@@GLIBC_2.34"));
  EXPECT_TRUE(is_start_up("__libc_start_main_impl"));
  EXPECT_FALSE(is_start_up("main"));
  EXPECT_FALSE(is_start_up("_start_all()"));
}

TEST(FrameRulesTest, LaunchStubsAreKnown) {
  EXPECT_TRUE(is_launch_stub("__device_stub__Z4gemmPf(float*)", "/tmp/a.cu"));
  EXPECT_TRUE(is_launch_stub("void __wrapper__device_stub_gemm<float>(float*&)", "/tmp/a.cu"));
  EXPECT_TRUE(is_launch_stub("f", "/tmp/tmpxft_00001_00000-6_a.cudafe1.stub.c"));
  EXPECT_FALSE(is_launch_stub("f", "/tmp/tmpxft_00001_00000-6_a.cudafe1.cpp"));
  EXPECT_FALSE(is_launch_stub("gemm(float*)", "/tmp/a.cu"));
}

TEST(FrameRulesTest, FilesOfTheHostPassNameTheirSource) {
  EXPECT_EQ(generated_from("/tmp/tmpxft_00007823_00000000-6_my_app.cudafe1.cpp"), "my_app");
  EXPECT_EQ(generated_from("/tmp/tmpxft_00007823_00000000-6_my_app.cudafe1.stub.c"), "");
  EXPECT_EQ(generated_from("/tmp/my_app.cu"), "");
}

TEST(FrameRulesTest, NamesLoseWhatIsAroundThem) {
  EXPECT_EQ(unqualified("main"), "main");
  EXPECT_EQ(unqualified("drgpum::Pool<float>::get(int) const"), "get");
  EXPECT_EQ(unqualified("int sample::(anonymous namespace)::outer<int>(int)"), "outer");
  EXPECT_EQ(unqualified("std::vector<int, std::allocator<int> >::push_back(int const&)"),
            "push_back");
  EXPECT_EQ(unqualified("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(unqualified(""), "");
}

TEST(FrameRulesTest, AllocatorsAreKnownByTheirOwnNameOnly) {
  EXPECT_TRUE(has_allocator_name("my_malloc(unsigned long)"));
  EXPECT_TRUE(has_allocator_name("Pool<float>::allocate(int)"));
  EXPECT_TRUE(has_allocator_name("operator new(unsigned long)"));
  EXPECT_TRUE(has_allocator_name("deviceAlloc"));
  EXPECT_FALSE(has_allocator_name("std::vector<int, std::allocator<int> >::push_back(int const&)"));
  EXPECT_FALSE(has_allocator_name("Allocator::run()"));
  EXPECT_TRUE(has_allocator_name("gpu::Buffer<float>::Buffer(unsigned long)"));
  EXPECT_FALSE(has_allocator_name("gpu::Buffer<float>::~Buffer()"));
  EXPECT_FALSE(has_allocator_name("Buffer"));
  EXPECT_FALSE(has_allocator_name("deallocate(void*)"));
  EXPECT_FALSE(has_allocator_name("main"));
}

TEST(FrameRulesTest, FramesOfTheFrameworkAreNotTheDevelopers) {
  for (const char* file :
       {"", "??", "<frozen runpy>", "/v/lib/python3.12/threading.py", "Objects/methodobject.c",
        "/v/site-packages/torch/nn/modules/module.py", "/tmp/torchinductor_me/ab/cab.py"})
    EXPECT_TRUE(is_framework_frame("f", file)) << file;
  EXPECT_TRUE(is_framework_frame("torch::autograd::Engine::run()", "engine.cpp"));
  EXPECT_FALSE(is_framework_frame("forward", "/home/me/model/attention.py"));
  EXPECT_FALSE(is_framework_frame("at::home", "/home/me/at.py"));
}

}  // namespace
}  // namespace drgpum
