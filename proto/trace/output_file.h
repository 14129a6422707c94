// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file under a trace writer: bytes stored here outlive the process, even one that is killed.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <sys/types.h>

#include "proto/base/result.h"

namespace drgpum::trace {

// Two ways to store, chosen at creation. Mapped: the file's pages are shared memory, allocated on
// disk in steps ahead of use, so that a full disk shows here as an error and not as a SIGBUS in the
// program. Written: pwrite for each store, where the file system cannot allocate ahead or map.
class OutputFile {
 public:
  // Never opens an existing file; `replace` removes one first, if it is a regular file.
  static Result<OutputFile> create(const std::string& path, bool replace);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] bool mapped() const { return mapped_; }

  // Makes [from, end) storable; what lies before `from` cannot be stored to any more. `limit`: the
  // most bytes that the file may have. False: why() says the reason and nothing has changed.
  [[nodiscard]] bool reserve(std::uint64_t from, std::uint64_t end, std::uint64_t limit) noexcept;
  [[nodiscard]] const char* why() const { return why_; }
  [[nodiscard]] bool at_limit() const { return at_limit_; }  // the last reserve() failed on `limit`

  // Inside what was reserved.
  [[nodiscard]] bool store(std::uint64_t offset, std::span<const std::uint8_t> bytes) noexcept;
  // As one unit: a reader sees the old word or the new one. Mapped files only; offset % 8 == 0.
  void publish(std::uint64_t offset, std::uint64_t word) noexcept;

  void close(std::uint64_t size) noexcept;  // cuts the file to `size` bytes
  void abandon() noexcept;                  // leaves the file as it is (in a forked child)

 private:
  OutputFile(int fd, dev_t device, ino_t inode) : fd_(fd), device_(device), inode_(inode) {}
  [[nodiscard]] bool fail(const char* why) noexcept { return why_ = why, false; }
  [[nodiscard]] bool still_ours() const noexcept;
  [[nodiscard]] std::uint64_t size_limit(std::uint64_t asked) const noexcept;
  [[nodiscard]] bool extend(std::uint64_t from, std::uint64_t end, std::uint64_t limit) noexcept;
  [[nodiscard]] bool allocate(std::uint64_t end, std::uint64_t limit) noexcept;
  [[nodiscard]] bool map(std::uint64_t from) noexcept;
  void unmap() noexcept;

  int fd_;
  dev_t device_;
  ino_t inode_;
  bool mapped_ = true;
  bool at_limit_ = false;
  bool unsupported_ = false;  // the file system cannot allocate ahead or map
  const char* why_ = "";
  std::uint8_t* window_ = nullptr;  // holds [window_begin_, window_end_)
  std::uint64_t window_begin_ = 0;
  std::uint64_t window_end_ = 0;
  std::uint64_t allocated_ = 0;
};

}  // namespace drgpum::trace
