// SPDX-License-Identifier: Apache-2.0
// Allocates ahead with fallocate, maps the last part of the file, falls back to pwrite.
#include "proto/trace/output_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace drgpum::trace {
namespace {

constexpr std::uint64_t kSmallestStep = 64 << 10;
constexpr std::uint64_t kFirstStep = 1 << 20;
constexpr std::uint64_t kLargestStep = 64 << 20;
constexpr std::uint64_t kPage = 4096;
constexpr const char* kCannotAllocate = "the file system cannot allocate ahead";
constexpr int kLowestDescriptor = 200;  // out of the way of programs that number their own files

Error io_error(const std::string& path, int error) {
  return {ErrorCode::kIo, path + ": " + std::strerror(error)};
}

int open_new(const std::string& path) {
  int fd = -1;
  do
    fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0644);
  while (fd < 0 && errno == EINTR);
  return fd;
}

Status remove_regular(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return Ok{};
  if (!S_ISREG(found.st_mode))
    return Error{ErrorCode::kIo, path + ": is not a regular file, so it is not replaced"};
  if (::unlink(path.c_str()) != 0) return io_error(path, errno);
  return Ok{};
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path, bool replace) {
  if (replace) RETURN_IF_ERROR(remove_regular(path));
  int fd = open_new(path);
  if (fd < 0 && errno == EEXIST)
    return Error{ErrorCode::kIo, path + ": exists already; -f replaces it"};
  if (fd < 0) return io_error(path, errno);
  if (const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, kLowestDescriptor); high >= 0) {
    ::close(fd);
    fd = high;
  }
  struct stat made {};
  if (::fstat(fd, &made) != 0) {
    const int error = errno;
    ::close(fd);
    return io_error(path, error);
  }
  return OutputFile(fd, made.st_dev, made.st_ino);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      device_(other.device_),
      inode_(other.inode_),
      mapped_(other.mapped_),
      at_limit_(other.at_limit_),
      unsupported_(other.unsupported_),
      why_(other.why_),
      window_(std::exchange(other.window_, nullptr)),
      window_begin_(other.window_begin_),
      window_end_(std::exchange(other.window_end_, 0)),
      allocated_(other.allocated_) {}

OutputFile::~OutputFile() {
  abandon();
}

// A program that closes descriptors it does not know may have opened a file of its own in our
// place.
bool OutputFile::still_ours() const noexcept {
  struct stat now {};
  return ::fstat(fd_, &now) == 0 && now.st_dev == device_ && now.st_ino == inode_;
}

// Going past RLIMIT_FSIZE would raise SIGXFSZ in the program.
std::uint64_t OutputFile::size_limit(std::uint64_t asked) const noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return asked;
  return std::min<std::uint64_t>(asked, limit.rlim_cur);
}

bool OutputFile::allocate(std::uint64_t end, std::uint64_t limit) noexcept {
  for (std::uint64_t step = std::clamp(allocated_, kFirstStep, kLargestStep);; step /= 2) {
    const std::uint64_t target = std::min(std::max(allocated_ + step, end), limit);
    int result = 0;
    do
      result = ::fallocate(fd_, 0, static_cast<off_t>(allocated_),
                           static_cast<off_t>(target - allocated_));
    while (result != 0 && errno == EINTR);
    if (result == 0) return allocated_ = target, true;
    if (errno == EOPNOTSUPP || errno == ENOSYS) return unsupported_ = true, fail(kCannotAllocate);
    if (step <= kSmallestStep) return fail(std::strerror(errno));
  }
}

bool OutputFile::map(std::uint64_t from) noexcept {
  const std::uint64_t begin = from / kPage * kPage;
  void* window = ::mmap(nullptr, allocated_ - begin, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
                        static_cast<off_t>(begin));
  if (window == MAP_FAILED) return unsupported_ = true, fail(std::strerror(errno));
  unmap();
  window_ = static_cast<std::uint8_t*>(window);
  window_begin_ = begin;
  window_end_ = allocated_;
  return true;
}

void OutputFile::unmap() noexcept {
  if (window_ != nullptr) ::munmap(window_, window_end_ - window_begin_);
  window_ = nullptr;
}

bool OutputFile::extend(std::uint64_t from, std::uint64_t end, std::uint64_t limit) noexcept {
  if (end <= allocated_ || allocate(end, limit))
    if (map(from)) return true;
  if (!unsupported_ || window_ != nullptr) return false;
  mapped_ = false;  // nothing is stored yet, so the other way can still be taken
  return ::ftruncate(fd_, 0) == 0 || fail(std::strerror(errno));
}

bool OutputFile::reserve(std::uint64_t from, std::uint64_t end, std::uint64_t limit) noexcept {
  at_limit_ = false;
  if (mapped_ && end <= window_end_) return true;
  if (!still_ours()) return fail("the program closed the trace's file descriptor");
  limit = size_limit(limit);
  if (end > limit) return at_limit_ = true, fail("the size limit is reached");
  return !mapped_ || extend(from, end, limit);
}

bool OutputFile::store(std::uint64_t offset, std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.empty()) return true;
  if (mapped_) return std::memcpy(window_ + (offset - window_begin_), bytes.data(), bytes.size());
  while (!bytes.empty()) {
    const ssize_t stored = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (stored < 0 && errno == EINTR) continue;
    if (stored <= 0) return fail(stored < 0 ? std::strerror(errno) : "nothing was written");
    bytes = bytes.subspan(static_cast<std::size_t>(stored));
    offset += static_cast<std::uint64_t>(stored);
  }
  return true;
}

void OutputFile::publish(std::uint64_t offset, std::uint64_t word) noexcept {
  auto* at = reinterpret_cast<std::uint64_t*>(window_ + (offset - window_begin_));
  __atomic_store_n(at, word, __ATOMIC_RELEASE);
}

void OutputFile::close(std::uint64_t size) noexcept {
  unmap();
  // A file that keeps its zero tail reads the same, so a refusal here costs only disk space.
  if (fd_ >= 0 && still_ours() && ::ftruncate(fd_, static_cast<off_t>(size)) != 0)
    why_ = std::strerror(errno);
  abandon();
}

void OutputFile::abandon() noexcept {
  unmap();
  if (fd_ >= 0 && still_ours()) ::close(fd_);
  fd_ = -1;
}

}  // namespace drgpum::trace
