// SPDX-License-Identifier: Apache-2.0
// Writing and walking protobuf fields.
#include "proto/wire.h"

#include <bit>
#include <cstdlib>
#include <cstring>

namespace drgpum::wire {

static_assert(std::endian::native == std::endian::little, "fixed fields are copied as they lie");

Encoder::~Encoder() {
  std::free(begin_);
}

bool Encoder::reserve(std::size_t size) noexcept {
  if (static_cast<std::size_t>(end_ - cursor_) >= size) return true;
  const auto used = static_cast<std::size_t>(cursor_ - begin_);
  const std::size_t wanted = (used + size) * 2 + 256;
  auto* grown = static_cast<std::uint8_t*>(std::realloc(begin_, wanted));
  if (grown == nullptr) return failed_ = true, false;
  begin_ = grown;
  cursor_ = grown + used;
  end_ = grown + wanted;
  return true;
}

void Encoder::varint(std::uint64_t value) noexcept {
  if (!reserve(kMaxVarintBytes)) return;
  for (; value >= 0x80; value >>= 7)
    *cursor_++ = static_cast<std::uint8_t>(value | 0x80);
  *cursor_++ = static_cast<std::uint8_t>(value);
}

void Encoder::tag(std::uint32_t number, WireType type) noexcept {
  varint(std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type));
}

void Encoder::raw(const void* data, std::size_t size) noexcept {
  if (size == 0 || !reserve(size)) return;
  std::memcpy(cursor_, data, size);
  cursor_ += size;
}

void Encoder::varint_field(std::uint32_t number, std::uint64_t value) noexcept {
  tag(number, WireType::kVarint);
  varint(value);
}

void Encoder::double_field(std::uint32_t number, double value) noexcept {
  tag(number, WireType::kFixed64);
  raw(&value, sizeof value);
}

void Encoder::bytes_field(std::uint32_t number, std::string_view value) noexcept {
  tag(number, WireType::kBytes);
  varint(value.size());
  raw(value.data(), value.size());
}

std::size_t Encoder::begin_message(std::uint32_t number) noexcept {
  tag(number, WireType::kBytes);
  varint(0);  // one byte for the length, enough for most; end_message makes room for more
  return static_cast<std::size_t>(cursor_ - begin_);
}

void Encoder::end_message(std::size_t mark) noexcept {
  if (failed_) return;
  const std::size_t size = static_cast<std::size_t>(cursor_ - begin_) - mark;
  std::size_t length_bytes = 1;
  for (std::size_t rest = size >> 7; rest != 0; rest >>= 7)
    ++length_bytes;
  if (!reserve(length_bytes)) return;
  std::uint8_t* body = begin_ + mark;
  if (length_bytes > 1) std::memmove(body + length_bytes - 1, body, size);
  cursor_ = body - 1;
  varint(size);
  cursor_ += size;
}

bool Decoder::read_varint(std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; at_ != end_ && shift < 64; shift += 7) {
    const std::uint8_t byte = *at_++;
    if (shift == 63 && byte > 1) return fail();
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return fail();
}

bool Decoder::read_fixed(std::size_t size, std::uint64_t& value) {
  if (static_cast<std::size_t>(end_ - at_) < size) return fail();
  value = 0;
  std::memcpy(&value, at_, size);
  at_ += size;
  return true;
}

bool Decoder::read_bytes(std::span<const std::uint8_t>& bytes) {
  std::uint64_t size = 0;
  if (!read_varint(size)) return false;
  if (size > static_cast<std::uint64_t>(end_ - at_)) return fail();
  bytes = {at_, static_cast<std::size_t>(size)};
  at_ += size;
  return true;
}

bool Decoder::next(Field& field) {
  if (failed_ || at_ == end_) return false;
  std::uint64_t tag = 0;
  if (!read_varint(tag)) return false;
  if ((tag >> 3) == 0 || (tag >> 32) != 0) return fail();
  field.number = static_cast<std::uint32_t>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  switch (field.type) {
    case WireType::kVarint:
      return read_varint(field.value);
    case WireType::kFixed64:
      return read_fixed(8, field.value);
    case WireType::kFixed32:
      return read_fixed(4, field.value);
    case WireType::kBytes:
      return read_bytes(field.bytes);
  }
  return fail();
}

bool Decoder::varint(std::uint64_t& value) {
  return !failed_ && at_ != end_ && read_varint(value);
}

}  // namespace drgpum::wire
