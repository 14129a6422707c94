// SPDX-License-Identifier: Apache-2.0
#include "profiler/call_path.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

using Frames = std::vector<std::uint64_t>;

__attribute__((noinline)) std::uint64_t capture_here(RawCallPath* path) {
  capture_call_path(path);
  return reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
}

TEST(CallPath, HoldsTheReturnAddressOfTheCaller) {
  RawCallPath path;
  const std::uint64_t caller = capture_here(&path);
  EXPECT_NE(std::find(path.frames.begin(), path.frames.begin() + path.count, caller),
            path.frames.begin() + path.count);
}

TEST(CallPath, EndsBeforeTheStartUpCodeOfLibc) {
  HostModules modules;
  modules.refresh();
  RawCallPath path;
  capture_here(&path);
  const auto frames = program_part({path.frames.data(), path.count}, modules);
  ASSERT_FALSE(frames.empty());
  EXPECT_LT(frames.size(), path.count);
  EXPECT_EQ(modules.kind_of(frames.back()), FrameKind::kProgram);
}

__attribute__((noinline)) std::size_t capture_at_depth(int depth, RawCallPath* path) {
  if (depth == 0) {
    capture_call_path(path);
    return path->count;
  }
  return capture_at_depth(depth - 1, path) + 0 * static_cast<std::size_t>(depth);
}

TEST(CallPath, VeryDeepStacksAreCutAtTheOuterEnd) {
  RawCallPath path;
  volatile int depth = 100'000;
  EXPECT_LE(capture_at_depth(depth, &path), kMaxFrames);
}

TEST(CallPaths, EqualPathsHaveEqualIdsUntilAnUnload) {
  CallPaths paths;
  const auto first = paths.intern(Frames{1, 2});
  EXPECT_TRUE(first.is_new);
  EXPECT_EQ(paths.intern(Frames{1, 2}).id, first.id);
  EXPECT_FALSE(paths.intern(Frames{1, 2}).is_new);
  EXPECT_NE(paths.intern(Frames{2, 1}).id, first.id);
  EXPECT_EQ(paths.intern({}).id, CallPathId{0});
  paths.forget();
  EXPECT_NE(paths.intern(Frames{1, 2}).id, first.id);
}

TEST(HostModules, KnowTheProgramAndItsLibraries) {
  HostModules modules;
  const ModuleChanges changes = modules.refresh();
  EXPECT_TRUE(changes.unloaded.empty());
  const HostModule* own = modules.find(reinterpret_cast<std::uint64_t>(&kind_of_file));
  ASSERT_NE(own, nullptr);
  EXPECT_NE(own->path.find("call_path_test"), std::string::npos);
  EXPECT_EQ(own->kind, FrameKind::kProgram);
  const HostModule* libc =
      modules.find(reinterpret_cast<std::uint64_t>(dlsym(RTLD_DEFAULT, "getpid")));
  ASSERT_NE(libc, nullptr);
  EXPECT_EQ(libc->kind, FrameKind::kLibc);
  EXPECT_EQ(libc->build_id.size(), 40u);
  EXPECT_TRUE(modules.refresh().loaded.empty()) << "nothing came since";
}

TEST(HostModules, FollowDlopenAndDlclose) {
  HostModules modules;
  modules.refresh();
  void* library = dlopen("libanl.so.1", RTLD_NOW | RTLD_LOCAL);  // of glibc, linked by nobody
  ASSERT_NE(library, nullptr) << dlerror();
  const ModuleChanges opened = modules.refresh();
  ASSERT_EQ(opened.loaded.size(), 1u);
  EXPECT_NE(opened.loaded[0].path.find("libanl"), std::string::npos);
  dlclose(library);
  const ModuleChanges closed = modules.refresh();
  ASSERT_EQ(closed.unloaded.size(), 1u);
  EXPECT_EQ(closed.unloaded[0], opened.loaded[0].id);
}

TEST(HostModules, CudaAndLibcAreToldByTheirNames) {
  EXPECT_EQ(kind_of_file("/opt/lib/libcudart.so.13"), FrameKind::kCuda);
  EXPECT_EQ(kind_of_file("libcuda.so.1"), FrameKind::kCuda);
  EXPECT_EQ(kind_of_file("/x/libdrgpum.so"), FrameKind::kCuda);
  EXPECT_EQ(kind_of_file("/lib/x86_64-linux-gnu/libc.so.6"), FrameKind::kLibc);
  EXPECT_EQ(kind_of_file("/usr/lib/libcublas.so.13"), FrameKind::kProgram);
}

}  // namespace
}  // namespace drgpum::profiler
