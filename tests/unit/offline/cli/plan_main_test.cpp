// SPDX-License-Identifier: Apache-2.0
// `drgpum plan`, from its arguments to its exit status and what it prints.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "offline/cli/verbs.h"

namespace drgpum {
namespace {

struct Finished {
  int status;
  std::string out;
  std::string err;
};

Finished plan(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  std::vector<char*> argv;
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int status = plan_main(static_cast<int>(argv.size()), argv.data());
  std::fflush(stdout);
  return {status, ::testing::internal::GetCapturedStdout(),
          ::testing::internal::GetCapturedStderr()};
}

std::string file(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "plan_main_test." + name;
  std::ofstream(path) << text;
  return path;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kBuffers =
    "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";

TEST(PlanMain, PrintsThePlanAsJsonWithTheFieldsOfTheContract) {
  const Finished run = plan({file("a.csv", kBuffers), "--format", "json"});
  EXPECT_EQ(run.status, kExitOk);
  for (const char* part :
       {"\"footprint_bytes\":12", "\"load_bytes\":12", "\"lower_bound_bytes\":12",
        "\"optimal\":true", "\"fits\":true",
        "\"baselines\":{\"cnmem\":1536,\"bfc\":768,\"pytorch\":", "{\"id\":\"b5\",\"offset\":"})
    EXPECT_TRUE(holds(run.out, part)) << part << " in " << run.out;
}

TEST(PlanMain, APlanThatDoesNotFitEndsWithOne) {
  const Finished run = plan({file("b.csv", kBuffers), "--capacity", "11"});
  EXPECT_EQ(run.status, kExitGate);
  EXPECT_TRUE(holds(run.out, "DOES NOT FIT"));
}

TEST(PlanMain, ChecksItsOwnPlansAndRefusesBrokenOnes) {
  const std::string input = file("c.csv", kBuffers);
  const std::string good = ::testing::TempDir() + "plan_main_test.c.json";
  ASSERT_EQ(plan({input, "-o", good}).status, kExitOk);
  EXPECT_EQ(plan({input, "--check", good}).status, kExitOk);
  const std::string bad = file("bad.csv",
                               "id,lower,upper,size,offset\nb1,0,3,4,0\nb2,3,9,4,0\nb3,0,9,4,0\n"
                               "b4,9,21,4,0\nb5,0,21,4,8\n");
  const Finished refused = plan({input, "--check", bad});
  EXPECT_EQ(refused.status, kExitGate);
  EXPECT_TRUE(holds(refused.out, "are both live at 0")) << refused.out;
}

TEST(PlanMain, BadInputIsOneLineAndWritesNothing) {
  const std::string output = ::testing::TempDir() + "plan_main_test.none.json";
  std::remove(output.c_str());
  const std::string broken = file("d.csv", "id,lower,upper,size\na,5,5,1\n");
  const Finished run = plan({broken, "-o", output});
  EXPECT_EQ(run.status, kExitUnreadable);
  EXPECT_EQ(run.err,
            "drgpum plan: " + broken + ":2: object 'a': upper 5 is not greater than lower 5\n");
  EXPECT_TRUE(run.out.empty());
  EXPECT_FALSE(std::ifstream(output).good());
  EXPECT_EQ(plan({file("e.csv", "")}).status, kExitUnreadable);
  EXPECT_EQ(plan({file("f.csv", kBuffers), "--capacity", "3"}).status, kExitUnreadable);
  EXPECT_EQ(plan({file("g.csv", kBuffers), "--capacity", "much"}).status, kExitUnreadable);
}

TEST(PlanMain, UnknownOptionsAreUsageErrors) {
  EXPECT_EQ(plan({file("h.csv", kBuffers), "--mode", "wild"}).status, kExitUsage);
  EXPECT_EQ(plan({}).status, kExitUsage);
  EXPECT_EQ(plan({"--help"}).status, kExitOk);
}

TEST(PlanMain, WritesALookUpTableInTheOrderOfAllocation) {
  const std::string header = ::testing::TempDir() + "plan_main_test.h";
  ASSERT_EQ(plan({file("i.csv", kBuffers), "-o", header}).status, kExitOk);
  const std::string text = text_of(header);
  EXPECT_TRUE(holds(text, "kPoolBytes = 12;"));
  EXPECT_TRUE(holds(text, "kSlots = 5;"));
}

TEST(PlanMain, PlansSwappingOfAnEventTable) {
  const std::string events = file("j.csv",
                                  "time_ns,op,id,size\n0,malloc,a,4000000\n0,write,a,\n"
                                  "100,malloc,b,4000000\n100,write,b,\n900000000,free,b,\n"
                                  "1000000000,read,a,\n");
  const Finished run =
      plan({events, "--autoswap", "--limit", "5M", "--format", "json", "--link", "4"});
  EXPECT_EQ(run.status, kExitOk);
  // a leaves from 100 on: 10 us and a quarter of a nanosecond a byte; b's allocation waits.
  EXPECT_TRUE(holds(run.out, "{\"object\":\"a\",\"out_start_ns\":100,\"out_end_ns\":1010100,"))
      << run.out;
  EXPECT_TRUE(holds(run.out, "\"overhead_ns\":1010000,"));
  EXPECT_EQ(plan({events, "--autoswap", "--link", "nan"}).status, kExitUnreadable);
  const Finished tight = plan({events, "--autoswap", "--limit", "1M"});
  EXPECT_EQ(tight.status, kExitGate);
  EXPECT_TRUE(holds(tight.out, "CANNOT BE KEPT"));
}

}  // namespace
}  // namespace drgpum
