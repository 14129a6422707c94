// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/status_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace drgpum::profiler {
namespace {

// What follows the first two words.
std::string text_of(const std::string& line) {
  const auto first = line.find(' ');
  const auto second = line.find(' ', first + 1);
  return second == std::string::npos ? "" : line.substr(second + 1);
}

}  // namespace

RunStatus parse_status(const std::string& text) {
  RunStatus status;
  std::stringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with("trace ")) {
      const std::string path = text_of(line);
      if (std::find(status.traces.begin(), status.traces.end(), path) == status.traces.end()) {
        status.traces.push_back(path);
      }
    } else if (line.starts_with("failure ")) {
      status.failures.push_back(text_of(line));
      status.nothing_recorded |= status.failures.back().starts_with("not recording");
    } else if (const auto tab = line.find('\t'); tab != std::string::npos) {
      status.device_problems.push_back(line.substr(tab + 1));
    }
  }
  return status;
}

Result<StatusFile> StatusFile::create() {
  const char* folder = std::getenv("TMPDIR");
  std::string path =
      std::string(folder == nullptr || *folder == '\0' ? "/tmp" : folder) + "/drgpum-run-XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) {
    return Error{ErrorCode::kIo, "cannot make a temporary file '" + path +
                                     "': " + std::strerror(errno) + "; set TMPDIR"};
  }
  close(file);
  return StatusFile(path);
}

StatusFile::~StatusFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

RunStatus StatusFile::read() const {
  std::stringstream text;
  text << std::ifstream(path_).rdbuf();
  return parse_status(text.str());
}

}  // namespace drgpum::profiler
