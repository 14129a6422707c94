// SPDX-License-Identifier: Apache-2.0
#include "offline/report/report_text.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>

#include "offline/order/device_moments.h"
#include "offline/patterns/patterns.h"
#include "offline/report/classic_stream.h"
#include "offline/report/code_text.h"
#include "offline/report/pressure_forms.h"
#include "offline/report/units.h"
#include "proto/trace/names.h"

namespace drgpum {
namespace {

constexpr std::size_t kObjectsAtPeak = 10;
constexpr std::size_t kBriefFindings = 3;
constexpr std::size_t kMinWidth = 40;
constexpr std::uint32_t kLinesAround = 2;
constexpr std::size_t kAccessLines = 3;
constexpr std::size_t kCodeIndent = 14;  // of the columns left of a line of code
constexpr std::size_t kLabel = 10;
constexpr std::size_t kSiteIndent = 14;
constexpr std::size_t kMostStates = 8;

enum class Ink { kPlain, kBold, kDim, kRed, kYellow, kGreen };

std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::kBold:
      return "\x1b[1m";
    case Ink::kDim:
      return "\x1b[2m";
    case Ink::kRed:
      return "\x1b[31m";
    case Ink::kYellow:
      return "\x1b[33m";
    case Ink::kGreen:
      return "\x1b[32m";
    case Ink::kPlain:
      break;
  }
  return "";
}

// Code points, which is close enough to columns for names and paths; our own colours take none.
std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  bool in_colour = false;
  for (const char c : text) {
    if (c == '\x1b') in_colour = true;
    if (!in_colour && (static_cast<unsigned char>(c) & 0xc0) != 0x80) ++count;
    if (c == 'm') in_colour = false;
  }
  return count;
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t have = columns(text);
  return have < width ? text + std::string(width - have, ' ') : text;
}

std::string right(const std::string& text, std::size_t width) {
  const std::size_t have = columns(text);
  return have < width ? std::string(width - have, ' ') + text : text;
}

