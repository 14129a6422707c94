// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plain values as a Python pickle of protocol 4, written as it goes. Only opcodes that every
// reader of memory snapshots knows: no globals, nothing that would be called.
// Source: the opcodes' meaning as Python's pickletools tells it.

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace drgpum {

class PickleWriter {
 public:
  explicit PickleWriter(std::ostream& out);
  ~PickleWriter() { flush(); }
  PickleWriter(const PickleWriter&) = delete;
  PickleWriter& operator=(const PickleWriter&) = delete;

  // Dictionaries and lists nest; in a dictionary a key comes before each value.
  void begin_dict();
  void end_dict();
  void begin_list();
  void end_list();
  void text(std::string_view value);
  void number(std::uint64_t value);
  void boolean(bool value);
  void pair(std::uint64_t first, std::uint64_t second);  // a tuple

  // A text that recurs, written once.
  void word(std::string_view value);
  // The value just written, to be had again.
  std::uint32_t remember();
  void recall(std::uint32_t memo);

  void finish();

 private:
  struct Open {
    bool is_list = false;
    std::uint32_t pending = 0;  // values since the last mark
  };

  void value();  // before each: lists take their items in batches
  void byte(std::uint8_t value) { buffer_.push_back(static_cast<char>(value)); }
  void little_endian(std::uint64_t value, std::size_t bytes);
  void flush();

  std::ostream& out_;
  std::string buffer_;
  std::vector<Open> open_;
  std::map<std::string, std::uint32_t, std::less<>> words_;
  std::uint32_t memos_ = 0;
};

}  // namespace drgpum
