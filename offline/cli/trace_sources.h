// SPDX-License-Identifier: Apache-2.0
#pragma once
// The source lines of one trace, as reports ask for them.

#include <string>
#include <vector>

#include "offline/report/report.h"
#include "offline/source/source_map.h"
#include "offline/source/source_text.h"
#include "offline/trace/trace.h"

namespace drgpum {

class TraceSources : public SourceLookup {
 public:
  TraceSources(SourceMap map, SourcePlaces places)
      : map_(std::move(map)), text_(std::move(places)) {}

  std::vector<SourceFrame> frames(std::uint32_t call_path) override;
  std::size_t site(std::uint32_t call_path) override;
  std::string variable(const SourceFrame& site) override;

  // One line for each module that call paths go through and whose lines are missing, with the
  // reason.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  SourceMap map_;
  SourceText text_;
};

}  // namespace drgpum
