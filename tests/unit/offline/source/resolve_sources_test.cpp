// SPDX-License-Identifier: Apache-2.0
// Call paths of a trace to frames: module map, return addresses, cut frames, the allocation's site.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "offline/source/elf_file.h"
#include "offline/source/source_map.h"
#include "proto/trace/trace_text.h"

namespace drgpum {
namespace {

using trace::trace_from_text;

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

constexpr std::uint64_t kBase = 0x555500000000;

enum class Part { kBegin, kEnd };  // of a function: its first line, its last

// A return address in a function of the sample, as mapped at `base`.
std::uint64_t in_function(const std::string& name, Part part = Part::kBegin,
                          std::uint64_t base = kBase) {
  for (const ElfFunction& function : ElfFile::open(CALL_PATH_SAMPLE)->functions())
    if (function.name == name)
      return base + (part == Part::kBegin ? function.begin + 2 : function.end);
  ADD_FAILURE() << name;
  return 0;
}

constexpr const char* kGet = "_ZN6sample10get_memoryEi";
constexpr const char* kReserve = "_ZN6sample12reserve_moreEi";

Trace load(const std::string& text) {
  auto records = trace_from_text(text);
  EXPECT_TRUE(records) << records.error().message;
  return *load_trace(*records);
}

std::string module_line(const std::string& name, std::uint64_t base, const std::string& path) {
  return "module " + name + " " + hex(base) + " " + hex(base + 0x100000) + " path=\"" + path +
         "\"\n";
}

std::string names_of(const PathFrames& path) {
  std::string names;
  for (const PathFrame& frame : path.frames)
    names += std::string(frame.function) + (frame.inlined ? " < " : "; ");
  return names;
}

TEST(ResolveSourcesTest, ReturnAddressesBecomeLines) {
  const Trace loaded =
      load(module_line("app", kBase, CALL_PATH_SAMPLE) + "path P " + hex(in_function(kGet)) + " " +
           hex(in_function("main")) + "\nalloc A 64 path=P\n");
  const SourceMap map = resolve_sources(loaded, {});
  const PathFrames& path = map.path({1});
  ASSERT_EQ(names_of(path), "sample::get_memory(int); main; ");
  EXPECT_TRUE(path.frames[0].file.ends_with("call_path_sample.cpp"));
  EXPECT_EQ(path.frames[0].line, 6u);
  EXPECT_EQ(path.site, 0u);
  ASSERT_EQ(map.modules().size(), 1u);
  EXPECT_EQ(map.modules()[0].with_lines, 2u);
  EXPECT_EQ(map.modules()[0].problem, "");
  EXPECT_TRUE(map.path({9}).frames.empty());
}

TEST(ResolveSourcesTest, FramesOfTheSystemAreCutUnlessAskedFor) {
  const std::uint64_t libc = 0x7fff00000000;
  const std::string text =
      module_line("libc", libc, "/lib/libc.so.6") + module_line("app", kBase, CALL_PATH_SAMPLE) +
      "path P " + hex(in_function(kGet)) + " " + hex(in_function("main")) + " " +
      hex(libc + 0x1001) + " " + hex(in_function("_start")) + " 0x10\nalloc A 64 path=P\n";
  EXPECT_EQ(names_of(resolve_sources(load(text), {}).path({1})), "sample::get_memory(int); main; ");
  SourceOptions full;
  full.full_stacks = true;
  EXPECT_EQ(names_of(resolve_sources(load(text), full).path({1})),
            "sample::get_memory(int); main; libc.so.6+0x1000; _start; 0x10; ");
}

TEST(ResolveSourcesTest, AModuleAtAReusedAddressIsToldApart) {
  const std::string frame = hex(kBase + 0x1001);
  const Trace loaded =
      load(module_line("one", kBase, "/gone/libone.so") + "path P " + frame +
           "\nalloc A 64 path=P\nend-module one\n" + module_line("two", kBase, "/gone/libtwo.so") +
           "path Q " + frame + "\nalloc B 64 path=Q\n");
  const SourceMap map = resolve_sources(loaded, {});
  EXPECT_EQ(names_of(map.path({1})), "libone.so+0x1000; ");
  EXPECT_EQ(names_of(map.path({2})), "libtwo.so+0x1000; ");
  ASSERT_EQ(map.modules().size(), 2u);
  EXPECT_EQ(map.modules()[0].problem, "/gone/libone.so: No such file or directory");
}

// reserve_more() has two callers, or allocates besides other work, or at two lines.
TEST(ResolveSourcesTest, TheSiteLiesOutsideFunctionsThatOnlyAllocate) {
  const std::string reserve = hex(in_function(kReserve));
  const std::string other_line = hex(in_function(kReserve, Part::kEnd));
  const std::string main1 = hex(in_function("main"));
  const std::string main2 = hex(in_function("main", Part::kEnd));
  const auto site = [&](const std::string& more) {
    const Trace loaded = load(module_line("app", kBase, CALL_PATH_SAMPLE) + "path P " + reserve +
                              " " + main1 + "; path Q " + reserve + " " + main2 + "; path R " +
                              other_line + " " + main1 + "\nalloc A 64 path=P\n" + more);
    const SourceMap map = resolve_sources(loaded, {});
    const PathFrames& path = map.path({1});
    return std::string(path.frames[path.site].function);
  };
  EXPECT_EQ(site(""), "sample::reserve_more(int)");
  EXPECT_EQ(site("alloc B 64 path=Q"), "main");
  EXPECT_EQ(site("alloc B 64 path=Q; launch k path=P"), "sample::reserve_more(int)");
  EXPECT_EQ(site("alloc B 64 path=Q; alloc C 64 path=R"), "sample::reserve_more(int)");
}

// nvcc makes a host function of the kernel's name and place, which launches it.
TEST(ResolveSourcesTest, ALaunchIsPlacedWhereItWasWritten) {
  const Trace loaded =
      load(module_line("app", kBase, CALL_PATH_SAMPLE) + "path P " + hex(in_function(kReserve)) +
           " " + hex(in_function("main")) + "\nlaunch _ZN6sample12reserve_moreEi path=P\n");
  EXPECT_EQ(names_of(resolve_sources(loaded, {}).path({1})), "main; ");
}

// The second time the module is gone, and the lines are still there.
TEST(ResolveSourcesTest, LinesThatWereFoundOnceAreKept) {
  const std::string folder = "/tmp/drgpum-resolve-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  std::filesystem::copy(CALL_PATH_SAMPLE, folder + "/app");
  const std::string build_id = ElfFile::open(CALL_PATH_SAMPLE)->build_id();
  ASSERT_FALSE(build_id.empty());
  const Trace loaded = load("module app " + hex(kBase) + " " + hex(kBase + 0x100000) + " path=\"" +
                            folder + "/app\" build-id=" + build_id + "\npath P " +
                            hex(in_function(kGet)) + "\nalloc A 64 path=P\n");
  SourceOptions options;
  options.cache_directory = folder + "/cache";
  EXPECT_EQ(resolve_sources(loaded, options).path({1}).frames.at(0).line, 6u);
  std::filesystem::remove(folder + "/app");
  EXPECT_EQ(resolve_sources(loaded, options).path({1}).frames.at(0).line, 6u);
  EXPECT_EQ(resolve_sources(loaded, {}).path({1}).frames.at(0).line, 0u);
  std::filesystem::remove_all(folder);
}

TEST(ResolveSourcesTest, NothingIsReadForATraceWithoutCallPaths) {
  const SourceMap map =
      resolve_sources(load(module_line("app", kBase, CALL_PATH_SAMPLE) + "alloc A 64"), {});
  EXPECT_TRUE(map.modules().empty());
}

}  // namespace
}  // namespace drgpum
