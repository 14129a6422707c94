// SPDX-License-Identifier: Apache-2.0
// `drgpum diff`: what changed from one run to another.

#include <string>

#include <CLI/CLI.hpp>

#include "offline/cli/load_report.h"
#include "offline/cli/verbs.h"
#include "offline/report/gate.h"
#include "offline/report/report_diff.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr const char* kVerb = "diff";

struct Arguments {
  std::string base;
  std::string next;
  std::string format = "text";
  std::string output;
  std::vector<std::string> fail_on;
  LoadArguments load;
};

void declare(CLI::App& app, Arguments& a) {
  app.add_option("BASE", a.base, "trace to compare with")->required();
  app.add_option("NEW", a.next, "trace to judge")->required();
  app.add_option("--format", a.format, "text, json or md")
      ->check(CLI::IsMember({"text", "json", "md"}))
      ->capture_default_str();
  app.add_option("-o,--output", a.output, "file to write; standard output without it");
  app.add_option("--fail-on", a.fail_on,
                 "end with 1 when this is true of NEW, as 'peak_growth>5%'; may be repeated")
      ->allow_extra_args(false);
  declare_load_options(app, a.load);
  app.footer(
      "Objects are matched by where they are allocated and in which order, never by address.\n"
      "Examples:\n"
      "  drgpum diff main.drgp branch.drgp\n"
      "  drgpum diff main.drgp branch.drgp --format md --fail-on 'peak_growth>5%'\n");
}

int write(const ReportDiff& diff, const Arguments& a) {
  Result<Output> output = Output::open(a.output);
  if (!output) return fail(kVerb, output.error());
  if (a.format == "json") {
    write_diff_json(diff, output->stream());
  } else if (a.format == "md") {
    write_diff_markdown(diff, output->stream());
  } else {
    write_diff_text(diff, output->stream());
  }
  const Status status = output->finish();
  return status ? kExitOk : fail(kVerb, status.error());
}

int run(Arguments& a) {
  a.load.with_call_paths = true;
  ProgressLine progress;
  Result<Report> base = load_report(kVerb, a.base, a.load, progress);
  if (!base) return fail(kVerb, base.error());
  Result<Report> next = load_report(kVerb, a.next, a.load, progress);
  if (!next) return fail(kVerb, next.error());
  bool fails = false;
  for (const std::string& text : a.fail_on) {
    const Result<Gate> gate = parse_gate(text);
    if (!gate) return fail(kVerb, gate.error());
    const Result<bool> is = is_true(*gate, *next, base->peak_bytes());
    if (!is) return fail(kVerb, is.error());
    if (*is) std::fprintf(stderr, "drgpum diff: failed: %s\n", text.c_str());
    fails = fails || *is;
  }
  if (const int status = write(diff_reports(*base, *next), a); status != kExitOk) return status;
  if (fails) return kExitGate;
  return base->complete && next->complete ? kExitOk : kExitIncomplete;
}

}  // namespace

int diff_main(int argc, char** argv) {
  CLI::App app("What changed from one run of a program to another.", "drgpum diff");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return run(arguments);
}

}  // namespace drgpum
