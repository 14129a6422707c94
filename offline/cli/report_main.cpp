// SPDX-License-Identifier: Apache-2.0
// `drgpum report`: traces in, one report out.

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "offline/cli/load_report.h"
#include "offline/cli/page_output.h"
#include "offline/cli/verbs.h"
#include "offline/patterns/explain.h"
#include "offline/patterns/patterns.h"
#include "offline/report/gate.h"
#include "offline/report/programs.h"
#include "offline/report/report_formats.h"
#include "offline/report/report_json.h"
#include "offline/report/report_text.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr const char* kVerb = "report";

struct Arguments {
  std::vector<std::string> traces;
  std::string format = "text";
  std::string output;
  bool brief = false;
  std::size_t top = 10;
  std::string explain;
  std::string baseline;
  std::vector<std::string> fail_on;
  LoadArguments load;
};

void declare(CLI::App& app, Arguments& a) {
  app.add_option("TRACE", a.traces, "traces to report on, or directories of traces");
  app.add_option("--format", a.format, "text, json, html, sarif, md or csv")
      ->check(CLI::IsMember({"text", "json", "html", "sarif", "md", "csv"}))
      ->capture_default_str();
  app.add_option("-o,--output", a.output, "file to write; standard output without it");
  app.add_flag("--brief", a.brief, "a few lines: peak, top findings, next command");
  app.add_option("--top", a.top, "findings to show in text and md; 0 shows all")
      ->capture_default_str();
  app.add_option("--fail-on", a.fail_on,
                 "end with 1 when this is true: metric op value[unit], as 'peak>1GiB', "
                 "'memory_leak>0', 'saving>10%', 'peak_growth>5%'; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--baseline", a.baseline, "trace that peak_growth compares with");
  app.add_option("--explain", a.explain, "say what a pattern means, and nothing else");
  declare_load_options(app, a.load);
  app.footer(
      "Examples:\n"
      "  drgpum report app.drgp\n"
      "  drgpum report app.drgp --format md --fail-on 'peak>1GiB' --fail-on 'memory_leak>0'\n"
      "\nExit status: 0 fine, 1 a --fail-on condition is true, 2 wrong usage, 3 a trace cannot be\n"
      "read, 4 a trace is damaged or ends early.\n");
}

int explain_pattern(const std::string& name) {
  const std::optional<Pattern> pattern = pattern_named(name);
  if (pattern) {
    std::fputs(drgpum::explain(*pattern).c_str(), stdout);
    return kExitOk;
  }
  std::string known;
  for (const PatternEntry& entry : kPatterns)
    known += " " + std::string(entry.name);
  std::fprintf(stderr, "drgpum report: there is no pattern '%s'; there are:%s\n", name.c_str(),
               known.c_str());
  return kExitUsage;
}

void write_one(const Report& report, const Arguments& a, const TextStyle& style,
               std::ostream& out) {
  if (a.brief) return write_brief(report, out);
  if (a.format == "html") return write_html(report, out);
  if (a.format == "md") return write_markdown(report, a.top, out);
  if (a.format == "csv") return write_csv(report, out);
  if (a.format == "sarif") return write_sarif(report, {a.load.source_roots, DRGPUM_VERSION}, out);
  write_text(report, style, out);
}

// JSON holds every program; the other forms show the one with the highest peak, after a table of
// all where the form has room for one.
void write(const std::vector<Report>& reports, const Arguments& a, std::ostream& out) {
  if (a.format == "json" && !a.brief) return write_json(reports, out);
  // A program built without the web application writes the plain page instead.
  if (a.format == "html" && !a.brief && write_report_page(reports, places_of(a.load), out)) return;
  const bool to_stdout = a.output.empty() || a.output == "-";
  SourceText text(places_of(a.load));
  const TextStyle style{terminal_width(STDOUT_FILENO), to_stdout && wants_colour(STDOUT_FILENO),
                        a.top, [&](const std::string& file, std::uint32_t line) {
                          return text.line(file, line);
                        }};
  const bool has_table = a.format == "text" || a.format == "md";
  if (reports.size() > 1 && has_table && !a.brief) write_programs(reports, a.format == "md", out);
  write_one(reports[worst_of(reports)], a, style, out);
}

struct Baseline {
  std::optional<std::uint64_t> peak;
  bool complete = true;
};

Result<bool> any_gate_fails(const std::vector<Gate>& gates, const std::vector<Report>& reports,
                            const Baseline& baseline) {
  bool fails = false;
  for (const Gate& gate : gates) {
    for (const Report& report : reports) {
      ASSIGN_OR_RETURN(const bool is, is_true(gate, report, baseline.peak));
      if (!is) continue;
      fails = true;
      std::fprintf(stderr, "drgpum report: failed: %s (%s: peak %s, %s)\n", gate.text.c_str(),
                   printable(report.evidence.path).c_str(), iec_bytes(report.peak_bytes()).c_str(),
                   plural(report.findings.size(), "finding").c_str());
    }
  }
  return fails;
}

int run(Arguments& a) {
  a.load.quiet = a.brief;
  a.load.with_call_paths = (a.format == "json" || a.format == "html") && !a.brief;
  std::vector<Gate> gates;
  for (const std::string& text : a.fail_on) {
    Result<Gate> gate = parse_gate(text);
    if (!gate) return fail(kVerb, gate.error());
    gates.push_back(*std::move(gate));
  }
  Result<std::vector<std::string>> traces = expand_traces(a.traces);
  if (!traces) return fail(kVerb, traces.error());
  std::vector<Report> reports;
  Baseline baseline;
  {
    ProgressLine progress;
    for (const std::string& path : *traces) {
      Result<Report> report = load_report(kVerb, path, a.load, progress);
      if (!report) return fail(kVerb, report.error());
      reports.push_back(*std::move(report));
    }
    if (!a.baseline.empty()) {
      Result<Report> base = load_report(kVerb, a.baseline, a.load, progress);
      if (!base) return fail(kVerb, base.error());
      baseline = {base->peak_bytes(), base->complete};
    }
  }
  sort_by_process_rank(reports);
  const Result<bool> fails = any_gate_fails(gates, reports, baseline);
  if (!fails) return fail(kVerb, fails.error());
  Result<Output> output = Output::open(a.output);
  if (!output) return fail(kVerb, output.error());
  write(reports, a, output->stream());
  if (Status status = output->finish(); !status) return fail(kVerb, status.error());
  if (*fails) return kExitGate;
  const bool complete =
      baseline.complete &&
      std::all_of(reports.begin(), reports.end(), [](const Report& r) { return r.complete; });
  return complete ? kExitOk : kExitIncomplete;
}

}  // namespace

int report_main(int argc, char** argv) {
  CLI::App app("What wastes GPU memory in a trace, where, and what each fix saves.",
               "drgpum report");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  if (!arguments.explain.empty()) return explain_pattern(arguments.explain);
  if (arguments.traces.empty()) {
    std::fprintf(stderr, "drgpum report: no trace is named; `drgpum report --help` says more\n");
    return kExitUsage;
  }
  return run(arguments);
}

}  // namespace drgpum
