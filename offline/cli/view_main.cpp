// SPDX-License-Identifier: Apache-2.0
// `drgpum view`: traces as a page in the browser, served to this machine only, or in one file.

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "offline/cli/load_report.h"
#include "offline/cli/page_output.h"
#include "offline/cli/terminal.h"
#include "offline/cli/verbs.h"
#include "offline/cli/view_server.h"
#include "offline/import/load_input.h"

namespace drgpum {
namespace {

constexpr const char* kVerb = "view";

struct Arguments {
  std::vector<std::string> inputs;
  std::string output;
  int port = 0;
  bool no_browser = false;
  LoadArguments load;
};

void declare(CLI::App& app, Arguments& a) {
  app.add_option("TRACE", a.inputs, "traces or memory snapshots, or one report or plan in JSON")->required();
  app.add_option("-o,--output", a.output, "write one HTML file that works without a network");
  app.add_option("--port", a.port, "port on 127.0.0.1; a free one without it")
      ->check(CLI::Range(0, 65535));
  app.add_flag("--no-browser", a.no_browser, "only print the address");
  declare_load_options(app, a.load);
  app.footer(
      "Examples:\n"
      "  drgpum view app.drgp\n"
      "  drgpum view app.drgp -o app.html\n");
}

// Whether the file is JSON, by its first character; a trace begins otherwise.
bool is_json(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char first = 0;
  while (file.get(first) && (first == ' ' || first == '\n' || first == '\r' || first == '\t')) {
  }
  return file && first == '{';
}

struct Opened {
  std::string json;  // else reports
  std::vector<Report> reports;
  bool complete = true;
};

Result<Opened> open_inputs(const Arguments& a) {
  Opened opened;
  if (a.inputs.size() == 1 && is_json(a.inputs.front()) &&
      input_kind(a.inputs.front()) != InputKind::kHistory) {
    std::ifstream file(a.inputs.front(), std::ios::binary);
    std::ostringstream json;
    json << file.rdbuf();
    opened.json = std::move(json).str();
    return opened;
  }
  ProgressLine progress;
  ASSIGN_OR_RETURN(const std::vector<std::string> traces, expand_traces(a.inputs));
  for (const std::string& path : traces) {
    ASSIGN_OR_RETURN(Report report, load_report(kVerb, path, a.load, progress));
    opened.complete = opened.complete && report.complete;
    opened.reports.push_back(std::move(report));
  }
  return opened;
}

int serve(Opened opened, const Arguments& a) {
  const auto source = opened.json.empty()
                          ? source_of_reports(std::move(opened.reports), places_of(a.load))
                          : source_of_json(std::move(opened.json));
  if (!source) return fail(kVerb, source.error());
  return serve_page(**source, {a.port, !a.no_browser});
}

int write_file(const Opened& opened, const Arguments& a) {
  Result<Output> output = Output::open(a.output);
  if (!output) return fail(kVerb, output.error());
  const Status written =
      opened.json.empty() ? write_report_page(opened.reports, places_of(a.load), output->stream())
                          : write_json_page(opened.json, output->stream());
  if (!written) return fail(kVerb, written.error());
  if (Status status = output->finish(); !status) return fail(kVerb, status.error());
  return opened.complete ? kExitOk : kExitIncomplete;
}

}  // namespace

int view_main(int argc, char** argv) {
  CLI::App app("Traces as a page in the browser.", "drgpum view");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  arguments.load.with_call_paths = true;
  Result<Opened> opened = open_inputs(arguments);
  if (!opened) return fail(kVerb, opened.error());
  return arguments.output.empty() ? serve(*std::move(opened), arguments)
                                  : write_file(*opened, arguments);
}

}  // namespace drgpum
