// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/status_file.h"

#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace drgpum::profiler {
namespace {

TEST(StatusFile, TellsTracesFailuresAndProblemsOfTheDeviceApart) {
  const RunStatus status = parse_status(
      "trace 12 /tmp/a b.drgp\ntrace 13 /tmp/c.drgp\nfailure 13 recording stopped: no space\n"
      "ptx\tkernel 'k': instruction wgmma is not supported\n");
  EXPECT_EQ(status.traces, (std::vector<std::string>{"/tmp/a b.drgp", "/tmp/c.drgp"}));
  EXPECT_EQ(status.failures, (std::vector<std::string>{"recording stopped: no space"}));
  EXPECT_FALSE(status.nothing_recorded);
  EXPECT_EQ(status.device_problems,
            (std::vector<std::string>{"kernel 'k': instruction wgmma is not supported"}));
}

TEST(StatusFile, AProcessThatCouldNotRecordIsAToolFailure) {
  EXPECT_TRUE(parse_status("failure 1 not recording: x\n").nothing_recorded);
}

TEST(StatusFile, IsReadWhileItIsThereAndRemovedAtTheEnd) {
  std::string path;
  {
    auto file = StatusFile::create();
    ASSERT_TRUE(file) << file.error().message;
    path = file->path();
    std::ofstream(path) << "trace 1 /x\n";
    EXPECT_EQ(file->read().traces.size(), 1u);
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace drgpum::profiler
