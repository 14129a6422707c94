// SPDX-License-Identifier: Apache-2.0
#include "offline/report/report_text.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

#include "offline/order/device_moments.h"
#include "offline/patterns/patterns.h"
#include "offline/report/classic_stream.h"
#include "offline/report/pressure_forms.h"
#include "offline/report/report_words.h"
#include "offline/report/text_findings.h"
#include "offline/report/text_lines.h"
#include "offline/report/units.h"
#include "proto/trace/names.h"

namespace drgpum {
namespace {

constexpr std::size_t kGroupsAtPeak = 10;
constexpr std::size_t kSiteIndent = 14;

// Objects of the live set that one line allocated and that are in the same state.
struct LiveGroup {
  std::vector<std::uint32_t> objects;
  StateAtPeak state = StateAtPeak::kUnknown;
  std::uint64_t bytes = 0;
};

// The most bytes first.
std::vector<LiveGroup> groups_at(const Evidence& e, const Peak& peak) {
  std::map<std::pair<std::uint32_t, StateAtPeak>, std::size_t> known;
  std::vector<LiveGroup> groups;
  for (const LiveObject& live : peak.objects) {
    const Object& object = e.objects[live.object];
    const bool has_path = object.alloc < e.apis.size();
    const std::uint32_t path = has_path ? e.apis[object.alloc].call_path : kNone;
    const bool alone = !has_path || path == 0;
    std::size_t at = groups.size();
    if (!alone) at = known.try_emplace({path, live.state}, at).first->second;
    if (at == groups.size()) groups.push_back({{}, live.state, 0});
    groups[at].objects.push_back(live.object);
    groups[at].bytes += object.size;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const LiveGroup& a, const LiveGroup& b) { return a.bytes > b.bytes; });
  return groups;
}

class TextReport {
 public:
  TextReport(const Report& report, const TextStyle& style, std::ostream& out)
      : r_(report), e_(report.evidence), style_(style), lines_(style, out), out_(out) {}

  void full() {
    header();
    failures();
    coverage();
    at_peak();
    if (r_.pressure) pressure();
    by_line();
    TextFindings(r_, style_, out_).write();
    footer();
  }

 private:
  void header();
  void device(const trace::DeviceRecord& device);
  void pools();
  void moment();
  void failures();
  void coverage();
  void at_peak();
  void live_group(const LiveGroup& group, std::uint64_t peak);
  std::string name_of_group(const LiveGroup& group) const;
  void pressure();
  void by_line();
  void footer();
  std::string program() const;

