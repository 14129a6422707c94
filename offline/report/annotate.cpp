// SPDX-License-Identifier: Apache-2.0
#include "offline/report/annotate.h"

#include <algorithm>
#include <ostream>
#include <set>

#include "offline/patterns/patterns.h"
#include "offline/report/code_text.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr std::size_t kMostNamed = 8;  // files, in an error

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.push_back(part);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

// How many parts two paths have in common, from their ends.
std::size_t common_end(std::string_view a, std::string_view b) {
  const auto left = parts_of(a);
  const auto right = parts_of(b);
  const std::size_t most = std::min(left.size(), right.size());
  std::size_t count = 0;
  while (count < most && left[left.size() - 1 - count] == right[right.size() - 1 - count])
    ++count;
  return count;
}

class Annotator {
 public:
  explicit Annotator(const Report& report) : report_(report), e_(report.evidence) {}

  Result<Annotations> run(const std::string& wanted) {
    ASSIGN_OR_RETURN(annotations_.file, file_for(wanted));
    for (std::uint32_t o = 0; o < e_.objects.size(); ++o)
      add_object(o);
    if (!report_.peaks.empty())
      for (const LiveObject& live : report_.peaks.front().objects)
        if (LineTotals* line = allocated_at(live.object))
          line->peak_bytes += e_.objects[live.object].size;
    for (std::size_t f = 0; f < report_.findings.size(); ++f)
      if (LineTotals* line = allocated_at(report_.findings[f].object)) line->findings.push_back(f);
    return std::move(annotations_);
  }

 private:
  std::set<std::string> known_files() const {
    std::set<std::string> files;
    for (const auto& [id, path] : report_.call_paths)
      if (path.site < path.frames.size()) files.insert(path.frames[path.site].file);
    for (const auto& [object, lines] : report_.access_lines)
      for (const AccessLine& line : lines)
        files.insert(line.file);
    files.erase("");
    return files;
  }

  Result<std::string> file_for(const std::string& wanted) const {
    const std::set<std::string> files = known_files();
    if (files.contains(wanted)) return wanted;
    std::size_t best = 1;  // the name itself has to fit
    std::vector<std::string> fitting;
    for (const std::string& file : files) {
      const std::size_t common = common_end(file, wanted);
      if (common < best) continue;
      if (common > best) fitting.clear();
      best = common;
      fitting.push_back(file);
    }
    if (fitting.size() == 1) return fitting.front();
    if (fitting.empty())
      return Error{ErrorCode::kNotFound,
                   wanted + ": the trace names no line of it" +
                       (files.empty() ? "; was the program compiled with -g and -lineinfo?"
                                      : "; it names " + list(files))};
    return Error{ErrorCode::kInvalidArgument,
                 wanted + ": several files fit, give more of the path: " +
                     list({fitting.begin(), fitting.end()})};
  }

  static std::string list(const std::set<std::string>& files) {
    std::string text;
    std::size_t count = 0;
    for (const std::string& file : files) {
      if (count++ == kMostNamed) return text + " and " + std::to_string(files.size() - kMostNamed) + " more";
      text += (text.empty() ? "" : ", ") + file;
    }
    return text;
  }

  LineTotals* at(const std::string& file, std::uint32_t line) {
    return file == annotations_.file && line > 0 ? &annotations_.lines[line] : nullptr;
  }

  LineTotals* allocated_at(std::uint32_t o) {
    const Object& object = e_.objects[o];
    if (!object.on_device() || object.parent != kNone || !report_.has_call(object.alloc))
      return nullptr;
    const Api& alloc = e_.apis[object.alloc];
    if (alloc.kind != trace::ApiKind::kAlloc || alloc.payload != o) return nullptr;  // a global
    const SourceFrame* site = report_.site_of(object.alloc);
    return site == nullptr ? nullptr : at(site->file, site->line);
  }

