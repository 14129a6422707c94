// SPDX-License-Identifier: Apache-2.0
// The database, asked with SQL.

#include <filesystem>
#include <fstream>

#include <sqlite3.h>
#include <unistd.h>

#include "offline/export/sqlite_schema.h"
#include "tests/support/random_program.h"
#include "tests/unit/offline/export/exported.h"

namespace drgpum {
namespace {

class Database {
 public:
  explicit Database(const std::string& bytes)
      : path_(std::filesystem::temp_directory_path() /
              ("drgpum_sqlite_test." + std::to_string(::getpid()))) {
    std::ofstream(path_, std::ios::binary) << bytes;
    EXPECT_EQ(sqlite3_open_v2(path_.c_str(), &database_, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    EXPECT_EQ(ask("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(ask("PRAGMA foreign_key_check"), "");
    EXPECT_EQ(ask("PRAGMA user_version"), std::to_string(kSqliteSchemaVersion));
  }
  ~Database() {
    sqlite3_close(database_);
    std::filesystem::remove(path_);
  }
  Database(const Database&) = delete;

  // Rows end with ';', values with '|' in between.
  std::string ask(const std::string& sql) const {
    std::string text;
    char* error = nullptr;
    const auto row = [](void* out, int columns, char** values, char**) {
      auto& all = *static_cast<std::string*>(out);
      if (!all.empty()) all += "; ";
      for (int c = 0; c < columns; ++c)
        all += (c == 0 ? "" : "|") + std::string(values[c] == nullptr ? "NULL" : values[c]);
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database_, sql.c_str(), row, &text, &error), SQLITE_OK)
        << sql << ": " << error;
    sqlite3_free(error);
    return text;
  }

 private:
  std::filesystem::path path_;
  sqlite3* database_ = nullptr;
};

TEST(Sqlite, AnswersWhatAReportSays) {
  const Exported exported(
      "stream s\npath P 0x10\nalloc a 1000 path=P\nalloc b 2000 at=0x5000\nmemcpy h2d a\nlaunch k "
      "writes b reads a on=s\n"
      "launch k updates b\nfree a\nmark here\nend exit=0\n");
  const Database db(exported.as("sqlite"));
  EXPECT_EQ(db.ask("SELECT name, size_bytes, kind, alloc_call, end_call, free_call FROM objects"),
            "a|1000|device|0|5|5; b|2000|device|1|7|NULL");
  EXPECT_EQ(
      db.ask("SELECT id, kind, kernel, bytes, direction, text FROM apis WHERE id IN (2, 3, 6)"),
      "2|memcpy|NULL|1000|h2d|NULL; 3|launch|k|NULL|NULL|NULL; 6|mark|NULL|NULL|NULL|here");
  EXPECT_EQ(db.ask("SELECT o.name, u.call, reads, writes, by_kernel FROM uses u JOIN objects o ON "
                   "o.id = u.object"),
            "a|2|0|1|0; a|3|1|0|1; b|3|0|1|1; b|4|1|1|1");
  EXPECT_EQ(db.ask("SELECT function, file, line FROM objects o JOIN call_paths p ON p.id = "
                   "o.call_path AND p.site "
                   "JOIN frames f ON f.id = p.frame WHERE o.name = 'a'"),
            "make1|src/a.cpp|11");
  EXPECT_EQ(db.ask("SELECT bytes FROM peaks WHERE rank = 1"),
            std::to_string(exported.report.peak_bytes()));
  EXPECT_EQ(db.ask("SELECT sum(size_bytes) FROM peak_objects p JOIN objects o ON o.id = p.object "
                   "WHERE peak = 1"),
            std::to_string(exported.report.peak_bytes()));
  EXPECT_EQ(db.ask("SELECT max(bytes) FROM live"), std::to_string(exported.report.peak_bytes()));
  EXPECT_EQ(db.ask("SELECT count(*) FROM findings"),
            std::to_string(exported.report.findings.size()));
  EXPECT_EQ(db.ask("SELECT count(*) FROM findings WHERE pattern = 'memory_leak' AND object = 1"),
            "1");
  EXPECT_EQ(db.ask("SELECT value FROM meta WHERE key = 'tool'"), "drgpum 1.2.3");
}

TEST(Sqlite, ColumnsHaveTypesAndIndices) {
  const Database db(Exported("end exit=0\n").as("sqlite"));
  EXPECT_EQ(
      db.ask("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%STRICT%'"),
      "0");
  EXPECT_EQ(db.ask("SELECT count(*) FROM sqlite_master WHERE type = 'table'"), "13");
  EXPECT_NE(db.ask("EXPLAIN QUERY PLAN SELECT * FROM uses WHERE call = 3").find("uses_by_call"),
            std::string::npos);
}

TEST(Sqlite, RandomProgramsAreThereWhole) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    const Exported exported(RandomProgram(seed, true).text());
    const Database db(exported.as("sqlite"));
    const Evidence& e = exported.report.evidence;
    EXPECT_EQ(db.ask("SELECT count(*) FROM objects"), std::to_string(e.objects.size()));
    EXPECT_EQ(db.ask("SELECT count(*) FROM uses"), std::to_string(e.uses.size()));
    EXPECT_EQ(db.ask("SELECT count(*) FROM apis"), std::to_string(e.api_count()));
    EXPECT_EQ(db.ask("SELECT sum(wasted_bytes) FROM findings"), [&] {
      std::uint64_t sum = 0;
      for (const Finding& finding : exported.report.findings)
        sum += finding.wasted_bytes;
      return exported.report.findings.empty() ? std::string("NULL") : std::to_string(sum);
    }());
  }
}

TEST(Sqlite, NamesAreCleanText) {
  const Exported exported(evil_records(), kEvilName);
  const Database db(exported.as("sqlite"));
  for (const char* texts : {"SELECT name FROM objects", "SELECT name FROM streams",
                            "SELECT advice FROM findings", "SELECT function || file FROM frames",
                            "SELECT name || ifnull(kernel, '') || ifnull(text, '') FROM apis"})
    EXPECT_TRUE(is_clean(db.ask(texts))) << db.ask(texts);
  EXPECT_EQ(db.ask("SELECT count(*) FROM objects WHERE name LIKE '<b>%'"), "2");
}

}  // namespace
}  // namespace drgpum
