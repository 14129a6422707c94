// SPDX-License-Identifier: Apache-2.0
#include "offline/export/sqlite_rows.h"

#include <algorithm>

namespace drgpum {

SqliteFile::SqliteFile(const std::string& path) {
  check(sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        nullptr));
}

SqliteFile::~SqliteFile() {
  sqlite3_close_v2(database_);
}

void SqliteFile::check(int code) {
  if (code == SQLITE_OK || code == SQLITE_DONE || !error_.empty()) return;
  error_ = database_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database_);
}

void SqliteFile::run(const char* sql) {
  if (error_.empty()) check(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr));
}

Status SqliteFile::close() {
  check(sqlite3_close(database_));
  database_ = nullptr;
  if (error_.empty()) return Ok{};
  return Error{ErrorCode::kIo, "the database cannot be written: " + error_};
}

SqliteRows::SqliteRows(SqliteFile& file, std::string_view table, int columns) : file_(file) {
  std::string sql = "INSERT INTO " + std::string(table) + " VALUES(?";
  for (int c = 1; c < columns; ++c)
    sql += ",?";
  sql += ")";
  if (file_.error_.empty())
    file_.check(sqlite3_prepare_v2(file_.database_, sql.c_str(), -1, &statement_, nullptr));
}

SqliteRows::~SqliteRows() {
  sqlite3_finalize(statement_);
}

void SqliteRows::bind(std::string_view text) {
  if (statement_ == nullptr) return;
  file_.check(sqlite3_bind_text64(statement_, ++column_, text.data() == nullptr ? "" : text.data(),
                                  text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void SqliteRows::bind(std::uint64_t value) {
  if (statement_ == nullptr) return;
  const auto held = static_cast<sqlite3_int64>(std::min<std::uint64_t>(value, INT64_MAX));
  file_.check(sqlite3_bind_int64(statement_, ++column_, held));
}

void SqliteRows::bind_null() {
  if (statement_ != nullptr) file_.check(sqlite3_bind_null(statement_, ++column_));
}

void SqliteRows::step() {
  if (statement_ == nullptr || !file_.error_.empty()) return;
  file_.check(sqlite3_step(statement_));
  sqlite3_reset(statement_);
}

}  // namespace drgpum