  const Report& r_;
  const Evidence& e_;
  TextStyle style_;
  TextLines lines_;
  std::ostream& out_;
};

std::string TextReport::program() const {
  std::string text;
  for (const std::string& argument : e_.process.argv)
    text += (text.empty() ? "" : " ") + argument;
  return printable(text.empty() ? e_.process.executable : text);
}

// Where there are several, each with its own peak.
void TextReport::device(const trace::DeviceRecord& device) {
  const bool several = e_.devices.size() > 1;
  const std::string kind(trace::enum_name(device.kind));
  const std::string name = printable(device.name);
  std::string text = name;
  if (!name.ends_with("(" + kind + ")")) text += " (" + kind + ")";
  if (device.memory_bytes > 0) text += ", " + iec_bytes(device.memory_bytes);
  if (several) {
    const DeviceSavings* savings = r_.savings.of(static_cast<std::uint16_t>(device.id.value));
    text += savings == nullptr ? ", not used"
                               : ", peak " + iec_bytes(savings->peak_bytes) + ", could be " +
                                     iec_bytes(savings->peak_after_all_fixes_bytes);
  }
  lines_.labelled(several ? "Device " + std::to_string(device.id.value) : "Device", text);
}

void TextReport::pools() {
  if (!r_.pools) return;
  const PoolUse& use = *r_.pools;
  lines_.labelled("Pools", "hold " + iec_bytes(use.reserved_bytes) + " at the peak and have handed out " +
                        iec_bytes(use.allocated_bytes) + " of it, " +
                        percent_of(use.allocated_bytes, use.reserved_bytes) + "; at most " +
                        iec_bytes(use.reserved_peak_bytes) + " and " +
                        iec_bytes(use.allocated_peak_bytes));
}

// When the device is at the peak, where the trace has times.
void TextReport::moment() {
  if (e_.begin_ns.empty()) return;
  const Peak& peak = r_.peaks.front();
  const std::uint32_t ends[] = {peak.api, peak.until};
  const std::vector<std::uint64_t> at = moments_of(e_, ends);
  lines_.labelled("When", "from " + duration(at[0]) + " to " + duration(at[1]) + " of " +
                       duration(device_time_ns(e_)) + " on the device");
}

void TextReport::header() {
  lines_.labelled("Program", program());
  if (!e_.process.rank.empty()) lines_.labelled("Rank", printable(e_.process.rank));
  for (const trace::DeviceRecord& device : e_.devices)
    this->device(device);
  lines_.labelled("Trace", printable(e_.path) + " (" + iec_bytes(e_.file_bytes) + ", " +
                        plural(e_.api_count(), "call") + ", " +
                        plural(e_.launches.size(), "launch") + ", " +
                        plural(e_.objects.size(), "object") + ")");
  if (r_.times)
    lines_.labelled("Times", exact_bytes(r_.times->timed_calls) + " of " +
                          exact_bytes(r_.times->device_calls) +
                          " kernels, copies and sets were matched with the timing run, " +
                          percent_of(r_.times->timed_calls, r_.times->device_calls));
  if (!r_.complete)
    lines_.labelled("Warning", "the trace is not complete: " + printable(r_.incomplete_because),
                     Ink::kRed);
  if (r_.peaks.empty()) {
    lines_.labelled("Peak", "no device memory was allocated");
  } else {
    lines_.labelled("Peak", lines_.ink(Ink::kBold, iec_and_exact(r_.peak_bytes())) + " at " +
                         printable(r_.describe_call(r_.peaks.front().api)));
    moment();
    if (e_.records_accesses()) lines_.labelled("Could be", savings_text(r_));
    if (r_.smartpool)
      lines_.labelled("One pool", iec_bytes(r_.smartpool->footprint_bytes) +
                               " holds all objects as they are, `drgpum plan` lays them out");
    if (r_.autoswap && r_.autoswap->limit_bytes < r_.autoswap->unlimited_peak_bytes)
      lines_.labelled("Swapping", iec_bytes(r_.autoswap->peak_bytes) +
                               " is kept without slowing down, `drgpum plan --autoswap` says how");
    if (e_.records_accesses())
      lines_.labelled("At least", iec_bytes(r_.lower_bound_bytes) + ", the most that one launch touches");
  }
  pools();
  if (r_.pinned_peak_bytes > 0)
    lines_.labelled("Pinned", iec_bytes(r_.pinned_peak_bytes) + " of the host");
  for (std::size_t i = 1; i < r_.peaks.size(); ++i)
    lines_.labelled(i == 1 ? "Also" : "",
             iec_bytes(r_.peaks[i].bytes) + " at " + printable(r_.describe_call(r_.peaks[i].api)) +
                 ": " + states_of(e_, r_.peaks[i]));
}

void TextReport::failures() {
  for (const FailedAllocation& failed : e_.failed)
    lines_.labelled(lines_.ink(Ink::kRed, padded("Failed", 10)),
             "an allocation of " + iec_bytes(failed.requested) + " at " +
                 printable(r_.describe_call(failed.api)) + " (error " +
                 std::to_string(failed.error) + ")");
}

void TextReport::coverage() {
  const std::vector<Coverage> gaps = coverage_of(e_);
  if (gaps.empty()) return;
  out_ << '\n' << lines_.ink(Ink::kBold, "Not seen") << '\n';
  for (const Coverage& gap : gaps)
    lines_.paragraph(2, std::string(trace::enum_name(gap.kind)) + " (" + exact_bytes(gap.count) + ")" +
                     (gap.text.empty() ? "" : ": " + printable(gap.text)));
}

// "d_in[s]", or for several objects "d_in[s], 4 objects".
std::string TextReport::name_of_group(const LiveGroup& group) const {
  const std::string first = r_.label(group.objects.front());
  if (group.objects.size() == 1) return printable(first);
  const bool all_same =
      std::all_of(group.objects.begin(), group.objects.end(),
                  [&](std::uint32_t object) { return r_.label(object) == first; });
  return (all_same ? printable(first) + ", " : "") + plural(group.objects.size(), "object");
}

// The site goes to a line of its own where there is no room for it.
void TextReport::live_group(const LiveGroup& group, std::uint64_t peak) {
  const Ink of = group.state == StateAtPeak::kUsed ? Ink::kPlain : Ink::kYellow;
  const std::string row = "  " + right(iec_bytes(group.bytes), 10) +
                          right(percent_of(group.bytes, peak), 7) + "  " +
                          lines_.ink(of, padded(std::string(word_for(group.state)), 10)) + "  ";
  const std::string site = site_text(r_, group.objects.front());
  const std::string name = name_of_group(group);
  const std::string whole = site.empty() ? row + name : row + padded(name, 16) + "  " + site;
  if (columns(whole) <= lines_.width()) {
    out_ << whole << '\n';
    return;
  }
  out_ << row << name << '\n';
  if (!site.empty()) lines_.paragraph(kSiteIndent, site, Ink::kDim);
}

void TextReport::at_peak() {
  if (r_.peaks.empty()) return;
  const Peak& peak = r_.peaks.front();
  out_ << '\n';
  lines_.wrapped(lines_.ink(Ink::kBold, "At the peak") + ": ", 13, states_of(e_, peak));
  const std::vector<LiveGroup> groups = groups_at(e_, peak);
  const std::size_t shown = std::min(groups.size(), kGroupsAtPeak);
  for (std::size_t i = 0; i < shown; ++i)
    live_group(groups[i], peak.bytes);
  if (shown == groups.size()) return;
  std::uint64_t rest = 0;
  std::size_t objects = 0;
  for (std::size_t i = shown; i < groups.size(); ++i) {
    rest += groups[i].bytes;
    objects += groups[i].objects.size();
  }
  out_ << "  " << right(iec_bytes(rest), 10) << right(percent_of(rest, peak.bytes), 7) << "  in "
       << plural(objects, "more object") << '\n';
}

void TextReport::pressure() {
  out_ << '\n' << lines_.ink(Ink::kBold, "The allocator") << '\n';
  for (const std::string& line : pressure_lines(r_))
    lines_.paragraph(2, printable(line));
}

// What each source line costs and what all its fixes save.
void TextReport::by_line() {
  const std::size_t shown = lines_to_show(r_);
  if (shown == 0) return;
  out_ << '\n' << lines_.ink(Ink::kBold, "By line") << '\n';
  for (std::size_t i = 0; i < shown; ++i) {
    const LineFixes& line = r_.lines[i];
    const SourceFrame& site = *r_.site_of(line.api);
    const std::string where = printable(site.file) + ":" + std::to_string(site.line);
    out_ << "  " << (site.file.empty() ? printable(site.function) : where) << '\n';
    lines_.paragraph(5, describe(line) + ".");
  }
}

void TextReport::footer() {
  if (r_.findings.empty()) return;
  out_ << '\n';
  lines_.paragraph(0,
            "drgpum report --explain " + std::string(name_of(r_.findings.front().pattern)) +
                " says what a pattern means; --format html makes a page to share.",
            Ink::kDim);
}

}  // namespace

void write_text(const Report& report, const TextStyle& style, std::ostream& out) {
  const ClassicStream classic(out);
  TextReport(report, style, out).full();
}

}  // namespace drgpum
