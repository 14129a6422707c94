// SPDX-License-Identifier: Apache-2.0
// `drgpum report`: traces in, one report out.

#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "offline/cli/terminal.h"
#include "offline/cli/trace_sources.h"
#include "offline/cli/verbs.h"
#include "offline/order/load_evidence.h"
#include "offline/report/build_report.h"
#include "offline/report/report_json.h"
#include "offline/report/report_text.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

struct Arguments {
  std::vector<std::string> traces;
  std::string format = "text";
  std::string output;
  bool brief = false;
  std::string rules = "strict";
  std::string level = "allocation";
  std::size_t top = 10;
  std::vector<std::string> source_roots;
  std::vector<std::string> path_maps;
  std::vector<std::string> symbol_paths;
  bool full_stacks = false;
};

int fail(const Error& error) {
  std::fprintf(stderr, "drgpum report: %s\n", error.message.c_str());
  return kExitUnreadable;
}

void declare(CLI::App& app, Arguments& a) {
  app.add_option("TRACE", a.traces, "traces to report on")->required();
  app.add_option("--format", a.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option("-o,--output", a.output, "file to write; standard output without it");
  app.add_flag("--brief", a.brief, "a few lines: peak, top findings, next command");
  app.add_option("--rules", a.rules, "strict, or drgpum: the published tool's rules as coded")
      ->check(CLI::IsMember({"strict", "drgpum"}))
      ->capture_default_str();
  app.add_option("--level", a.level, "judge whole allocations, or the tensors inside pools")
      ->check(CLI::IsMember({"allocation", "tensor"}))
      ->capture_default_str();
  app.add_option("--source-root", a.source_roots, "directory that holds the program's sources");
  app.add_option("--path-map", a.path_maps, "A=B: source files recorded below A lie below B")
      ->check([](const std::string& map) {
        return map.find('=') == std::string::npos ? "is not of the form A=B" : "";
      });
  app.add_option("--symbol-path", a.symbol_paths,
                 "directory that holds modules or their debug files");
  app.add_flag("--full-stacks", a.full_stacks,
               "show frames of system libraries, headers and program start too");
  app.add_option("--top", a.top, "findings to show in text; 0 shows all")->capture_default_str();
  app.footer(
      "Examples:\n"
      "  drgpum report app.drgp\n"
      "  drgpum report app.drgp --format json -o report.json\n");
}

SourcePlaces places_of(const Arguments& a) {
  SourcePlaces places;
  places.roots = a.source_roots;
  for (const std::string& map : a.path_maps) {
    const std::size_t equals = map.find('=');
    places.path_map.emplace_back(map.substr(0, equals), map.substr(equals + 1));
  }
  return places;
}

TraceSources find_sources(const Trace& tables, const Arguments& a, ProgressLine& progress) {
  SourceOptions options;
  options.symbol_paths = a.symbol_paths;
  options.full_stacks = a.full_stacks;
  options.progress = [&](std::string_view module) {
    progress.show("finding lines of " + printable(module));
  };
  return TraceSources(resolve_sources(tables, options), places_of(a));
}

Result<Report> report_on(const std::string& path, const Arguments& a, ProgressLine& progress) {
  EvidenceBuilder builder;
  LoadOptions load;
  load.calls = false;
  load.also = [&](const trace::Record& record) { return builder.add(record); };
  load.progress = [&](std::uint64_t done, std::uint64_t all) {
    progress.show("reading " + path + ", " + percent_of(done, all));
  };
  ASSIGN_OR_RETURN(const Trace tables, load_trace(path, load));
  LoadedEvidence loaded = finish_evidence(std::move(builder), tables.summary(), path);
  ReportOptions options;
  options.rules = a.rules == "drgpum" ? Rules::kPublished : Rules::kStrict;
  options.level = a.level == "tensor" ? MemoryLevel::kTensor : MemoryLevel::kAllocation;
  options.with_call_paths = !a.brief && a.format == "json";
  options.progress = [&](std::string_view stage) {
    progress.show(std::string(stage) + " " + path);
  };
  TraceSources sources = find_sources(tables, a, progress);
  Report report = build_report(std::move(loaded.evidence), loaded.complete,
                               std::move(loaded.reason), sources, options);
  if (!a.brief)
    for (const std::string& line : sources.missing())
      std::fprintf(stderr, "drgpum report: %s\n", line.c_str());
  return report;
}

void write(const std::vector<Report>& reports, const Arguments& a, std::ostream& out) {
  if (a.format == "json" && !a.brief) return write_json(reports, out);
  const bool to_stdout = a.output.empty() || a.output == "-";
  const TextStyle style{terminal_width(STDOUT_FILENO), to_stdout && wants_colour(STDOUT_FILENO),
                        a.top};
  for (const Report& report : reports) {
    if (a.brief) {
      write_brief(report, style, out);
    } else {
      write_text(report, style, out);
    }
  }
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
  std::vector<Report> reports;
  {
    ProgressLine progress;
    for (const std::string& path : arguments.traces) {
      Result<Report> report = report_on(path, arguments, progress);
      if (!report) return fail(report.error());
      reports.push_back(*std::move(report));
    }
  }
  Result<Output> output = Output::open(arguments.output);
  if (!output) return fail(output.error());
  write(reports, arguments, output->stream());
  if (Status status = output->finish(); !status) return fail(status.error());
  for (const Report& report : reports)
    if (!report.complete) return kExitIncomplete;
  return kExitOk;
}

}  // namespace drgpum
