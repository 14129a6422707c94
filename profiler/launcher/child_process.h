// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a program as if it had been started in our place: its streams are ours, signals sent to us
// reach it, and we end as it ended.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/result.h"

namespace drgpum::profiler {

// Exit statuses of our own, as env(1) and timeout(1) use them.
inline constexpr int kToolFailed = 125;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

struct ChildEnd {
  bool started = false;  // false: `refusal` and `refusal_status` say why
  std::string refusal;
  int refusal_status = kToolFailed;
  bool by_signal = false;
  int code = 0;  // exit status, or the signal's number
};

struct ChildPlan {
  std::string path;                                            // file to execute
  std::vector<std::string> arguments;                          // argv, the first included
  std::vector<std::pair<std::string, std::string>> variables;  // set in its environment
  // Called in the child, which has its final pid, before the program takes its place. An error
  // keeps it from starting. Single-threaded at that point, so anything may be called.
  std::function<Status()> before;
};

// Waits for the end.
ChildEnd run_child(const ChildPlan& plan);

// Ends this process as the child ended: with its exit status, or killed by its signal (without
// another core file). `status` replaces an exit status of 0 when it is not 0 itself.
[[noreturn]] void end_like(const ChildEnd& end, int status);

}  // namespace drgpum::profiler