std::string words_of(std::string_view pattern) {
  std::string text(pattern);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string_view word(StateAtPeak state) {
  switch (state) {
    case StateAtPeak::kUsed:
      return "used";
    case StateAtPeak::kIdle:
      return "idle";
    case StateAtPeak::kUnused:
      return "never used";
    case StateAtPeak::kLeaked:
      return "leaked";
    case StateAtPeak::kUnknown:
      return "live";
  }
  return "";
}

class TextReport {
 public:
  TextReport(const Report& report, const TextStyle& style, std::ostream& out)
      : r_(report), e_(report.evidence), style_(style), out_(out) {}

  void full() {
    header();
    failures();
    coverage();
    at_peak();
    if (r_.pressure) pressure();
    by_line();
    findings();
    footer();
  }
  void brief();

 private:
  std::string ink(Ink ink, const std::string& text) const {
    return style_.colour && ink != Ink::kPlain ? std::string(code_of(ink)) + text + "\x1b[0m"
                                               : text;
  }
  void wrapped(const std::string& first, std::size_t indent, const std::string& text, Ink of);
  void paragraph(std::size_t indent, const std::string& text, Ink of = Ink::kPlain);
  void labelled(const std::string& label, const std::string& text);
  void header();
  void device(const trace::DeviceRecord& device);
  void pools();
  void moment();
  void failures();
  void coverage();
  void at_peak();
  void live_object(const LiveObject& live, std::uint64_t peak);
  void pressure();
  void by_line();
  void findings();
  void finding(std::size_t place, const Finding& f);
  void source_around(const SourceFrame* site);
  void access_lines(std::uint32_t object);
  std::string line_of_code(const std::string& file, std::uint32_t line) const;
  void footer();
  std::string site_of_object(std::uint32_t object) const;
  std::string program() const;
  std::string savings_line() const;

  const Report& r_;
  const Evidence& e_;
  TextStyle style_;
  std::ostream& out_;
  std::set<std::pair<std::string, std::uint32_t>> shown_;  // sites whose lines were printed
};

// Wrapped at spaces; a word longer than the line stays whole. `first` is as wide as the indent.
void TextReport::wrapped(const std::string& first, std::size_t indent, const std::string& text,
                         Ink of) {
  const std::size_t width = std::max(style_.width, kMinWidth) - indent;
  std::string line;
  std::string before = first;
  const auto flush = [&] {
    out_ << before << ink(of, line) << '\n';
    before = std::string(indent, ' ');
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    const std::string one = text.substr(at, space - at);
    if (!line.empty() && columns(line) + 1 + columns(one) > width) flush();
    line += (line.empty() ? "" : " ") + one;
    at = space + 1;
  }
  flush();
}

void TextReport::paragraph(std::size_t indent, const std::string& text, Ink of) {
  wrapped(std::string(indent, ' '), indent, text, of);
}

void TextReport::labelled(const std::string& label, const std::string& text) {
  wrapped(ink(Ink::kDim, padded(label, kLabel)) + " ", kLabel + 1, text, Ink::kPlain);
}

std::string TextReport::program() const {
  std::string text;
  for (const std::string& argument : e_.process.argv)
    text += (text.empty() ? "" : " ") + argument;
  return printable(text.empty() ? e_.process.executable : text);
}

std::string TextReport::savings_line() const {
  const std::uint64_t after = r_.savings.peak_after_all_fixes_bytes;
  const std::uint64_t peak = r_.savings.peak_bytes;
  if (after >= peak) return "no fix lowers the peak";
  return "all fixes: " + iec_bytes(after) + ", " + percent_of(peak - after, peak) + " less";
}

// Where there are several, each with its own peak.
void TextReport::device(const trace::DeviceRecord& device) {
  const bool several = e_.devices.size() > 1;
  std::string text = printable(device.name) + " (" + std::string(trace::enum_name(device.kind)) +
                     (device.memory_bytes == 0 ? "" : ", " + iec_bytes(device.memory_bytes)) + ")";
  if (several) {
    const DeviceSavings* savings = r_.savings.of(static_cast<std::uint16_t>(device.id.value));
    text += savings == nullptr ? ", not used"
                               : ", peak " + iec_bytes(savings->peak_bytes) + ", could be " +
                                     iec_bytes(savings->peak_after_all_fixes_bytes);
  }
  labelled(several ? "Device " + std::to_string(device.id.value) : "Device", text);
}

void TextReport::pools() {
  if (!r_.pools) return;
  const PoolUse& use = *r_.pools;
  labelled("Pools", "hold " + iec_bytes(use.reserved_bytes) + " at the peak and have handed out " +
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
  labelled("When", "from " + duration(at[0]) + " to " + duration(at[1]) + " of " +
                       duration(device_time_ns(e_)) + " on the device");
}

// "2.0 MiB used, 1.0 MiB idle"
std::string states_of(const Evidence& e, const Peak& peak) {
  std::array<std::uint64_t, kMostStates> bytes{};
  for (const LiveObject& live : peak.objects)
    bytes.at(static_cast<std::size_t>(live.state)) += e.objects[live.object].size;
  std::string text;
  for (std::size_t state = 0; state < bytes.size(); ++state)
    if (bytes.at(state) > 0)
      text += (text.empty() ? "" : ", ") + iec_bytes(bytes.at(state)) + " " +
              std::string(word(static_cast<StateAtPeak>(state)));
  return text;
}

void TextReport::header() {
  labelled("Program", program());
  if (!e_.process.rank.empty()) labelled("Rank", printable(e_.process.rank));
  for (const trace::DeviceRecord& device : e_.devices)
    this->device(device);
  labelled("Trace", printable(e_.path) + " (" + iec_bytes(e_.file_bytes) + ", " +
                        plural(e_.api_count(), "call") + ", " +
                        plural(e_.launches.size(), "launch") + ", " +
                        plural(e_.objects.size(), "object") + ")");
  if (r_.times)
    labelled("Times", exact_bytes(r_.times->timed_calls) + " of " +
                          exact_bytes(r_.times->device_calls) +
                          " kernels, copies and sets were matched with the timing run, " +
                          percent_of(r_.times->timed_calls, r_.times->device_calls));
  if (!r_.complete)
    labelled(ink(Ink::kRed, padded("Warning", 10)),
             "the trace is not complete: " + printable(r_.incomplete_because));
  if (r_.peaks.empty()) {
    labelled("Peak", "no device memory was allocated");
  } else {
    labelled("Peak", ink(Ink::kBold, iec_and_exact(r_.peak_bytes())) + " at " +
                         printable(r_.describe_call(r_.peaks.front().api)));
    moment();
    if (e_.records_accesses()) labelled("Could be", savings_line());
    if (r_.smartpool)
      labelled("One pool", iec_bytes(r_.smartpool->footprint_bytes) +
                               " holds all objects as they are, `drgpum plan` lays them out");
    if (r_.autoswap && r_.autoswap->limit_bytes < r_.autoswap->unlimited_peak_bytes)
      labelled("Swapping", iec_bytes(r_.autoswap->peak_bytes) +
                               " is kept without slowing down, `drgpum plan --autoswap` says how");
    if (e_.records_accesses())
      labelled("At least", iec_bytes(r_.lower_bound_bytes) + ", the most that one launch touches");
  }
  pools();
  if (r_.pinned_peak_bytes > 0)
    labelled("Pinned", iec_bytes(r_.pinned_peak_bytes) + " of the host");
  for (std::size_t i = 1; i < r_.peaks.size(); ++i)
    labelled(i == 1 ? "Also" : "",
             iec_bytes(r_.peaks[i].bytes) + " at " + printable(r_.describe_call(r_.peaks[i].api)) +
                 ": " + states_of(e_, r_.peaks[i]));
}

void TextReport::failures() {
  for (const FailedAllocation& failed : e_.failed)
    labelled(ink(Ink::kRed, padded("Failed", 10)),
             "an allocation of " + iec_bytes(failed.requested) + " at " +
                 printable(r_.describe_call(failed.api)) + " (error " +
                 std::to_string(failed.error) + ")");
}

void TextReport::coverage() {
  const std::vector<Coverage> gaps = coverage_of(e_);
  if (gaps.empty()) return;
  out_ << '\n' << ink(Ink::kBold, "Not seen") << '\n';
  for (const Coverage& gap : gaps)
    paragraph(2, std::string(trace::enum_name(gap.kind)) + " (" + exact_bytes(gap.count) + ")" +
                     (gap.text.empty() ? "" : ": " + printable(gap.text)));
}

std::string TextReport::site_of_object(std::uint32_t object) const {
  const SourceFrame* site = r_.site_of(e_.objects[object].alloc);
  if (site == nullptr) return {};
  if (site->file.empty()) return printable(site->function);
  return printable(site->function) + (site->function.empty() ? "" : " ") + printable(site->file) +
         ":" + std::to_string(site->line);
}

// The site goes to a line of its own where there is no room for it.
void TextReport::live_object(const LiveObject& live, std::uint64_t peak) {
  const std::uint64_t size = e_.objects[live.object].size;
  const Ink of = live.state == StateAtPeak::kUsed ? Ink::kPlain : Ink::kYellow;
  const std::string row = "  " + right(iec_bytes(size), 10) + right(percent_of(size, peak), 7) +
                          "  " + ink(of, padded(std::string(word(live.state)), 10)) + "  ";
  const std::string site = site_of_object(live.object);
  const std::string name = printable(r_.label(live.object));
  const std::string whole = site.empty() ? row + name : row + padded(name, 16) + "  " + site;
  if (columns(whole) <= std::max(style_.width, kMinWidth)) {
    out_ << whole << '\n';
    return;
  }
  out_ << row << name << '\n';
  if (!site.empty()) paragraph(kSiteIndent, site, Ink::kDim);
}

void TextReport::at_peak() {
  if (r_.peaks.empty()) return;
  const Peak& peak = r_.peaks.front();
  out_ << '\n';
  wrapped(ink(Ink::kBold, "At the peak") + ": ", 13, states_of(e_, peak), Ink::kPlain);
  const std::size_t shown = std::min(peak.objects.size(), kObjectsAtPeak);
  for (std::size_t i = 0; i < shown; ++i)
    live_object(peak.objects[i], peak.bytes);
  if (shown == peak.objects.size()) return;
  std::uint64_t rest = 0;
  for (std::size_t i = shown; i < peak.objects.size(); ++i)
    rest += e_.objects[peak.objects[i].object].size;
  out_ << "  " << right(iec_bytes(rest), 10) << right(percent_of(rest, peak.bytes), 7) << "  in "
       << plural(peak.objects.size() - shown, "more object") << '\n';
}

void TextReport::pressure() {
  out_ << '\n' << ink(Ink::kBold, "The allocator") << '\n';
  for (const std::string& line : pressure_lines(r_))
    paragraph(2, printable(line));
}

// What each source line costs and what all its fixes save.
void TextReport::by_line() {
  const std::size_t shown = lines_to_show(r_);
  if (shown == 0) return;
  out_ << '\n' << ink(Ink::kBold, "By line") << '\n';
  for (std::size_t i = 0; i < shown; ++i) {
    const LineFixes& line = r_.lines[i];
    const SourceFrame& site = *r_.site_of(line.api);
    const std::string where = printable(site.file) + ":" + std::to_string(site.line);
    out_ << "  " << (site.file.empty() ? printable(site.function) : where) << '\n';
    paragraph(5, describe(line) + ".");
  }
}

void TextReport::finding(std::size_t place, const Finding& f) {
  const bool proven = f.certainty == Certainty::kProven;
  std::string title = ink(Ink::kBold, words_of(name_of(f.pattern))) + ": " +
                      printable(r_.label(f.object)) + ", " + iec_bytes(e_.objects[f.object].size) +
                      "  " +
      ink(proven ? Ink::kGreen : Ink::kYellow, proven ? "proven" : "possible");
  if (f.joint_saving_bytes > 0 || f.peak_saving_bytes > 0)
    title += "  saves " + iec_bytes(f.peak_saving_bytes) + " alone, " +
             iec_bytes(f.joint_saving_bytes) + " on top of the other fixes";
  wrapped(right(std::to_string(place + 1), 3) + "  ", 5, title, Ink::kPlain);
  const std::string site = site_of_object(f.object);
  if (!site.empty()) paragraph(5, "allocated in " + site, Ink::kDim);
  source_around(r_.site_of(e_.objects[f.object].alloc));
  std::string what = printable(advice_for(r_, f));
  if (f.distance && f.pattern != Pattern::kRedundantAllocation)
    what += " " + plural(*f.distance, "launch") + " in between" + (f.cut ? " at least" : "") + ".";
  if (f.pattern == Pattern::kTemporaryIdleness && f.count > 1)
    what += " It is the longest of " + plural(f.count, "such gap") + ".";
  paragraph(5, what);
  if (!proven && f.missing != 0) paragraph(5, "Not proven: " + reason_for(r_, f) + ".", Ink::kDim);
  if (f.superseded_by != kNone)
    paragraph(5, "Instead of finding " + std::to_string(f.superseded_by + 1) + ", not with it.",
              Ink::kDim);
  access_lines(f.object);
}

std::string TextReport::line_of_code(const std::string& file, std::uint32_t line) const {
  if (!style_.source_line) return "";
  return code_text(style_.source_line(file, line), std::max(style_.width, kMinWidth) - kCodeIndent);
}

// The line that allocates with two before and two behind it, once in a report.
void TextReport::source_around(const SourceFrame* site) {
  if (site == nullptr || site->line == 0 || line_of_code(site->file, site->line).empty()) return;
  if (!shown_.insert({site->file, site->line}).second) return;
  const std::uint32_t first = site->line > kLinesAround ? site->line - kLinesAround : 1;
  for (std::uint32_t line = first; line <= site->line + kLinesAround; ++line) {
    const bool is_site = line == site->line;
    const std::string text = (is_site ? "   > " : "     ") + right(std::to_string(line), 6) + " | " +
                             line_of_code(site->file, line);
    out_ << ink(is_site ? Ink::kPlain : Ink::kDim, text.substr(0, text.find_last_not_of(' ') + 1))
         << '\n';
  }
}

// "read 4,096 times, written 12 times in 3 launches at k.cu:12 (saxpy): y[i] = ..."
void TextReport::access_lines(std::uint32_t object) {
  const std::vector<AccessLine>& lines = r_.access_lines_of(object);
  for (std::size_t i = 0; i < std::min(lines.size(), kAccessLines); ++i) {
    const AccessLine& line = lines[i];
    std::string what;
    if (line.reads > 0) what = "read " + plural(line.reads, "time");
    if (line.writes > 0)
      what += (what.empty() ? "written " : ", written ") + plural(line.writes, "time");
    std::string where = printable(line.kernel);
    if (line.line > 0)
      where = printable(line.file.substr(line.file.rfind('/') + 1)) + ":" +
              std::to_string(line.line) + " in " + where;
    paragraph(5, what + " in " + plural(line.launches, "launch") + " at " + where, Ink::kDim);
    std::string code = line_of_code(line.file, line.line);
    code.erase(0, code.find_first_not_of(' '));
    if (!code.empty()) out_ << ink(Ink::kDim, "            | " + code) << '\n';
  }
  if (lines.size() > kAccessLines)
    paragraph(5, "and at " + plural(lines.size() - kAccessLines, "more line"), Ink::kDim);
}

void TextReport::findings() {
  const auto matters = [](const Finding& f) {
    return f.joint_saving_bytes > 0 || f.peak_saving_bytes > 0;
  };
  const std::size_t all = r_.findings.size();
  const auto useful =
      static_cast<std::size_t>(std::count_if(r_.findings.begin(), r_.findings.end(), matters));
  out_ << '\n' << ink(Ink::kBold, "Findings") << '\n';
  if (all == 0)
    out_ << (e_.records_accesses() ? "  none\n" : "  none; without accesses nothing can be judged\n");
  const std::size_t shown = style_.top == 0 ? all : std::min(all, style_.top);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i == useful && all > useful)
      out_ << "  " << plural(all - useful, "finding") << " that lower"
           << (all - useful == 1 ? "s" : "") << " no peak:\n";
    finding(i, r_.findings[i]);
  }
  if (shown < all) {
    out_ << "  " << plural(all - shown, "more finding");
    if (all > useful && shown <= useful)
      out_ << ", of which " << exact_bytes(all - useful) << " lower no peak";
    out_ << " (--top 0 shows all)\n";
  }
  for (const SuppressionUse& use : r_.suppressions)
    out_ << "  " << plural(use.count, "finding") << " suppressed by " << printable(use.pattern)
         << ':' << printable(use.site) << (use.reason.empty() ? "" : " (" + use.reason + ")")
         << '\n';
}

