// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several processes of one job side by side: ranks, their peaks, and where they differ.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "offline/report/report.h"

namespace drgpum {

// By rank as a number where every report has one, else as given.
void sort_by_process_rank(std::vector<Report>& reports);

// The place of the highest peak; the first of equals.
std::size_t worst_of(std::span<const Report> reports);

// An allocation site where the programs do not allocate the same.
struct DifferingSite {
  std::string site;
  std::vector<std::uint64_t> bytes;  // in all, by program
};
// Largest spread first, then by site.
std::vector<DifferingSite> differing_sites(std::span<const Report> reports);

// A table of the programs and the sites that differ, as text or Markdown.
void write_programs(std::span<const Report> reports, bool markdown, std::ostream& out);

}  // namespace drgpum
