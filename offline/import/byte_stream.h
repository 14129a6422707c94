// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bytes of an input file in order, whatever it is packed in: plain, gzip (RFC 1952) or Zstandard
// (RFC 8878). They pass through one window, so a file of any size needs the memory of the longest
// run that is asked for at once. Files are read, not mapped: one that shrinks meanwhile gives an
// error, not a signal, and nothing of it stays resident.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proto/base/result.h"

namespace drgpum {

// Told the bytes read of the file and the bytes there are (0: not known), every few MiB.
using ReadProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

enum class Packing : std::uint8_t { kPlain, kGzip, kZstd };

class ByteStream {
 public:
  // The longest run that can be asked for at once.
  static constexpr std::size_t kMaxRun = std::size_t{16} << 20;

  // kNotFound, kIo: the file cannot be read.
  static Result<ByteStream> open(const std::string& path);
  // For tests; unpacks as files do.
  static ByteStream from_bytes(std::string bytes);

  ByteStream(ByteStream&&) noexcept;
  ByteStream& operator=(ByteStream&&) = delete;
  ~ByteStream();

  // Unpacked bytes before the next one.
  [[nodiscard]] std::uint64_t offset() const { return window_offset_ + begin_; }
  [[nodiscard]] const std::uint8_t* data() const { return window_.get() + begin_; }
  [[nodiscard]] std::size_t available() const { return end_ - begin_; }
  void advance(std::size_t bytes) { begin_ += bytes; }

  // Makes at least `bytes` (at most kMaxRun) available if there are so many; false otherwise.
  [[nodiscard]] bool need(std::size_t bytes) {
    return available() >= bytes || refill(bytes);
  }
  // Passes over `bytes`; false when the end comes first.
  [[nodiscard]] bool skip(std::uint64_t bytes);
  // Whether so many bytes can still follow: known of a plain file, unknown (true) of others.
  [[nodiscard]] bool may_hold(std::uint64_t bytes) const;

  // Why the bytes ended before the file did: a broken or bloated packing, a reading error.
  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }
  [[nodiscard]] Packing packing() const { return packing_; }
  // Of the file as it is, for progress. file_bytes() is 0 when not known.
  [[nodiscard]] std::uint64_t bytes_read() const;
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  class Source;
  explicit ByteStream(std::unique_ptr<Source> source, std::uint64_t file_bytes);
  bool refill(std::size_t bytes);

  std::unique_ptr<Source> source_;
  std::uint64_t file_bytes_ = 0;
  Packing packing_ = Packing::kPlain;
  std::unique_ptr<std::uint8_t[]> window_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t window_offset_ = 0;
  bool ended_ = false;
  std::optional<Error> problem_;
};

}  // namespace drgpum
