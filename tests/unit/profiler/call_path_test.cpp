// SPDX-License-Identifier: Apache-2.0
#include "profiler/call_path.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unwind.h>

#include "profiler/unwind_rule.h"

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

// ThreadSanitizer keeps at most 65,536 callers.
__attribute__((noinline, no_sanitize("thread"))) std::size_t capture_at_depth(int depth, RawCallPath* path) {
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

// libgcc's unwinder is the reference.
Frames reference_path() {
  Frames frames;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* out) {
        if (_Unwind_GetIP(context) != 0) {
          static_cast<Frames*>(out)->push_back(_Unwind_GetIP(context));
        }
        return _URC_NO_REASON;
      },
      &frames);
  return frames;
}

// The outer frames, from the caller of compare_with_reference() on.
std::string compare_with_reference() {
  RawCallPath path;
  capture_call_path(&path);
  const Frames reference = reference_path();
  Frames own(path.frames.begin(), path.frames.begin() + path.count);
  const std::size_t outer = std::min(own.size(), reference.size()) - 2;
  const bool equal = std::equal(own.end() - static_cast<std::ptrdiff_t>(outer), own.end(),
                                reference.end() - static_cast<std::ptrdiff_t>(outer));
  return equal && outer > 2 ? "equal" : "different";
}

TEST(CallPath, AgreesWithTheUnwinderOfLibgcc) {
  EXPECT_EQ(compare_with_reference(), "equal");
  std::string in_thread;
  std::thread([&] { in_thread = compare_with_reference(); }).join();
  EXPECT_EQ(in_thread, "equal");
  int seven = 7;
  std::string in_qsort;  // out of libc, through frames that keep no frame pointer
  static std::string* result = nullptr;
  result = &in_qsort;
  int numbers[2] = {seven, 3};
  std::qsort(numbers, 2, sizeof(int), [](const void*, const void*) {
    *result = compare_with_reference();
    return 0;
  });
  EXPECT_EQ(in_qsort, "equal");
}

__attribute__((noinline)) std::string with_a_variable_array(std::size_t size) {
  volatile auto* room = static_cast<volatile char*>(__builtin_alloca(size));
  room[0] = 1;
  return compare_with_reference();
}

TEST(CallPath, FramesOfVariableSizeAreNoObstacle) {
  for (const std::size_t size : {1u, 100u, 5000u}) {
    EXPECT_EQ(with_a_variable_array(size), "equal");
  }
}

// Every function of this program and of the C library: the rule that is read must be one that the
// walk can use, but for a few.
TEST(UnwindRule, CoversAlmostAllOfTheCodeThatIsLoaded) {
  int known = 0, others = 0;
  for (const auto begin : {reinterpret_cast<std::uint64_t>(dlsym(RTLD_DEFAULT, "qsort")),
                           reinterpret_cast<std::uint64_t>(dlsym(RTLD_DEFAULT, "printf")),
                           reinterpret_cast<std::uint64_t>(&compare_with_reference)}) {
    for (std::uint64_t at = begin; at < begin + 20'000; ++at) {
      const UnwindRule rule = read_unwind_rule(at);
      EXPECT_EQ(rule, unwind_rule_at(at));
      known += rule.kind != UnwindRule::kEnd;
      others += rule.kind == UnwindRule::kOther;
    }
  }
  EXPECT_GT(known, 30'000);
  EXPECT_LT(others * 100, known);
  forget_unwind_rules();
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
