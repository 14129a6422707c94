// SPDX-License-Identifier: Apache-2.0
// Images beside a trace, found by name and by hash; access sites summed by line.
#include "offline/source/access_lines.h"
#include "offline/source/device_lines.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "proto/trace/trace_text.h"

namespace drgpum {
namespace {

constexpr const char* kPtx =
    ".version 9.0\n.entry _Z5saxpyPf()\n{\n.loc 1 3 1\nld.global.f32 %f1, [%rd1];\n.loc 1 4 1\n"
    "st.global.f32 [%rd1], %f1;\n.loc 2 9 1, function_name $s, inlined_at 1 5 1\n"
    "st.global.f32 [%rd1], %f1;\nret;\n}\n.file 1 \"/build/saxpy.cu\"\n"
    ".file 2 \"/usr/include/c++/12/cmath\"\n.section .debug_str {\n$s:\n.b8 95,90,49,102,118,0\n}\n";

class DeviceLinesTest : public testing::Test {
 protected:
  DeviceLinesTest() : folder_("/tmp/drgpum-device-lines-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~DeviceLinesTest() override { std::filesystem::remove_all(folder_); }

  // The image lies where the symbol path leads, by its hash.
  Trace load(const std::string& more) {
    const auto records = trace::trace_from_text("cubin hash=c0de saved=gone/c0de\n" + more);
    EXPECT_TRUE(records) << records.error().message;
    for (const trace::Record& record : *records)
      accesses_.add(record);
    auto loaded = load_trace(*records);
    EXPECT_TRUE(loaded);
    return *std::move(loaded);
  }
  void save(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }
  std::string text_of(ObjectId object) {
    std::string text;
    for (const AccessLine& line : accesses_.of(object))
      text += line.kernel + " " + line.function + " " + line.file + ":" + std::to_string(line.line) +
              " " + std::to_string(line.reads) + "r " + std::to_string(line.writes) + "w " +
              std::to_string(line.launches) + "\n";
    return text;
  }

  std::string folder_;
  AccessLines accesses_;
};

constexpr const char* kLaunches =
    "alloc x 64; alloc y 64\nlaunch _Z5saxpyPf updates x updates y\n"
    "site x _Z5saxpyPf 5 reads=8; site x _Z5saxpyPf 7 writes=8; site y _Z5saxpyPf 9 writes=1\n"
    "launch _Z5saxpyPf updates x\nsite x _Z5saxpyPf 5 reads=8; site x _Z5saxpyPf 7 reads=1 "
    "writes=1\n";

TEST_F(DeviceLinesTest, SitesAreSummedByLineMostAccessesFirst) {
  save("c0de.ptx", kPtx);
  const Trace trace = load(kLaunches);
  DeviceLines lines(trace, {folder_});
  accesses_.resolve(lines, trace, false);
  EXPECT_EQ(text_of(ObjectId{0}),
            "saxpy(float*) saxpy(float*) /build/saxpy.cu:3 16r 0w 2\n"
            "saxpy(float*) saxpy(float*) /build/saxpy.cu:4 1r 9w 2\n");
  // A system header's line stands for the line that called it.
  EXPECT_EQ(text_of(ObjectId{1}), "saxpy(float*) saxpy(float*) /build/saxpy.cu:5 0r 1w 1\n");
  EXPECT_EQ(text_of(ObjectId{7}), "");
  ASSERT_EQ(lines.notes().size(), 1u);
  EXPECT_EQ(lines.notes()[0].problem, "");
  EXPECT_EQ(lines.notes()[0].asked, lines.notes()[0].found);
}

TEST_F(DeviceLinesTest, FullStacksShowSystemHeaders) {
  save("c0de", kPtx);
  const Trace trace = load(kLaunches);
  DeviceLines lines(trace, {folder_});
  accesses_.resolve(lines, trace, true);
  EXPECT_EQ(text_of(ObjectId{1}), "saxpy(float*) f() /usr/include/c++/12/cmath:9 0r 1w 1\n");
}

TEST_F(DeviceLinesTest, WithoutTheImageTheKernelStaysAndTheReasonIsSaid) {
  const Trace trace = load(kLaunches);
  DeviceLines lines(trace, {folder_});
  accesses_.resolve(lines, trace, false);
  EXPECT_EQ(text_of(ObjectId{1}), "saxpy(float*) saxpy(float*) :0 0r 1w 1\n");
  ASSERT_EQ(lines.notes().size(), 1u);
  EXPECT_EQ(lines.notes()[0].problem,
            "its code is not at gone/c0de beside the trace; give the folder that holds it with "
            "--symbol-path");
}

TEST_F(DeviceLinesTest, ImagesOfAnyKindAreReadWithoutHarm) {
  for (const char* bytes : {"", "\x7f" "ELF", "text", ".version 9.0\n.entry k(){ret;}"}) {
    save("c0de", bytes);
    const Trace trace = load(kLaunches);
    DeviceLines lines(trace, {folder_});
    EXPECT_TRUE(lines.at(KernelId{0}, 0).empty());
    EXPECT_NE(lines.notes()[0].problem, "");
  }
}

TEST_F(DeviceLinesTest, NoTraceLeadsOutOfItsFolder) {
  trace::CubinRecord cubin;
  save("secret", "x");
  cubin.saved_as = "../" + folder_.substr(folder_.rfind('/') + 1) + "/secret";
  EXPECT_EQ(find_image(cubin, folder_ + "/a.drgp", {}), "");
  cubin.saved_as = folder_ + "/secret";
  EXPECT_EQ(find_image(cubin, folder_ + "/a.drgp", {}), "");
  cubin.saved_as = "secret";
  EXPECT_EQ(find_image(cubin, folder_ + "/a.drgp", {}), folder_ + "/secret");
  cubin.saved_as = "";
  cubin.hash = "../secret";
  EXPECT_EQ(find_image(cubin, folder_ + "/a.drgp", {folder_ + "/x"}), "");
}

}  // namespace
}  // namespace drgpum
