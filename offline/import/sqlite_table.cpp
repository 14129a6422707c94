// SPDX-License-Identifier: Apache-2.0
#include "offline/import/sqlite_table.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <sqlite3.h>

namespace drgpum {
namespace {

constexpr std::uint64_t kLeastRowBytes = 2;  // its length and its rowid
constexpr int kLongestValue = 16 << 20;
constexpr std::size_t kMostTables = 10'000;

struct Close {
  void operator()(sqlite3* file) const { sqlite3_close(file); }
};

// A path as part of a URI (RFC 3986, 2.1).
std::string escaped(const std::string& path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/._-~").find(c) != std::string_view::npos;
    if (plain)
      uri += c;
    else
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return uri;
}

std::string sql_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name)
    text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

}  // namespace

bool is_sqlite(std::string_view begin) {
  constexpr std::string_view kMagic{"SQLite format 3\0", SqliteReader::kMagicBytes};
  return begin.starts_with(kMagic);
}

struct SqliteReader::Open {
  std::unique_ptr<sqlite3, Close> handle;
  std::uint64_t bytes = 0;
  std::map<std::string, std::set<std::string>, std::less<>> tables;  // columns of each

  Error problem(const std::string& where) const {
    return {ErrorCode::kCorrupt, where + ": " + sqlite3_errmsg(handle.get())};
  }
  Result<std::unique_ptr<sqlite3_stmt, SqliteTableRows::Finalize>> prepare(
      const std::string& sql, const std::string& where) const {
    sqlite3_stmt* statement = nullptr;
    const int status = sqlite3_prepare_v2(handle.get(), sql.c_str(), -1, &statement, nullptr);
    std::unique_ptr<sqlite3_stmt, SqliteTableRows::Finalize> held(statement);
    if (status != SQLITE_OK) return problem(where);
    return held;
  }
  Status find_tables();
  Status find_columns(const std::string& table);
};

void SqliteTableRows::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

// The text of a virtual table says so; its module could do anything.
Status SqliteReader::Open::find_tables() {
  ASSIGN_OR_RETURN(
      const auto rows,
      prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0", "its schema"));
  std::vector<std::string> names;
  int status = SQLITE_ROW;
  while ((status = sqlite3_step(rows.get())) == SQLITE_ROW && names.size() < kMostTables)
    if (const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(rows.get(), 0)))
      names.emplace_back(name);
  if (status != SQLITE_DONE) return problem("its schema");
  for (const std::string& name : names)
    RETURN_IF_ERROR(find_columns(name));
  return Ok{};
}

Status SqliteReader::Open::find_columns(const std::string& table) {
  const std::string where = "table " + table;
  ASSIGN_OR_RETURN(const auto rows, prepare("PRAGMA table_info(" + sql_name(table) + ")", where));
  std::set<std::string>& columns = tables[table];
  int status = SQLITE_ROW;
  while ((status = sqlite3_step(rows.get())) == SQLITE_ROW)
    if (const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(rows.get(), 1)))
      columns.emplace(name);
  if (status != SQLITE_DONE) return problem(where);
  return Ok{};
}

SqliteReader::SqliteReader(std::unique_ptr<Open> open) : open_(std::move(open)) {}
SqliteReader::SqliteReader(SqliteReader&&) noexcept = default;
SqliteReader::~SqliteReader() = default;

Result<SqliteReader> SqliteReader::open(const std::string& path) {
  auto open = std::make_unique<Open>();
  std::error_code error;
  const std::string whole = std::filesystem::absolute(path, error).string();
  open->bytes = std::filesystem::file_size(path, error);
  if (error) return Error{ErrorCode::kIo, path + ": " + error.message()};
  sqlite3* handle = nullptr;
  const int status = sqlite3_open_v2(("file:" + escaped(whole) + "?immutable=1").c_str(), &handle,
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  open->handle.reset(handle);
  if (status != SQLITE_OK)
    return Error{ErrorCode::kIo, path + ": SQLite: " + sqlite3_errstr(status)};
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_exec(handle, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
  if (Status found = open->find_tables(); !found) return std::move(found).error().while_doing(path);
  return SqliteReader(std::move(open));
}

bool SqliteReader::has(std::string_view table) const {
  return open_->tables.find(table) != open_->tables.end();
}

std::uint64_t SqliteReader::bytes() const {
  return open_->bytes;
}

Result<SqliteTableRows> SqliteReader::read(const std::string& table,
                                     const std::vector<std::string>& columns) const {
  SqliteTableRows rows(*open_, table);
  const auto found = open_->tables.find(table);
  std::string list;
  for (const std::string& column : columns) {
    rows.there_.push_back(found != open_->tables.end() && found->second.contains(column));
    list += (list.empty() ? "" : ", ") + (rows.there_.back() ? sql_name(column) : "NULL");
  }
  if (found == open_->tables.end()) return rows;
  ASSIGN_OR_RETURN(rows.statement_,
                   open_->prepare("SELECT " + list + " FROM " + sql_name(table), "table " + table));
  return rows;
}

SqliteTableRows::SqliteTableRows(SqliteTableRows&&) noexcept = default;
SqliteTableRows::~SqliteTableRows() = default;

// Pages of a damaged file may point at each other, and a scan then never ends.
Result<bool> SqliteTableRows::next() {
  if (statement_ == nullptr) return false;
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_DONE) return false;
  if (status != SQLITE_ROW) return file_.problem(where());
  if (++row_ > file_.bytes / kLeastRowBytes)
    return Error{ErrorCode::kCorrupt, where() + ": a file of this size cannot hold so many rows"};
  return true;
}

std::optional<std::int64_t> SqliteTableRows::integer(std::size_t column) const {
  const int at = static_cast<int>(column);
  if (sqlite3_column_type(statement_.get(), at) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(statement_.get(), at);
}

std::string_view SqliteTableRows::text(std::size_t column) const {
  const int at = static_cast<int>(column);
  if (sqlite3_column_type(statement_.get(), at) != SQLITE_TEXT) return {};
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), at));
  const int size = sqlite3_column_bytes(statement_.get(), at);
  return text == nullptr ? std::string_view() : std::string_view(text, static_cast<std::size_t>(size));
}

std::string SqliteTableRows::shown(std::size_t column) const {
  const int at = static_cast<int>(column);
  const int type = sqlite3_column_type(statement_.get(), at);
  if (type == SQLITE_NULL) return "NULL";
  if (type == SQLITE_BLOB) return "a blob";
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), at));
  return text == nullptr ? "?" : std::string(text).substr(0, 40);
}

std::string SqliteTableRows::where() const {
  return "table " + name_ + ", row " + std::to_string(row_);
}

}  // namespace drgpum
