// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file in which the processes of a run tell the launcher what became of them.

#include <string>
#include <vector>

#include "proto/base/result.h"

namespace drgpum::profiler {

struct RunStatus {
  std::vector<std::string> traces;           // files, in the order of their beginnings
  std::vector<std::string> failures;         // of the injected library, for a person
  bool nothing_recorded = false;             // some process could not record at all
  std::vector<std::string> device_problems;  // of the emulated device; told on stderr already
};

// A private file that is removed at the end.
class StatusFile {
 public:
  static Result<StatusFile> create();
  StatusFile(StatusFile&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  StatusFile& operator=(StatusFile&&) = delete;
  ~StatusFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] RunStatus read() const;

 private:
  explicit StatusFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Lines "trace PID PATH" and "failure PID TEXT" of the library, "KIND<tab>TEXT" of the emulator.
// Others, such as "map-bytes PID BYTES CROSSED" for benchmarks, are skipped.
RunStatus parse_status(const std::string& text);

}  // namespace drgpum::profiler
