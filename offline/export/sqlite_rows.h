// SPDX-License-Identifier: Apache-2.0
#pragma once
// A database that is being filled, and one prepared insertion into it. The first error stays.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "proto/base/result.h"

namespace drgpum {

class SqliteFile {
 public:
  // Replaces nothing: the file has to be new or empty.
  explicit SqliteFile(const std::string& path);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  void run(const char* sql);
  // kIo: the first thing that failed, in SQLite's words.
  Status close();

 private:
  friend class SqliteRows;
  void check(int code);

  sqlite3* database_ = nullptr;
  std::string error_;
};

// insert.add(value, value, ...) for each row; as many values as columns.
class SqliteRows {
 public:
  SqliteRows(SqliteFile& file, std::string_view table, int columns);
  ~SqliteRows();
  SqliteRows(const SqliteRows&) = delete;
  SqliteRows& operator=(const SqliteRows&) = delete;

  template <typename... Values>
  void add(const Values&... values) {
    column_ = 0;
    (bind(values), ...);
    step();
  }

 private:
  // The text has to live until the row is in.
  void bind(std::string_view text);
  void bind(const std::string& text) { bind(std::string_view(text)); }
  void bind(const char* text) { bind(std::string_view(text)); }
  void bind(std::uint64_t value);
  template <std::integral Number>
    requires(!std::same_as<Number, std::uint64_t>)
  void bind(Number value) {
    bind(static_cast<std::uint64_t>(value));
  }
  void bind_null();
  template <typename Value>
  void bind(const std::optional<Value>& value) {
    if (value) return bind(*value);
    bind_null();
  }
  void step();

  SqliteFile& file_;
  sqlite3_stmt* statement_ = nullptr;
  int column_ = 0;
};

}  // namespace drgpum
