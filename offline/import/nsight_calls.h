// SPDX-License-Identifier: Apache-2.0
#pragma once
// What rows of an export of Nsight Systems refer to: texts by id, and the calls of the CUDA runtime,
// by process and correlation id, with the stacks below them.
// Source: the comments in the schema that `nsys export --type sqlite` writes.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "offline/import/history_builder.h"
#include "offline/import/sqlite_table.h"

namespace drgpum::nsight {

// Processes and threads are told by one number: 24 bits of the thread at the bottom.
inline constexpr std::int64_t kThreadMask = 0xffffff;
inline std::int64_t process_of(std::int64_t thread) { return thread & ~kThreadMask; }

// A whole number that has to be there.
Result<std::int64_t> whole_number(const SqliteTableRows& row, std::size_t column, const char* name);
Result<std::int64_t> not_negative(const SqliteTableRows& row, std::size_t column, const char* name);

struct Call {
  std::int64_t start = 0;
  std::uint32_t name = 0;  // in the history's texts
  std::int64_t chain = -1;
};

class Calls {
 public:
  explicit Calls(HistoryBuilder& builder) : builder_(builder) {}
  Status load(const SqliteReader& file);

  // Null for calls that the file does not have.
  [[nodiscard]] const Call* find(std::int64_t process, std::optional<std::int64_t> correlation) const;
  [[nodiscard]] std::uint32_t stack(const Call* call) const;
  // A text of StringIds; 0 when it has none of that id.
  [[nodiscard]] std::uint32_t text(std::optional<std::int64_t> id) const;

 private:
  struct Key {
    std::int64_t process;
    std::int64_t correlation;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const auto mixed = static_cast<std::uint64_t>(key.process) * 0x9e3779b97f4a7c15;
      return mixed ^ static_cast<std::uint64_t>(key.correlation);
    }
  };
  Status load_texts(const SqliteReader& file);
  Status load_calls(const SqliteReader& file, const char* table);
  Status load_chains(const SqliteReader& file);

  HistoryBuilder& builder_;
  std::unordered_map<std::int64_t, std::uint32_t> texts_;
  std::unordered_map<Key, Call, Hash> calls_;
  std::unordered_map<std::int64_t, std::uint32_t> stacks_;  // by call chain
};

}  // namespace drgpum::nsight
