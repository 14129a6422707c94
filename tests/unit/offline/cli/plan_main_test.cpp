// SPDX-License-Identifier: Apache-2.0
// `drgpum plan`, from its arguments to its exit status and what it prints.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
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

struct BadInput {
  const char* name;
  const char* text;
  std::vector<std::string> options;
  const char* says;
};

TEST(PlanMain, EveryKindOfBadInputIsOneClearLineAndWritesNothing) {
  const std::string huge = "4611686018427387904";  // 2^62
  const std::string overflow = "id,lower,upper,size\na,0,5," + huge + "\nb,0,5," + huge + "\n";
  const BadInput inputs[] = {
      {"twice", "id,lower,upper,size\na,0,5,1\na,6,9,1\n", {}, "'a'"},
      {"live twice", "time_ns,op,id,size\n0,malloc,a,8\n1,malloc,a,8\n", {}, "'a'"},
      {"not live", "time_ns,op,id,size\n0,malloc,a,8\n1,free,a,\n2,read,a,\n", {}, "'a'"},
      {"upper", "id,lower,upper,size\na,5,5,1\n", {}, "upper 5 is not greater than lower 5"},
      {"overflow", overflow.c_str(), {}, "overflow"},
      {"beyond 64 bits", "id,lower,upper,size\na,0,5,99999999999999999999\n", {}, "9999"},
      {"negative", "id,lower,upper,size\na,0,5,-1\n", {}, "-1"},
      {"nan", "id,lower,upper,size\na,0,5,nan\n", {}, "'nan'"},
      {"time falls", "time_ns,op,id,size\n5,malloc,a,8\n4,free,a,\n", {}, "4"},
      {"empty", "", {}, "empty"},
      {"no header", "a,0,5,1\n", {}, "column 'a' is unknown"},
      {"capacity", kBuffers, {"--capacity", "3"}, "larger than the capacity of 3 bytes"},
  };
  for (const BadInput& input : inputs) {
    const std::string output = ::testing::TempDir() + "plan_main_test.none.json";
    std::remove(output.c_str());
    std::vector<std::string> words = {file("bad-input.csv", input.text), "-o", output};
    words.insert(words.end(), input.options.begin(), input.options.end());
    const Finished run = plan(words);
    EXPECT_EQ(run.status, kExitUnreadable) << input.name;
    EXPECT_TRUE(run.err.starts_with("drgpum plan: ")) << input.name << ": " << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << input.name << ": " << run.err;
    EXPECT_TRUE(holds(run.err, input.says)) << input.name << ": " << run.err;
    EXPECT_TRUE(run.out.empty()) << input.name;
    EXPECT_FALSE(std::ifstream(output).good()) << input.name;
  }
}

TEST(PlanMain, ALinkNeedsASpeed) {
  const std::string events = file("link.csv", "time_ns,op,id,size\n0,malloc,a,4000000\n0,write,a,\n"
                                              "100,malloc,b,4000000\n900,free,b,\n1000,read,a,\n");
  for (const char* link : {"0", "nan", "-3", "inf", "pcie9"}) {
    const Finished run = plan({events, "--autoswap", std::string("--link=") + link});
    EXPECT_EQ(run.status, kExitUnreadable) << link;
    EXPECT_TRUE(holds(run.err, "speed above 0")) << link << ": " << run.err;
    EXPECT_TRUE(run.out.empty());
  }
}

TEST(PlanMain, NoObjectAndOneObjectAreFine) {
  const Finished none = plan({file("none.csv", "id,lower,upper,size\n"), "--format", "json"});
  EXPECT_EQ(none.status, kExitOk) << none.err;
  EXPECT_TRUE(holds(none.out, "\"footprint_bytes\":0,"));
  const std::string single = file("one.csv", "id,lower,upper,size\na,0,1,7\n");
  const Finished one = plan({single, "--format", "json"});
  EXPECT_EQ(one.status, kExitOk) << one.err;
  EXPECT_TRUE(holds(one.out, "\"footprint_bytes\":7,"));
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

TEST(PlanMain, ChecksSwapsToo) {
  const std::string events = file("k.csv",
                                  "time_ns,op,id,size\n0,malloc,a,4000000\n0,write,a,\n"
                                  "100,malloc,b,4000000\n100,write,b,\n900000000,free,b,\n"
                                  "1000000000,read,a,\n");
  const std::string good = ::testing::TempDir() + "plan_main_test.k.json";
  ASSERT_EQ(plan({events, "--autoswap", "--limit=5M", "--link=4", "-o", good}).status, kExitOk);
  const std::string json = text_of(good);
  const Finished right = plan({events, "--check", good});
  EXPECT_EQ(right.status, kExitOk) << right.out << right.err;
  struct Forgery {
    const char* what;
    const char* from;
    const char* to;
    int status;
    const char* says;
  };
  for (const Forgery& f : {
           Forgery{"a copy too fast", "[0,1,5,100,1010100,", "[0,1,5,100,510100,", kExitGate,
                   "faster"},
           Forgery{"a lower limit", "\"limit_bytes\":5242880", "\"limit_bytes\":4000", kExitGate,
                   "the limit is"},
           Forgery{"fewer stalls", "\"stalls\":[[2,1010000]]", "\"stalls\":[]", kExitGate, "wrong"},
           Forgery{"other swaps listed", "\"out_start_ns\":100", "\"out_start_ns\":99", kExitGate,
                   "not those of its schedule"},
           Forgery{"an offset below the pool",
                   "{\"id\":\"b\",\"offset\":0,\"size\":4000000,\"lower\":1010100",
                   "{\"id\":\"b\",\"offset\":-8,\"size\":4000000,\"lower\":1010100", kExitGate,
                   "begins below 0"},
           Forgery{"a smaller pool", "\"pool\":{\"footprint_bytes\":4",
                   "\"pool\":{\"footprint_bytes\":3", kExitGate, "its pool needs"},
           Forgery{"other stays listed", "\"lower\":1010100", "\"lower\":1010099", kExitGate,
                   "not those that its schedule leaves"},
           Forgery{"no pool", "\"pool\":", "\"pond\":", kExitUnreadable, "'pool'"},
           Forgery{"no schedule", "\"schedule\"", "\"scheduled\"", kExitUnreadable, "schedule"},
           Forgery{"events that are not there", "\"last_event\":6", "\"last_event\":60",
                   kExitUnreadable, "are not events"},
       }) {
    std::string forged = json;
    const std::size_t at = forged.find(f.from);
    ASSERT_NE(at, std::string::npos) << f.what << " in " << json;
    forged.replace(at, std::string_view(f.from).size(), f.to);
    const Finished run = plan({events, "--check", file("forged.json", forged)});
    EXPECT_EQ(run.status, f.status) << f.what << ": " << run.out << run.err;
    EXPECT_TRUE(holds(run.out + run.err, f.says)) << f.what << ": " << run.out << run.err;
  }
}

}  // namespace
}  // namespace drgpum
