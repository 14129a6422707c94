// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/silent_run.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

namespace drgpum::profiler {
namespace {

Status redirect(int from, const char* file, int flags) {
  const int opened = open(file, flags);
  if (opened >= 0 && dup2(opened, from) >= 0) return Ok{};
  return Error{ErrorCode::kIo, std::string("cannot open '") + file + "': " + std::strerror(errno)};
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::create() {
  const char* parent = std::getenv("TMPDIR");
  std::string path = std::string(parent == nullptr || *parent == '\0' ? "/tmp" : parent) +
                     "/drgpum-traces-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return Error{ErrorCode::kIo, "cannot make a temporary folder '" + path +
                                     "': " + std::strerror(errno) + "; set TMPDIR"};
  }
  return TemporaryFolder(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status silence(off_t input) {
  if (input < 0) RETURN_IF_ERROR(redirect(STDIN_FILENO, "/dev/null", O_RDONLY));
  RETURN_IF_ERROR(redirect(STDOUT_FILENO, "/dev/null", O_WRONLY));
  return redirect(STDERR_FILENO, "/dev/null", O_WRONLY);
}

}  // namespace drgpum::profiler
