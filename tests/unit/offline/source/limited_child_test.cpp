// SPDX-License-Identifier: Apache-2.0
// Children that die, loop, fill memory or talk too much.
#include "offline/source/limited_child.h"

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace drgpum {
namespace {

struct Told {
  std::string end;
  std::vector<std::string> messages;
};

Told run(const ChildLimits& limits, const std::function<void(ChildOutput&)>& work) {
  Told told;
  told.end = run_limited_child(limits, work, [&](std::span<const std::uint8_t> message) {
    told.messages.emplace_back(message.begin(), message.end());
    return true;
  });
  return told;
}

void say(ChildOutput& output, const std::string& text) {
  output.send({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

TEST(LimitedChildTest, HandsOverEveryMessageInOrder) {
  const Told told = run({}, [](ChildOutput& output) {
    for (int k = 0; k < 5000; ++k)
      say(output, std::string(static_cast<std::size_t>(k % 97), 'a'));
  });
  EXPECT_EQ(told.end, "");
  ASSERT_EQ(told.messages.size(), 5000u);
  for (std::size_t k = 0; k < 5000; ++k)
    EXPECT_EQ(told.messages[k].size(), k % 97);
}

TEST(LimitedChildTest, KeepsWhatAChildToldBeforeItDied) {
  const Told told = run({}, [](ChildOutput& output) {
    say(output, "first");
    output.flush();
    say(output, "never sent");
    std::abort();
  });
  EXPECT_EQ(told.messages, std::vector<std::string>{"first"});
  EXPECT_EQ(told.end, "was killed by signal 6 (Aborted)");
}

TEST(LimitedChildTest, EndsAChildThatLoops) {
  ChildLimits limits;
  limits.cpu_seconds = 1;
  limits.wall_seconds = 500;  // a busy machine gave the child one second of its time in fifty
  const Told told = run(limits, [](ChildOutput&) {
    while (::getppid() != 0) {
    }
  });
  EXPECT_EQ(told.end, "took over 1 s");
}

TEST(LimitedChildTest, EndsAChildThatSleeps) {
  ChildLimits limits;
  limits.wall_seconds = 1;
  EXPECT_EQ(run(limits, [](ChildOutput&) { ::sleep(100); }).end, "took over 1 s");
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // they end the child themselves
TEST(LimitedChildTest, EndsAChildThatTakesAllMemory) {
  ChildLimits limits;
  limits.memory_bytes = 64 << 20;
  const Told told = run(limits, [](ChildOutput& output) {
    std::vector<std::string> all;
    for (;;)
      all.emplace_back(1 << 20, 'x');
    say(output, all.front());
  });
  EXPECT_EQ(told.end, "ran out of memory");
}
#endif

TEST(LimitedChildTest, EndsAChildThatTalksTooMuch) {
  ChildLimits limits;
  limits.output_bytes = 100000;
  const Told told = run(limits, [](ChildOutput& output) {
    while (output.send(std::vector<std::uint8_t>(1000))) {
    }
  });
  EXPECT_EQ(told.end, "told more than 100000 bytes");
}

TEST(LimitedChildTest, EndsAChildWhoseWordsMakeNoSense) {
  const std::string end = run_limited_child(
      {}, [](ChildOutput& output) { say(output, "?"); },
      [](std::span<const std::uint8_t>) { return false; });
  EXPECT_EQ(end, "told what makes no sense");
}

}  // namespace
}  // namespace drgpum
