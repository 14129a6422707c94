// SPDX-License-Identifier: Apache-2.0
#pragma once
// The invariants that a trace's records keep among one another (proto/trace/record.h). A trace that
// breaks one is still used; what was wrong is told.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/trace/record.h"

namespace drgpum {

struct TraceProblem {
  std::uint64_t record = 0;  // its place in the file, from 0, names not counted
  std::string message;
};

struct TraceProblems {
  static constexpr std::size_t kMost = 100;  // told in full; the rest is counted
  std::uint64_t count = 0;
  std::vector<TraceProblem> first;
};

// Takes the records in the order of the file.
class TraceChecker {
 public:
  TraceChecker();
  TraceChecker(TraceChecker&&) noexcept;
  ~TraceChecker();
  void add(const trace::Record& record);
  [[nodiscard]] TraceProblems finish() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace drgpum
