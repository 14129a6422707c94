// SPDX-License-Identifier: Apache-2.0
#include "offline/export/pickle_writer.h"

#include <algorithm>

namespace drgpum {
namespace {

constexpr std::size_t kBuffer = 1 << 16;
// Of one APPENDS or SETITEMS: as Python's own pickler does, since readers keep a batch on a stack.
constexpr std::uint32_t kBatch = 1000;

enum Opcode : std::uint8_t {
  kMark = '(',
  kStop = '.',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kBinUnicode = 'X',
  kEmptyList = ']',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItems = 'u',
  kEmptyDict = '}',
  kProto = 0x80,
  kTuple2 = 0x86,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
};

}  // namespace

PickleWriter::PickleWriter(std::ostream& out) : out_(out) {
  byte(kProto);
  byte(4);
}

void PickleWriter::flush() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void PickleWriter::value() {
  if (buffer_.size() >= kBuffer) flush();
  if (open_.empty()) return;
  Open& within = open_.back();
  const std::uint32_t batch = within.is_list ? kBatch : 2 * kBatch;  // keys count too
  if (within.pending == batch) {
    byte(within.is_list ? kAppends : kSetItems);
    byte(kMark);
    within.pending = 0;
  }
  ++within.pending;
}

void PickleWriter::begin_dict() {
  value();
  byte(kEmptyDict);
  byte(kMark);
  open_.push_back({false, 0});
}

void PickleWriter::end_dict() {
  byte(kSetItems);
  open_.pop_back();
}

void PickleWriter::begin_list() {
  value();
  byte(kEmptyList);
  byte(kMark);
  open_.push_back({true, 0});
}

void PickleWriter::end_list() {
  byte(kAppends);
  open_.pop_back();
}

void PickleWriter::little_endian(std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    byte(static_cast<std::uint8_t>(value >> (8 * i)));
}

void PickleWriter::text(std::string_view text) {
  value();
  if (text.size() < 0x100) {
    byte(kShortBinUnicode);
    byte(static_cast<std::uint8_t>(text.size()));
  } else {
    text = text.substr(0, 0xffffffffu);
    byte(kBinUnicode);
    little_endian(text.size(), 4);
  }
  buffer_ += text;
}

void PickleWriter::number(std::uint64_t number) {
  value();
  if (number < 0x100) {
    byte(kBinInt1);
    return little_endian(number, 1);
  }
  if (number < 0x10000) {
    byte(kBinInt2);
    return little_endian(number, 2);
  }
  if (number < 0x80000000u) {
    byte(kBinInt);
    return little_endian(number, 4);
  }
  std::size_t bytes = 5;  // two's complement: the highest bit is the sign
  while (bytes < 9 && (number >> (8 * bytes - 1)) != 0)
    ++bytes;
  byte(kLong1);
  byte(static_cast<std::uint8_t>(bytes));
  little_endian(number, std::min<std::size_t>(bytes, 8));
  if (bytes == 9) byte(0);
}

void PickleWriter::boolean(bool is_true) {
  value();
  byte(is_true ? kNewTrue : kNewFalse);
}

void PickleWriter::pair(std::uint64_t first, std::uint64_t second) {
  value();
  open_.push_back({true, 0});  // its parts are no items
  number(first);
  number(second);
  open_.pop_back();
  byte(kTuple2);
}

std::uint32_t PickleWriter::remember() {
  if (memos_ < 0x100) {
    byte(kBinPut);
    little_endian(memos_, 1);
  } else {
    byte(kLongBinPut);
    little_endian(memos_, 4);
  }
  return memos_++;
}

void PickleWriter::recall(std::uint32_t memo) {
  value();
  if (memo < 0x100) {
    byte(kBinGet);
    return little_endian(memo, 1);
  }
  byte(kLongBinGet);
  little_endian(memo, 4);
}

void PickleWriter::word(std::string_view text_of_word) {
  const auto known = words_.find(text_of_word);
  if (known != words_.end()) return recall(known->second);
  text(text_of_word);
  words_.emplace(text_of_word, remember());
}

void PickleWriter::finish() {
  byte(kStop);
  flush();
}

}  // namespace drgpum
