// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far the iteration of a VggFit is from what AutoSwap's authors published of theirs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "offline/plan/swap_problem.h"
#include "tests/support/calibrated_vgg.h"

namespace drgpum {

// Laid out once for all fits that differ in times alone: loads, WDOA and SWDOA and what is selected
// by them follow from sizes and from the order of events.
class FittedIteration {
 public:
  // Changes what the libraries hold so that the peak is right.
  explicit FittedIteration(testing::VggFit& fit);

  // Whether the peak and the number of candidates are the published ones.
  bool usable() const { return usable_; }

  // Moves the events to the times of a fit of the same sizes.
  void take_times(const testing::VggFit& fit);

  // Points beyond `near` over all cells, and what the bound is off; or something above `enough`.
  double misfit(double near, double enough) const;
  // Points, of the cell that is off the most.
  double largest_error() const;

 private:
  using Selection = std::vector<std::uint32_t>;

  void number_stages(const std::vector<double>& stages);
  void select_by_loads();
  double percent(std::size_t row, std::size_t score) const;

  SwapProblem problem_;
  std::vector<std::uint32_t> among_;
  std::array<std::vector<double>, 4> scores_;
  std::vector<std::array<Selection, 4>> selected_;  // of each row, by WDOA and SWDOA
  std::vector<std::size_t> stage_;                  // of each event of an iteration
  std::size_t first_stage_ = 0;
  bool usable_ = false;
};

}  // namespace drgpum
