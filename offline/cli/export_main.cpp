// SPDX-License-Identifier: Apache-2.0
// `drgpum export`: a trace in other programs' forms.

#include <algorithm>
#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "offline/cli/load_report.h"
#include "offline/cli/verbs.h"
#include "offline/report/report_dot.h"
#include "offline/report/report_formats.h"

namespace drgpum {
namespace {

constexpr const char* kVerb = "export";

struct Arguments {
  std::string trace;
  std::string type;
  std::string output;
  std::uint32_t first = 0;
  std::uint32_t count = kMaxDotCalls;
  bool has_range = false;
  LoadArguments load;
};

void declare(CLI::App& app, Arguments& a) {
  app.add_option("TRACE", a.trace, "trace to export")->required();
  app.add_option("--type", a.type, "dot: the dependency graph for Graphviz; csv: the findings")
      ->required()
      ->check(CLI::IsMember({"dot", "csv"}));
  app.add_option("-o,--output", a.output, "file to write; standard output without it");
  app.add_option("--first", a.first, "dot: first call to draw")->capture_default_str();
  app.add_option("--count", a.count, "dot: how many calls to draw, at most 5000")
      ->check(CLI::Range(1u, kMaxDotCalls));
  declare_load_options(app, a.load);
  app.footer(
      "Examples:\n"
      "  drgpum export app.drgp --type dot | dot -Tsvg > app.svg\n"
      "  drgpum export app.drgp --type dot --first 1000 --count 200 -o part.dot\n");
}

int run(Arguments& a) {
  Result<Report> report = [&] {
    ProgressLine progress;
    return load_report(kVerb, a.trace, a.load, progress);
  }();
  if (!report) return fail(kVerb, report.error());
  const std::uint32_t calls = report->evidence.api_count();
  if (a.type == "dot" && !a.has_range && calls > kMaxDotCalls)
    return fail(kVerb, {ErrorCode::kInvalidArgument,
                        a.trace + ": has " + std::to_string(calls) + " calls, at most " +
                            std::to_string(kMaxDotCalls) +
                            " can be drawn; choose some with --first and --count"});
  Result<Output> output = Output::open(a.output);
  if (!output) return fail(kVerb, output.error());
  if (a.type == "dot") {
    const std::uint32_t begin = std::min(a.first, calls);
    write_dot(*report, begin, begin + std::min(a.count, calls - begin), output->stream());
  } else {
    write_csv(*report, output->stream());
  }
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
