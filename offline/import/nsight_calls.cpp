// SPDX-License-Identifier: Apache-2.0
#include "offline/import/nsight_calls.h"

#include <string_view>
#include <utility>
#include <vector>

namespace drgpum::nsight {
namespace {

// "cudaMalloc_v3020" is how the profiler tells versions of an interface apart.
std::string_view without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || at + 2 == name.size()) return name;
  const bool digits = name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return digits && name.starts_with("cuda") ? name.substr(0, at) : name;
}

}  // namespace

Result<std::int64_t> whole_number(const SqliteTableRows& row, std::size_t column, const char* name) {
  const std::optional<std::int64_t> value = row.integer(column);
  if (value) return *value;
  return bad_value(row.where(), name, row.shown(column), "a whole number belongs there");
}

Result<std::int64_t> not_negative(const SqliteTableRows& row, std::size_t column, const char* name) {
  ASSIGN_OR_RETURN(const std::int64_t value, whole_number(row, column, name));
  if (value >= 0) return value;
  return bad_value(row.where(), name, std::to_string(value), "it cannot be negative");
}

Status Calls::load(const SqliteReader& file) {
  RETURN_IF_ERROR(load_texts(file));
  RETURN_IF_ERROR(load_chains(file));
  RETURN_IF_ERROR(load_calls(file, "CUPTI_ACTIVITY_KIND_DRIVER"));
  return load_calls(file, "CUPTI_ACTIVITY_KIND_RUNTIME");
}

Status Calls::load_texts(const SqliteReader& file) {
  ASSIGN_OR_RETURN(SqliteTableRows rows, file.read("StringIds", {"id", "value"}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.next());
    if (!more) return Ok{};
    if (const auto id = rows.integer(0))
      texts_[*id] = builder_.text(without_version(rows.text(1)));
  }
}

Status Calls::load_calls(const SqliteReader& file, const char* table) {
  ASSIGN_OR_RETURN(
      SqliteTableRows rows,
      file.read(table, {"start", "globalTid", "correlationId", "nameId", "callchainId"}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.next());
    if (!more) return Ok{};
    const auto correlation = rows.integer(2);
    if (!correlation) continue;
    ASSIGN_OR_RETURN(const std::int64_t start, whole_number(rows, 0, "start"));
    const Key key{process_of(rows.integer(1).value_or(0)), *correlation};
    calls_[key] = {start, text(rows.integer(3)), rows.integer(4).value_or(-1)};
  }
}

// Depth 0 is the innermost function.
Status Calls::load_chains(const SqliteReader& file) {
  ASSIGN_OR_RETURN(SqliteTableRows rows,
                   file.read("CUDA_CALLCHAINS", {"id", "stackDepth", "symbol", "module"}));
  std::map<std::int64_t, std::map<std::int64_t, std::uint32_t>> chains;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.next());
    if (!more) break;
    const auto id = rows.integer(0);
    const auto depth = rows.integer(1);
    if (!id || !depth) continue;
    const std::string function(builder_.history.texts[text(rows.integer(2))]);
    const std::string module(builder_.history.texts[text(rows.integer(3))]);
    chains[*id][*depth] = builder_.frame(function, module, 0);
  }
  for (const auto& [id, depths] : chains) {
    std::vector<std::uint32_t> frames;
    for (const auto& [depth, frame] : depths)
      frames.push_back(frame);
    stacks_[id] = builder_.stack(frames);
  }
  return Ok{};
}

// Without a process in the rows, correlation ids are the only key.
const Call* Calls::find(std::int64_t process, std::optional<std::int64_t> correlation) const {
  if (!correlation) return nullptr;
  const auto found = calls_.find({process, *correlation});
  return found == calls_.end() ? nullptr : &found->second;
}

std::uint32_t Calls::stack(const Call* call) const {
  if (call == nullptr) return 0;
  const auto found = stacks_.find(call->chain);
  return found == stacks_.end() ? 0 : found->second;
}

std::uint32_t Calls::text(std::optional<std::int64_t> id) const {
  const auto found = id ? texts_.find(*id) : texts_.end();
  return found == texts_.end() ? 0 : found->second;
}

}  // namespace drgpum::nsight