  void add_object(std::uint32_t o) {
    if (LineTotals* line = allocated_at(o)) {
      line->allocated_bytes += e_.objects[o].size;
      ++line->objects;
    }
    for (const AccessLine& access : report_.access_lines_of(o)) {
      LineTotals* line = at(access.file, access.line);
      if (line == nullptr) continue;
      line->reads += access.reads;
      line->writes += access.writes;
    }
  }

  const Report& report_;
  const Evidence& e_;
  Annotations annotations_;
};

// Rows of the table.
class AnnotatedFile {
 public:
  AnnotatedFile(const Report& report, const Annotations& annotations, const AnnotatedStyle& style,
                std::ostream& out)
      : report_(report), annotations_(annotations), style_(style), out_(out) {}

  void write() {
    out_ << printable(annotations_.file) << '\n';
    if (!report_.peaks.empty())
      out_ << "peak " << iec_and_exact(report_.peak_bytes()) << " at "
           << printable(report_.describe_call(report_.peaks.front().api)) << '\n';
    out_ << "\n allocated    at peak       reads      writes    line\n";
    std::uint32_t last = 0;
    for (const std::uint32_t line : rows()) {
      if (last != 0 && line != last + 1) out_ << "       ...\n";
      row(line);
      last = line;
    }
  }

 private:
  // Lines to print, rising.
  std::set<std::uint32_t> rows() const {
    std::set<std::uint32_t> rows;
    const bool whole = style_.context == 0 && style_.line_count > 0;
    for (std::uint32_t line = 1; whole && line <= style_.line_count; ++line)
      rows.insert(line);
    for (const auto& [line, totals] : annotations_.lines) {
      const auto around = static_cast<std::uint32_t>(std::min<std::size_t>(style_.context, line - 1));
      rows.insert(line);
      for (std::uint32_t at = line - around; at <= line + style_.context; ++at)
        if (at <= style_.line_count) rows.insert(at);
    }
    return rows;
  }

  static std::string cell(const std::string& text, std::size_t width) {
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
  }
  static std::string bytes(std::uint64_t count) { return count == 0 ? "" : iec_bytes(count); }
  static std::string number(std::uint64_t count) { return count == 0 ? "" : exact_bytes(count); }

  void row(std::uint32_t line) {
    static const LineTotals kNothing;
    const auto found = annotations_.lines.find(line);
    const LineTotals& totals = found == annotations_.lines.end() ? kNothing : found->second;
    std::string text = cell(bytes(totals.allocated_bytes), 10) + " " +
                       cell(bytes(totals.peak_bytes), 10) + " " + cell(number(totals.reads), 11) +
                       " " + cell(number(totals.writes), 11) + " " +
                       cell(std::to_string(line), 7) + " | ";
    const std::size_t indent = text.size();
    if (style_.source_line)
      text += code_text(style_.source_line(line), std::max(style_.width, indent + 20) - indent);
    out_ << text.substr(0, text.find_last_not_of(' ') + 1) << '\n';
    for (const std::size_t f : totals.findings)
      finding(f, indent);
  }

  void finding(std::size_t place, std::size_t indent) {
    const Finding& f = report_.findings[place];
    std::string name(name_of(f.pattern));
    std::replace(name.begin(), name.end(), '_', ' ');
    out_ << std::string(indent - 2, ' ') << "^ " << place + 1 << ": " << name << " of "
         << printable(report_.label(f.object)) << ", "
         << iec_bytes(report_.evidence.objects[f.object].size)
         << (f.certainty == Certainty::kProven ? "" : ", possible");
    const std::uint64_t saved = std::max(f.joint_saving_bytes, f.peak_saving_bytes);
    if (saved > 0) out_ << ", saves up to " << iec_bytes(saved);
    out_ << '\n';
  }

  const Report& report_;
  const Annotations& annotations_;
  const AnnotatedStyle& style_;
  std::ostream& out_;
};

}  // namespace

Result<Annotations> annotate(const Report& report, const std::string& wanted) {
  return Annotator(report).run(wanted);
}

void write_annotated(const Report& report, const Annotations& annotations,
                     const AnnotatedStyle& style, std::ostream& out) {
  AnnotatedFile(report, annotations, style, out).write();
}

}  // namespace drgpum
