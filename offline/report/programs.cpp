// SPDX-License-Identifier: Apache-2.0
#include "offline/report/programs.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <ostream>

#include "offline/report/classic_stream.h"
#include "offline/report/report_diff.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr std::size_t kShownSites = 10;

bool rank_of(const Report& report, std::uint64_t& rank) {
  const std::string& text = report.evidence.process.rank;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::uint64_t spread(const DifferingSite& site) {
  const auto [least, most] = std::minmax_element(site.bytes.begin(), site.bytes.end());
  return *most - *least;
}

std::string name_of_program(const Report& report) {
  const std::string& rank = report.evidence.process.rank;
  if (!rank.empty()) return "rank " + printable(rank);
  return "pid " + std::to_string(report.evidence.process.pid);
}

}  // namespace

void sort_by_process_rank(std::vector<Report>& reports) {
  std::uint64_t rank = 0;
  for (const Report& report : reports)
    if (!rank_of(report, rank)) return;
  std::stable_sort(reports.begin(), reports.end(), [](const Report& a, const Report& b) {
    std::uint64_t x = 0;
    std::uint64_t y = 0;
    rank_of(a, x);
    rank_of(b, y);
    return x < y;
  });
}

std::size_t worst_of(std::span<const Report> reports) {
  std::size_t worst = 0;
  for (std::size_t i = 1; i < reports.size(); ++i)
    if (reports[i].peak_bytes() > reports[worst].peak_bytes()) worst = i;
  return worst;
}

std::vector<DifferingSite> differing_sites(std::span<const Report> reports) {
  std::map<std::string, std::vector<std::uint64_t>> bytes;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Report& report = reports[i];
    for (std::uint32_t o = 0; o < report.evidence.objects.size(); ++o) {
      if (!holds_memory(report.evidence.objects[o], report.level)) continue;
      std::vector<std::uint64_t>& of = bytes[site_key(report, o)];
      of.resize(reports.size(), 0);
      of[i] += report.evidence.objects[o].size;
    }
  }
  std::vector<DifferingSite> sites;
  for (auto& [site, of] : bytes)
    if (std::adjacent_find(of.begin(), of.end(), std::not_equal_to<>()) != of.end())
      sites.push_back({site, std::move(of)});
  std::stable_sort(sites.begin(), sites.end(), [](const DifferingSite& a, const DifferingSite& b) {
    return spread(a) > spread(b);
  });
  return sites;
}

void write_programs(std::span<const Report> reports, bool markdown, std::ostream& out) {
  const ClassicStream classic(out);
  const std::size_t worst = worst_of(reports);
  out << plural(reports.size(), "program") << ", the highest peak is of "
      << name_of_program(reports[worst]) << '\n';
  if (markdown) out << "```\n";
  for (std::size_t i = 0; i < reports.size(); ++i)
    out << (i == worst ? "> " : "  ") << name_of_program(reports[i]) << "  peak "
        << iec_bytes(reports[i].peak_bytes()) << "  could be "
        << iec_bytes(reports[i].savings.peak_after_all_fixes_bytes) << "  "
        << plural(reports[i].findings.size(), "finding") << "  "
        << printable(reports[i].evidence.path) << (reports[i].complete ? "" : "  (not complete)")
        << '\n';
  const std::vector<DifferingSite> sites = differing_sites(reports);
  if (!sites.empty()) out << "Allocated differently\n";
  for (std::size_t i = 0; i < std::min(sites.size(), kShownSites); ++i) {
    out << "  " << printable(sites[i].site) << ':';
    for (const std::uint64_t bytes : sites[i].bytes)
      out << ' ' << iec_bytes(bytes);
    out << '\n';
  }
  if (sites.size() > kShownSites)
    out << "  and at " << plural(sites.size() - kShownSites, "more place") << '\n';
  out << (markdown ? "```\n\n" : "\n");
}

}  // namespace drgpum
