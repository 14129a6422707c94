// SPDX-License-Identifier: Apache-2.0
#include "offline/report/report_words.h"

#include <algorithm>
#include <array>

#include "offline/report/line_suffix.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr std::size_t kMostStates = 8;

}  // namespace

std::string words_of(std::string_view pattern) {
  std::string text(pattern);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string_view word_for(StateAtPeak state) {
  switch (state) {
    case StateAtPeak::kUsed:
      return "used";
    case StateAtPeak::kIdle:
      return "idle";
    case StateAtPeak::kUnused:
      return "never used";
    case StateAtPeak::kLeaked:
      return "leaked";
    case StateAtPeak::kUnknown:
      return "live";
  }
  return "";
}

std::string_view name_of(StateAtPeak state) {
  switch (state) {
    case StateAtPeak::kUsed:
      return "used";
    case StateAtPeak::kIdle:
      return "idle";
    case StateAtPeak::kUnused:
      return "unused";
    case StateAtPeak::kLeaked:
      return "leaked";
    case StateAtPeak::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string states_of(const Evidence& e, const Peak& peak) {
  std::array<std::uint64_t, kMostStates> bytes{};
  for (const LiveObject& live : peak.objects)
    bytes.at(static_cast<std::size_t>(live.state)) += e.objects[live.object].size;
  std::string text;
  for (std::size_t state = 0; state < bytes.size(); ++state)
    if (bytes.at(state) > 0)
      text += (text.empty() ? "" : ", ") + iec_bytes(bytes.at(state)) + " " +
              std::string(word_for(static_cast<StateAtPeak>(state)));
  return text;
}

std::string site_text(const Report& report, std::uint32_t object) {
  const SourceFrame* site = report.site_of(report.evidence.objects[object].alloc);
  if (site == nullptr) return {};
  if (site->file.empty()) return printable(site->function);
  return printable(site->function) + (site->function.empty() ? "" : " ") + printable(site->file) +
         line_suffix(site->line);
}

std::string savings_text(const Report& report) {
  const std::uint64_t after = report.savings.peak_after_all_fixes_bytes;
  const std::uint64_t peak = report.savings.peak_bytes;
  if (after >= peak) return "no fix lowers the peak";
  return "all fixes: " + iec_bytes(after) + ", " + percent_of(peak - after, peak) + " less";
}

}  // namespace drgpum