void TextReport::footer() {
  if (r_.findings.empty()) return;
  out_ << '\n';
  paragraph(0,
            "drgpum report --explain " + std::string(name_of(r_.findings.front().pattern)) +
                " says what a pattern means; --format html makes a page to share.",
            Ink::kDim);
}

void TextReport::brief() {
  const std::string path = printable(e_.path);
  out_ << "drgpum: " << path << " (" << iec_bytes(e_.file_bytes) << ")";
  if (!r_.complete) out_ << ", not complete: " << printable(r_.incomplete_because);
  out_ << '\n';
  for (const FailedAllocation& failed : e_.failed)
    out_ << "drgpum: failed allocation of " << iec_bytes(failed.requested) << " at "
         << printable(r_.describe_call(failed.api)) << '\n';
  if (r_.peaks.empty()) {
    out_ << "drgpum: no device memory was allocated\n";
    return;
  }
  out_ << "drgpum: peak " << iec_and_exact(r_.peak_bytes()) << " at "
       << printable(r_.describe_call(r_.peaks.front().api));
  if (e_.records_accesses()) out_ << "; " << savings_line();
  out_ << '\n';
  for (std::size_t i = 0; i < std::min(r_.findings.size(), kBriefFindings); ++i) {
    const Finding& f = r_.findings[i];
    const std::uint64_t saved = std::max(f.joint_saving_bytes, f.peak_saving_bytes);
    out_ << "drgpum:   " << words_of(name_of(f.pattern)) << ": " << printable(r_.label(f.object))
         << ", " << iec_bytes(e_.objects[f.object].size)
         << (f.certainty == Certainty::kProven ? "" : " (possible)");
    const std::string site = site_of_object(f.object);
    if (!site.empty()) out_ << ", " << site;
    if (saved > 0) out_ << ", saves up to " << iec_bytes(saved);
    out_ << '\n';
  }
  if (r_.findings.size() > kBriefFindings)
    out_ << "drgpum:   " << plural(r_.findings.size() - kBriefFindings, "more finding") << '\n';
  if (r_.findings.empty()) out_ << "drgpum: no findings\n";
  out_ << "drgpum: next: drgpum report " << path << '\n';
}

}  // namespace

void write_text(const Report& report, const TextStyle& style, std::ostream& out) {
  const ClassicStream classic(out);
  TextReport(report, style, out).full();
}

void write_brief(const Report& report, const TextStyle& style, std::ostream& out) {
  const ClassicStream classic(out);
  TextReport(report, style, out).brief();
}

}  // namespace drgpum
