// SPDX-License-Identifier: Apache-2.0
#include "offline/import/nested_slices.h"

#include <algorithm>

namespace drgpum {
namespace {

constexpr std::size_t kMostFrames = 256;

}  // namespace

// A slice ends where the next one begins, but a moment at its end is still its own.
void find_frames(std::vector<OpenSlice> slices, std::vector<AskedMoment> moments, const TakeFrames& take) {
  std::stable_sort(slices.begin(), slices.end(), [](const OpenSlice& a, const OpenSlice& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::stable_sort(moments.begin(), moments.end(),
                   [](const AskedMoment& a, const AskedMoment& b) { return a.time < b.time; });
  std::vector<OpenSlice> open;
  std::vector<std::uint32_t> frames;
  std::size_t next = 0;
  for (const AskedMoment& moment : moments) {
    for (; next < slices.size() && slices[next].begin <= moment.time; ++next) {
      while (!open.empty() && open.back().end <= slices[next].begin)
        open.pop_back();
      open.push_back(slices[next]);
    }
    while (!open.empty() && open.back().end < moment.time)
      open.pop_back();
    frames.clear();
    const std::size_t first = open.size() > kMostFrames ? open.size() - kMostFrames : 0;
    for (std::size_t i = open.size(); i-- > first;)
      if (open[i].end >= moment.time) frames.push_back(open[i].frame);
    take(moment.asker, frames);
  }
}

}  // namespace drgpum
