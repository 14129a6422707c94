// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the terminal can show, and where output goes.

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>

#include "proto/base/result.h"

namespace drgpum {

bool is_terminal(int descriptor);
bool wants_colour(int descriptor);           // a terminal, NO_COLOR unset, TERM not "dumb"
std::size_t terminal_width(int descriptor);  // COLUMNS, else the terminal's, else 100

// Standard output, or a file that appears whole under its name or not at all.
class Output {
 public:
  // "-" or empty: standard output.
  static Result<Output> open(const std::string& path);
  Output(Output&&) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();
  std::ostream& stream();
  // kIo when not all could be written.
  Status finish();

 private:
  struct State;
  explicit Output(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A line on standard error that is drawn over, on a terminal, once something takes over a second.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text);

 private:
  bool enabled_ = false;
  bool drawn_ = false;
  long long started_ns_ = 0;
  long long drawn_ns_ = 0;
};

}  // namespace drgpum
