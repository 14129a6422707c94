// SPDX-License-Identifier: Apache-2.0
#include "offline/import/load_input.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "offline/import/read_history.h"
#include "offline/import/trace_records.h"
#include "proto/trace/trace_file.h"

namespace drgpum {

InputKind input_kind(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return InputKind::kOther;
  std::ifstream file(path, std::ios::binary);
  std::array<char, trace::kFileMagic.size()> begin{};
  file.read(begin.data(), begin.size());
  const bool is_trace =
      file.gcount() == static_cast<std::streamsize>(begin.size()) &&
      std::equal(begin.begin(), begin.end(), trace::kFileMagic.begin(),
                 [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
  if (is_trace) return InputKind::kTrace;
  return history_format(path) == HistoryFormat::kUnknown ? InputKind::kOther : InputKind::kHistory;
}

Status feed_history(const std::string& path,
                    const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                    const RecordSink& sink) {
  ASSIGN_OR_RETURN(const AllocatorHistory history, read_history(path, progress));
  return write_history(history, sink);
}

Result<Trace> load_input(const std::string& path, const LoadOptions& options) {
  if (input_kind(path) != InputKind::kHistory) return load_trace(path, options);
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return load_trace(
      path, error ? 0 : size,
      [&](const RecordSink& sink) { return feed_history(path, options.progress, sink); }, options);
}

}  // namespace drgpum
