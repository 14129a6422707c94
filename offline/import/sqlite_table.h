// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables of an SQLite file that anybody may have written, read in the order in which they lie.
// The file is opened for reading only, without looking at a journal beside it, and nothing that its
// schema names is run: only plain tables are read, views and virtual tables are not there.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace drgpum {

bool is_sqlite(std::string_view begin);  // the first 16 bytes of a file

class SqliteTableRows;

class SqliteReader {
 public:
  static constexpr std::size_t kMagicBytes = 16;

  // Errors name the file: it cannot be read, or is damaged where its schema lies.
  static Result<SqliteReader> open(const std::string& path);
  SqliteReader(SqliteReader&&) noexcept;
  ~SqliteReader();

  [[nodiscard]] bool has(std::string_view table) const;
  [[nodiscard]] std::uint64_t bytes() const;  // of the file
  // The columns by name; those that the table lacks give nothing in each row. An absent table has no
  // rows.
  Result<SqliteTableRows> read(const std::string& table, const std::vector<std::string>& columns) const;

 private:
  friend class SqliteTableRows;
  struct Open;
  explicit SqliteReader(std::unique_ptr<Open> open);
  std::unique_ptr<Open> open_;
};

class SqliteTableRows {
 public:
  SqliteTableRows(SqliteTableRows&&) noexcept;
  ~SqliteTableRows();

  // The next row; false at the end. An error names the table: it is damaged, or has more rows than
  // its file has room for.
  Result<bool> next();
  [[nodiscard]] bool has(std::size_t column) const { return there_[column]; }
  // Of the row: what is absent, NULL or of another type gives nothing.
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t column) const;
  [[nodiscard]] std::string_view text(std::size_t column) const;
  // The value as text, for messages.
  [[nodiscard]] std::string shown(std::size_t column) const;
  // "table T, row 3"
  [[nodiscard]] std::string where() const;

 private:
  friend class SqliteReader;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteTableRows(const SqliteReader::Open& file, std::string name) : file_(file), name_(std::move(name)) {}

  const SqliteReader::Open& file_;
  std::string name_;
  std::vector<bool> there_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::uint64_t row_ = 0;
};

}  // namespace drgpum
