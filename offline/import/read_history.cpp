// SPDX-License-Identifier: Apache-2.0
#include "offline/import/read_history.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "offline/import/read_kineto.h"
#include "offline/import/read_nsight.h"
#include "offline/import/read_pprof.h"
#include "offline/import/read_snapshot.h"
#include "offline/import/sqlite_table.h"

namespace drgpum {
namespace {

// Kineto writes what it knows of the devices before the events.
constexpr std::size_t kFar = 64 << 10;

std::string_view begin_of(ByteStream& bytes) {
  (void)bytes.need(kFar);
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.available(), kFar)};
}

bool looks_like_chrome(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \n\r\t");
  if (first == std::string_view::npos) return false;
  if (text[first] == '[') return text.find("\"ph\"") != std::string_view::npos;
  return text[first] == '{' && text.find("\"traceEvents\"") != std::string_view::npos;
}

HistoryFormat format_of(ByteStream& bytes) {
  const std::string_view begin = begin_of(bytes);
  if (is_sqlite(begin)) return HistoryFormat::kNsight;
  if (looks_like_pprof(bytes)) return HistoryFormat::kPprof;
  if (looks_like_chrome(begin)) return HistoryFormat::kKineto;
  return looks_like_snapshot(bytes) ? HistoryFormat::kSnapshot : HistoryFormat::kUnknown;
}

}  // namespace

HistoryFormat history_format(const std::string& path) {
  Result<ByteStream> bytes = ByteStream::open(path);
  return bytes ? format_of(*bytes) : HistoryFormat::kUnknown;
}

Result<AllocatorHistory> read_history(const std::string& path, const ReadProgress& progress) {
  ASSIGN_OR_RETURN(ByteStream bytes, ByteStream::open(path));
  const HistoryFormat format = format_of(bytes);
  if (format == HistoryFormat::kNsight) {
    if (bytes.packing() == Packing::kPlain) return read_nsight(path, progress);
    return Error{ErrorCode::kUnsupported, path + ": is a packed SQLite file: unpack it first"};
  }
  Result<AllocatorHistory> history =
      format == HistoryFormat::kKineto  ? read_kineto(std::move(bytes), progress)
      : format == HistoryFormat::kPprof ? read_pprof(std::move(bytes), progress)
                                        : read_snapshot(std::move(bytes), progress);
  if (!history) return std::move(history).error().while_doing(path);
  return history;
}

}  // namespace drgpum
