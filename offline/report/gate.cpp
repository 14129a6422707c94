// SPDX-License-Identifier: Apache-2.0
#include "offline/report/gate.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "offline/patterns/patterns.h"

namespace drgpum {
namespace {

constexpr std::array<std::string_view, 8> kMetrics{"peak",   "lower_bound",       "pinned_peak",
                                                   "saving", "peak_growth",       "findings",
                                                   "proven", "failed_allocations"};

struct Operator {
  std::string_view text;
  Comparison comparison;
};
// Longer ones first.
constexpr std::array<Operator, 7> kOperators{{{">=", Comparison::kAtLeast},
                                              {"<=", Comparison::kAtMost},
                                              {"==", Comparison::kEqual},
                                              {"!=", Comparison::kUnequal},
                                              {">", Comparison::kAbove},
                                              {"<", Comparison::kBelow},
                                              {"=", Comparison::kEqual}}};

struct Unit {
  std::string_view text;
  double factor;
};
constexpr std::array<Unit, 10> kUnits{{{"", 1},
                                       {"B", 1},
                                       {"KB", 1e3},
                                       {"MB", 1e6},
                                       {"GB", 1e9},
                                       {"TB", 1e12},
                                       {"KiB", 1024.0},
                                       {"MiB", 1048576.0},
                                       {"GiB", 1073741824.0},
                                       {"TiB", 1099511627776.0}}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

Error wrong(std::string_view gate, const std::string& what) {
  return {ErrorCode::kInvalidArgument, "--fail-on '" + std::string(gate) + "': " + what};
}

bool is_relative(std::string_view metric) {
  return metric == "saving" || metric == "peak_growth";
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool compare(double a, Comparison comparison, double b) {
  switch (comparison) {
    case Comparison::kAbove:
      return a > b;
    case Comparison::kAtLeast:
      return a >= b;
    case Comparison::kBelow:
      return a < b;
    case Comparison::kAtMost:
      return a <= b;
    case Comparison::kEqual:
      return a == b;
    case Comparison::kUnequal:
      return a != b;
  }
  return false;
}

double count_of(const Report& report, std::string_view metric) {
  if (metric == "findings") return static_cast<double>(report.findings.size());
  if (metric == "failed_allocations") return static_cast<double>(report.evidence.failed.size());
  return static_cast<double>(
      std::count_if(report.findings.begin(), report.findings.end(), [&](const Finding& f) {
        return metric == "proven" ? f.certainty == Certainty::kProven
                                  : name_of(f.pattern) == metric;
      }));
}

// A part of a whole, in bytes or per cent.
double share(const Gate& gate, double part, double whole) {
  if (!gate.percent) return part;
  return whole == 0 ? 0 : 100 * part / whole;
}

}  // namespace

std::vector<std::string> metric_names() {
  std::vector<std::string> names(kMetrics.begin(), kMetrics.end());
  for (const PatternEntry& entry : kPatterns)
    names.emplace_back(entry.name);
  return names;
}

Result<Gate> parse_gate(std::string_view text) {
  Gate gate;
  gate.text = text;
  const std::size_t at = text.find_first_of("<>=!");
  if (at == std::string_view::npos)
    return wrong(text, "needs one of > >= < <= = != between a metric and a value");
  gate.metric = trimmed(text.substr(0, at));
  const std::vector<std::string> names = metric_names();
  if (std::find(names.begin(), names.end(), gate.metric) == names.end())
    return wrong(text, "there is no metric '" + gate.metric + "'; there are " + listed(names));
  const auto op = std::find_if(kOperators.begin(), kOperators.end(), [&](const Operator& known) {
    return text.substr(at).starts_with(known.text);
  });
  if (op == kOperators.end()) return wrong(text, "there is no such comparison");
  gate.comparison = op->comparison;
  const std::string_view value = trimmed(text.substr(at + op->text.size()));
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), gate.value);
  if (error != std::errc()) return wrong(text, "the value is no number");
  const std::string_view unit = trimmed(value.substr(static_cast<std::size_t>(end - value.data())));
  if (unit == "%") {
    if (!is_relative(gate.metric))
      return wrong(text, "only saving and peak_growth are compared in %");
    gate.percent = true;
    return gate;
  }
  const auto known =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& one) { return one.text == unit; });
  if (known == kUnits.end())
    return wrong(text, "there is no unit '" + std::string(unit) +
                           "'; there are B, KB, MB, GB, TB, KiB, MiB, GiB, TiB and %");
  gate.value *= known->factor;
  return gate;
}

Result<bool> is_true(const Gate& gate, const Report& report,
                     std::optional<std::uint64_t> baseline_peak) {
  const auto peak = static_cast<double>(report.peak_bytes());
  double have = 0;
  if (gate.metric == "peak") {
    have = peak;
  } else if (gate.metric == "lower_bound") {
    have = static_cast<double>(report.lower_bound_bytes);
  } else if (gate.metric == "pinned_peak") {
    have = static_cast<double>(report.pinned_peak_bytes);
  } else if (gate.metric == "saving") {
    const auto after = static_cast<double>(report.savings.peak_after_all_fixes_bytes);
    have = share(gate, static_cast<double>(report.savings.peak_bytes) - after,
                 static_cast<double>(report.savings.peak_bytes));
  } else if (gate.metric == "peak_growth") {
    if (!baseline_peak) return wrong(gate.text, "needs --baseline TRACE to compare with");
    have = share(gate, peak - static_cast<double>(*baseline_peak),
                 static_cast<double>(*baseline_peak));
  } else {
    have = count_of(report, gate.metric);
  }
  return compare(have, gate.comparison, gate.value);
}

}  // namespace drgpum
