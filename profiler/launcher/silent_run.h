// SPDX-License-Identifier: Apache-2.0
#pragma once
// What runs of the program need that nobody is to notice: a folder for their traces, and streams
// that lead nowhere.

#include <string>

#include <sys/types.h>

#include "proto/base/result.h"

namespace drgpum::profiler {

// Removed at the end with what it holds.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// In the child: its output goes nowhere. `input`: where standard input stands, so that it can be
// read again; below 0 it cannot, and the child gets none of it.
Status silence(off_t input);

}  // namespace drgpum::profiler
