// SPDX-License-Identifier: Apache-2.0
#pragma once
// From evidence to a report: order, detect, measure savings, name the source lines.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "offline/patterns/pattern_input.h"
#include "offline/report/report.h"
#include "offline/report/suppressions.h"

namespace drgpum {

struct ReportOptions {
  Rules rules = Rules::kStrict;
  std::optional<MemoryLevel> level;  // none: tensors where the trace has any
  Thresholds thresholds;
  std::vector<Suppression> suppressions;
  std::size_t peak_count = 3;
  unsigned threads = 0;         // that judge; 0: as many as are worth it
  bool with_pool = false;       // also plan a pool for the objects as they are
  bool with_call_paths = true;  // of every object; else only where findings point
  // Told what is being done, on the way.
  std::function<void(std::string_view stage)> progress;
};

Report build_report(Evidence evidence, bool complete, std::string incomplete_because,
                    SourceLookup& sources, const ReportOptions& options);

}  // namespace drgpum
