// SPDX-License-Identifier: Apache-2.0
#pragma once
// The source lines of one trace, as reports ask for them.

#include <span>
#include <string>
#include <vector>

#include "offline/report/report.h"
#include "offline/source/access_lines.h"
#include "offline/source/source_map.h"
#include "offline/source/source_text.h"
#include "offline/trace/trace.h"

namespace drgpum {

// One line for each module that call paths go through, and for each image of device code that
// touched objects, whose lines are missing, with the reason.
std::vector<std::string> missing_lines(const SourceMap& map, std::span<const ImageNote> images);

class TraceSources : public SourceLookup {
 public:
  TraceSources(SourceMap map, AccessLines accesses, std::vector<ImageNote> images,
               SourcePlaces places)
      : map_(std::move(map)),
        accesses_(std::move(accesses)),
        images_(std::move(images)),
        text_(std::move(places)) {}

  std::vector<SourceFrame> frames(std::uint32_t call_path) override;
  std::size_t site(std::uint32_t call_path) override;
  std::string variable(const SourceFrame& site) override;
  std::vector<AccessLine> access_lines(std::uint32_t object) override;

  // See missing_lines.
  [[nodiscard]] std::vector<std::string> missing() const { return missing_lines(map_, images_); }

 private:
  SourceMap map_;
  AccessLines accesses_;
  std::vector<ImageNote> images_;
  SourceText text_;
};

}  // namespace drgpum
