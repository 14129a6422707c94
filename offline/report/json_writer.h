// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes JSON as it goes, so that a report of a million objects needs no tree in memory.

#include <concepts>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace drgpum {

// Objects and arrays nest; a key comes before each value in an object. Text becomes valid UTF-8;
// numbers never depend on the locale. One line for each member of the outermost two levels.
class JsonWriter {
 public:
  explicit JsonWriter(std::ostream& out) : out_(out) { buffer_.reserve(2 * kBuffer); }
  ~JsonWriter() { flush(); }
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& null();
  JsonWriter& boolean(bool value);
  JsonWriter& number(std::integral auto value) {
    if constexpr (std::signed_integral<decltype(value)>) {
      return signed_number(value);
    } else {
      return unsigned_number(value);
    }
  }
  JsonWriter& real(double value);

  void field(std::string_view name, std::string_view value) { key(name).text(value); }
  void field(std::string_view name, const char* value) { key(name).text(value); }
  void field(std::string_view name, bool value) { key(name).boolean(value); }
  void field(std::string_view name, double value) { key(name).real(value); }
  template <std::integral T>
  requires(!std::same_as<T, bool>) void field(std::string_view name, T value) {
    key(name).number(value);
  }

 private:
  JsonWriter& unsigned_number(std::uint64_t value);
  JsonWriter& signed_number(std::int64_t value);
  void separate();
  void open(char bracket);
  void close(char bracket);
  void quoted(std::string_view value);

  void flush();
  void spill() {
    if (buffer_.size() >= kBuffer) flush();
  }

  static constexpr std::size_t kBuffer = 1 << 16;
  std::ostream& out_;
  std::string buffer_;
  std::vector<bool> has_members_;  // by depth
  bool after_key_ = false;
};

}  // namespace drgpum
