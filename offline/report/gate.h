// SPDX-License-Identifier: Apache-2.0
#pragma once
// Conditions under which a report fails a build: `--fail-on 'peak>1GiB'`.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "offline/report/report.h"
#include "proto/base/result.h"

namespace drgpum {

enum class Comparison : std::uint8_t { kAbove, kAtLeast, kBelow, kAtMost, kEqual, kUnequal };

struct Gate {
  std::string text;    // as written
  std::string metric;  // a name of metric_names()
  Comparison comparison = Comparison::kAbove;
  double value = 0;
  bool percent = false;
};

// `metric op value[unit]`: op is > >= < <= = == !=; unit is none, %, B, KB, MB, GB, TB (powers of
// 1000) or KiB, MiB, GiB, TiB; blanks are allowed. Metrics, in bytes unless said otherwise:
//   peak, lower_bound, pinned_peak
//   saving            what all fixes take off the peak; % of the peak
//   peak_growth       over the baseline's peak; % of it
//   findings, proven, failed_allocations   counts
//   a pattern's name  counts its findings
// kInvalidArgument says what is wrong.
Result<Gate> parse_gate(std::string_view text);

// Whether the condition is true, so that the gate fails. kInvalidArgument: it needs a baseline.
Result<bool> is_true(const Gate& gate, const Report& report,
                     std::optional<std::uint64_t> baseline_peak);

std::vector<std::string> metric_names();

}  // namespace drgpum
