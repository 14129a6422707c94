// SPDX-License-Identifier: Apache-2.0
// `drgpum export`: a trace in other programs' forms.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "offline/cli/load_report.h"
#include "offline/cli/verbs.h"
#include "offline/export/export_format.h"
#include "offline/report/report_dot.h"
#include "offline/report/report_formats.h"

namespace drgpum {
namespace {

constexpr const char* kVerb = "export";

struct Arguments {
  std::string trace;
  std::string type;
  std::string output;
  std::string layout = "time";
  std::uint32_t first = 0;
  std::uint32_t count = kMaxDotCalls;
  bool has_range = false;
  LoadArguments load;
};

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const ExportFormat& format : export_formats())
    names.emplace_back(format.name);
  names.insert(names.end(), {"csv", "dot"});
  return names;
}

std::string type_words() {
  std::string text;
  for (const ExportFormat& format : export_formats())
    text += std::string(format.name) + ": " + std::string(format.what) + "; ";
  return text + "csv: the findings as a table; dot: the dependency graph for Graphviz";
}

void declare(CLI::App& app, Arguments& a) {
  app.add_option("TRACE", a.trace, "trace, or memory snapshot of PyTorch, to export")->required();
  app.add_option("--type", a.type, type_words())->required()->check(CLI::IsMember(type_names()));
  app.add_option("-o,--output", a.output, "file to write; standard output without it");
  app.add_option("--layout", a.layout,
                 "chrome: time, or drgpum: as the published tool's liveness.json")
      ->check(CLI::IsMember({"time", "drgpum"}))
      ->capture_default_str();
  app.add_option("--first", a.first, "dot: first call to draw")->capture_default_str();
  app.add_option("--count", a.count, "dot: how many calls to draw, at most 5000")
      ->check(CLI::Range(1u, kMaxDotCalls));
  declare_load_options(app, a.load);
  app.footer(
      "docs/export.md says what each type holds.\n"
      "Examples:\n"
      "  drgpum export app.drgp --type perfetto -o app.pftrace    # open it at ui.perfetto.dev\n"
      "  drgpum export app.drgp --type dot --first 1000 --count 200 | dot -Tsvg > part.svg\n");
}

Status write(const Arguments& a, const Report& report, const CallFacts& calls, std::ostream& out) {
  const ExportInput input{report, calls, DRGPUM_VERSION};
  if (a.layout == "drgpum") return export_chrome_published(input, out);
  if (const ExportFormat* format = export_format(a.type)) return format->write(input, out);
  if (a.type == "dot") {
    const std::uint32_t all = report.evidence.api_count();
    const std::uint32_t begin = std::min(a.first, all);
    write_dot(report, begin, begin + std::min(a.count, all - begin), out);
  } else {
    write_csv(report, out);
  }
  return Ok{};
}

int run(Arguments& a) {
  const ExportFormat* format = export_format(a.type);
  if (a.layout != "time" && a.type != "chrome")
    return fail(kVerb,
                {ErrorCode::kInvalidArgument, "--layout " + a.layout + ": is for --type chrome"});
  const bool to_terminal = (a.output.empty() || a.output == "-") && is_terminal(STDOUT_FILENO);
  if (format != nullptr && format->is_binary && to_terminal)
    return fail(kVerb, {ErrorCode::kInvalidArgument,
                        "--type " + a.type + ": is no text for a terminal; -o names a file"});
  CallFacts calls;
  if (format != nullptr) {
    a.load.also = [&](const trace::Record& record) { calls.add(record); };
    a.load.with_call_paths = true;
  }
  a.load.plan_pool = false;
  Result<Report> report = [&] {
    ProgressLine progress;
    return load_report(kVerb, a.trace, a.load, progress);
  }();
  if (!report) return fail(kVerb, report.error());
  const std::uint32_t count = report->evidence.api_count();
  if (a.type == "dot" && !a.has_range && count > kMaxDotCalls)
    return fail(kVerb, {ErrorCode::kInvalidArgument,
                        a.trace + ": has " + std::to_string(count) + " calls, at most " +
                            std::to_string(kMaxDotCalls) +
                            " can be drawn; choose some with --first and --count"});
  Result<Output> output = Output::open(a.output);
  if (!output) return fail(kVerb, output.error());
  if (Status status = write(a, *report, calls, output->stream()); !status)
    return fail(kVerb, status.error());
  if (Status status = output->finish(); !status) return fail(kVerb, status.error());
  return report->complete ? kExitOk : kExitIncomplete;
}

}  // namespace

int export_main(int argc, char** argv) {
  CLI::App app("A trace in other programs' forms.", "drgpum export");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  arguments.has_range = app.count("--first") + app.count("--count") > 0;
  return run(arguments);
}

}  // namespace drgpum
