// SPDX-License-Identifier: Apache-2.0
#include "profiler/reduction_queue.h"

#include <atomic>
#include <csignal>
#include <string>

#include <gtest/gtest.h>

#include "profiler/session_state.h"

namespace drgpum::profiler {
namespace {

using std::chrono::milliseconds;
using Work = ReductionQueue::Work;

constexpr milliseconds kLong{60'000};

Work work_of(const std::shared_ptr<ContextState>& context, unsigned char number) {
  Work work;
  work.context = context;
  work.slot = {number};
  return work;
}

// A gate that the thread waits at, so that a test decides when work is under way.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void await_arrival() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ != 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

TEST(ReductionQueue, WorksInTheOrderOfAdding) {
  const auto context = std::make_shared<ContextState>();
  std::string order;
  ReductionQueue queue([&](Work& work) { order += static_cast<char>(work.slot[0]); });
  for (const char letter : std::string("abcdefgh")) {
    Work work = work_of(context, static_cast<unsigned char>(letter));
    ASSERT_TRUE(queue.add(work));
  }
  queue.await(context.get(), kLong);
  EXPECT_EQ(order, "abcdefgh");
}

TEST(ReductionQueue, TakesBackWhatWasNotBegunAndWaitsForWhatWas) {
  const auto context = std::make_shared<ContextState>();
  Gate gate;
  std::atomic<int> done{0};
  ReductionQueue queue([&](Work&) {
    gate.pass();
    ++done;
  });
  for (unsigned char i = 0; i < 3; ++i) {
    Work work = work_of(context, i);
    ASSERT_TRUE(queue.add(work));
  }
  gate.await_arrival();
  EXPECT_EQ(queue.take_back(context.get(), milliseconds{0}).size(), 2u);
  EXPECT_EQ(done, 0);
  gate.open();
  EXPECT_TRUE(queue.take_back(context.get(), kLong).empty());
  EXPECT_EQ(done, 1);
}

TEST(ReductionQueue, LeavesTheWorkOfOtherContexts) {
  const auto one = std::make_shared<ContextState>();
  const auto other = std::make_shared<ContextState>();
  Gate gate;
  std::atomic<int> done{0};
  ReductionQueue queue([&](Work&) {
    gate.pass();
    ++done;
  });
  for (const auto& context : {one, other, other, one}) {
    Work work = work_of(context, 0);
    ASSERT_TRUE(queue.add(work));
  }
  gate.await_arrival();
  // Does not wait for the first, which is another context's.
  EXPECT_EQ(queue.take_back(other.get(), kLong).size(), 2u);
  EXPECT_EQ(done, 0);
  gate.open();
  queue.await(one.get(), kLong);
  EXPECT_EQ(done, 2);
}

TEST(ReductionQueue, KeepsTheProgramsSignalsAway) {
  const auto context = std::make_shared<ContextState>();
  std::atomic<int> blocked{-1};
  ReductionQueue queue([&](Work&) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked = sigismember(&mask, SIGUSR1) + sigismember(&mask, SIGTERM) * 2;
  });
  Work work = work_of(context, 0);
  ASSERT_TRUE(queue.add(work));
  queue.await(context.get(), kLong);
  EXPECT_EQ(blocked, 3);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGUSR1), 0);
}

TEST(ReductionQueue, StopsAndTakesNoMoreWork) {
  const auto context = std::make_shared<ContextState>();
  Gate gate;
  std::atomic<int> done{0};
  ReductionQueue queue([&](Work&) {
    gate.pass();
    ++done;
  });
  Work work = work_of(context, 0);
  ASSERT_TRUE(queue.add(work));
  gate.await_arrival();
  queue.stop(milliseconds{1});  // still busy
  EXPECT_EQ(done, 0);
  gate.open();
  queue.stop(kLong);
  EXPECT_EQ(done, 1);
  Work late = work_of(context, 1);
  EXPECT_FALSE(queue.add(late));
  EXPECT_EQ(late.slot.size(), 1u) << "it is still the caller's";
  queue.stop(kLong);
}

TEST(ReductionQueue, TakesNoMoreThanTheHostCanHold) {
  std::atomic<bool> may_go_on{false};
  ReductionQueue queue([&](ReductionQueue::Work&) {
    while (!may_go_on) std::this_thread::yield();
  });
  const auto context = std::make_shared<ContextState>();
  LaunchInFlight launch;
  std::size_t taken = 0;
  for (;; ++taken) {
    ReductionQueue::Work work;
    work.context = context;
    work.launch = &launch;
    work.slot.resize(1 << 20);
    if (!queue.add(work)) break;
    ASSERT_LT(taken, 100u);
  }
  EXPECT_GE(taken, ReductionQueue::kMostWaitingBytes >> 20);
  ReductionQueue::Work preparation;
  preparation.context = context;
  EXPECT_TRUE(queue.add(preparation)) << "is small, and nobody else does it";
  may_go_on = true;
  queue.await(context.get(), std::chrono::seconds(60));
  ReductionQueue::Work another;
  another.context = context;
  another.launch = &launch;
  another.slot.resize(1 << 20);
  EXPECT_TRUE(queue.add(another)) << "what is done makes room";
}

TEST(ReductionQueue, EndsWithWorkLeft) {
  const auto context = std::make_shared<ContextState>();
  std::atomic<int> done{0};
  {
    ReductionQueue queue([&](Work&) { ++done; });
    for (unsigned char i = 0; i < 100; ++i) {
      Work work = work_of(context, i);
      ASSERT_TRUE(queue.add(work));
    }
  }
  EXPECT_LE(done, 100);
  EXPECT_EQ(context.use_count(), 1);
}

}  // namespace
}  // namespace drgpum::profiler
