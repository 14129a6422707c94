// SPDX-License-Identifier: Apache-2.0
// `drgpum info` on good, cut, damaged and foreign files: what it prints and how it exits.
#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "offline/cli/verbs.h"
#include "proto/trace/trace_text.h"
#include "proto/trace/trace_writer.h"

namespace drgpum {
namespace {

struct Outcome {
  int status = 0;
  std::string out;
  std::string err;
};

Outcome info(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "info");
  std::vector<char*> argv;
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.status = info_main(static_cast<int>(argv.size()), argv.data());
  std::fflush(stdout);
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

class InfoTest : public testing::Test {
 protected:
  InfoTest() : path_("/tmp/drgpum-info-" + std::to_string(::getpid()) + ".drgp") {}
  ~InfoTest() override { std::remove(path_.c_str()); }

  void write(std::string_view text) {
    const auto records = trace::trace_from_text(text);
    ASSERT_TRUE(records) << records.error().message;
    auto writer = trace::TraceWriter::create(
        path_, std::get<trace::ProcessRecord>(records->front()), {.replace = true});
    for (std::size_t k = 1; k < records->size(); ++k)
      (*writer)->append((*records)[k]);
    (*writer)->finish();
  }
  std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string path_;
};

TEST_F(InfoTest, TellsWhatACompleteTraceHolds) {
  write(
      "process exe=/bin/app arg=app arg=\"a b\" pid=7\n"
      "alloc A 1K; alloc H 2K pinned; memcpy h2d A; launch k reads A; free A\n"
      "coverage slots-full count=3 api=3 \"one slot\"; end exit=5");
  const Outcome outcome = info({path_});
  EXPECT_EQ(outcome.status, 0);
  for (const char* line :
       {"state        complete\n", "program      /bin/app (pid 7)\n", "exit code    5\n",
        "device 0     emulated, test device, 1.0 GiB",
        "objects      2, 3.0 KiB (3,072 bytes) in all, 1 device, 1 pinned\n",
        "calls        5, 2 alloc, 1 free, 1 memcpy, 1 launch\n", "of launches  1 accesses",
        "coverage     slots-full, 3 times, call 3: one slot\n"})
    EXPECT_NE(outcome.out.find(line), std::string::npos) << line << outcome.out;
  EXPECT_EQ(outcome.out.find("problem"), std::string::npos);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(InfoTest, PrintsRecordsAsText) {
  write("alloc A 1K; end");
  const Outcome outcome = info({"--records", path_});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("\nobject id=0 kind=device "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nend api_count=1"), std::string::npos);
}

TEST_F(InfoTest, ACutTraceIsToldAndExitsFour) {
  write("alloc A 1K; end");
  const std::string whole = read();
  std::ofstream(path_, std::ios::binary) << whole.substr(0, whole.size() - 20);
  Outcome outcome = info({path_});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_NE(outcome.out.find("state        unfinished: ends early at byte"), std::string::npos);
  outcome = info({"--records", path_});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_NE(outcome.err.find("unfinished: ends early"), std::string::npos);
}

TEST_F(InfoTest, ADamagedTraceIsToldWithItsOffsetAndExitsFour) {
  write("alloc A 1K; end");
  std::string bytes = read();
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  std::ofstream(path_, std::ios::binary) << bytes;
  const Outcome outcome = info({path_});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_NE(outcome.out.find("damaged: the checksum does not match at byte 64"), std::string::npos)
      << outcome.out;
}

TEST_F(InfoTest, WhatIsNoTraceExitsThreeAndMisuseTwo) {
  Outcome outcome = info({"/none"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.err, "drgpum info: /none: No such file or directory\n");
  std::ofstream(path_) << "PK\3\4 not a trace";
  outcome = info({path_});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_NE(outcome.err.find("is not a drgpum trace"), std::string::npos);
  EXPECT_EQ(info({}).status, 2);
  EXPECT_EQ(info({"--nonsense", path_}).status, 2);
}

}  // namespace
}  // namespace drgpum
