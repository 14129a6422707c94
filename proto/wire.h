// SPDX-License-Identifier: Apache-2.0
#pragma once
// The protobuf wire encoding without its runtime, so that an injected library can write it.
// Source: protobuf.dev/programming-guides/encoding.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace drgpum::wire {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

inline constexpr std::size_t kMaxVarintBytes = 10;

constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// Appends fields to a buffer of its own that grows and is used again. When the memory for it cannot
// be had, failed() says so and what was written is worthless.
class Encoder {
 public:
  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder();

  void clear() noexcept { cursor_ = begin_, failed_ = false; }
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept { return {begin_, cursor_}; }

  void varint(std::uint64_t value) noexcept;
  void tag(std::uint32_t number, WireType type) noexcept;
  void raw(const void* data, std::size_t size) noexcept;

  void varint_field(std::uint32_t number, std::uint64_t value) noexcept;
  void double_field(std::uint32_t number, double value) noexcept;
  void bytes_field(std::uint32_t number, std::string_view value) noexcept;

  // A field that holds a message: what is written between the two calls. They nest.
  [[nodiscard]] std::size_t begin_message(std::uint32_t number) noexcept;
  void end_message(std::size_t mark) noexcept;

 private:
  [[nodiscard]] bool reserve(std::size_t size) noexcept;

  std::uint8_t* begin_ = nullptr;
  std::uint8_t* cursor_ = nullptr;
  std::uint8_t* end_ = nullptr;
  bool failed_ = false;
};

struct Field {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;              // kVarint, kFixed64, kFixed32
  std::span<const std::uint8_t> bytes;  // kBytes

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

// Walks the fields of one message. Bytes that are no message end the walk and set failed().
// Groups (wire types 3 and 4) are refused: no schema of ours has them.
class Decoder {
 public:
  explicit Decoder(std::span<const std::uint8_t> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  [[nodiscard]] bool next(Field& field);      // false: the end, or failed()
  [[nodiscard]] bool varint(std::uint64_t&);  // an element of a packed field; false as next()
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool done() const { return at_ == end_; }

 private:
  [[nodiscard]] bool fail() { return failed_ = true, false; }
  [[nodiscard]] bool read_varint(std::uint64_t& value);
  [[nodiscard]] bool read_fixed(std::size_t size, std::uint64_t& value);
  [[nodiscard]] bool read_bytes(std::span<const std::uint8_t>& bytes);

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool failed_ = false;
};

}  // namespace drgpum::wire
