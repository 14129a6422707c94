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
  app.add_option("TRACE", a.inputs, "traces, or one report or plan in JSON")->required();
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

struct Page {
  std::string html;
  bool complete = true;
};

Result<Page> page_of(const Arguments& a) {
  Page page;
  std::ostringstream out;
  if (a.inputs.size() == 1 && is_json(a.inputs.front())) {
    std::ifstream file(a.inputs.front(), std::ios::binary);
    std::ostringstream json;
    json << file.rdbuf();
    RETURN_IF_ERROR(write_json_page(json.str(), out));
  } else {
    std::vector<Report> reports;
    ProgressLine progress;
    ASSIGN_OR_RETURN(const std::vector<std::string> traces, expand_traces(a.inputs));
    for (const std::string& path : traces) {
      ASSIGN_OR_RETURN(Report report, load_report(kVerb, path, a.load, progress));
      page.complete = page.complete && report.complete;
      reports.push_back(std::move(report));
    }
    RETURN_IF_ERROR(write_report_page(reports, places_of(a.load), out));
  }
  page.html = std::move(out).str();
  return page;
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
  const Result<Page> page = page_of(arguments);
  if (!page) return fail(kVerb, page.error());
  if (arguments.output.empty())
    return serve_page(page->html, {arguments.port, !arguments.no_browser});
  Result<Output> output = Output::open(arguments.output);
  if (!output) return fail(kVerb, output.error());
  output->stream() << page->html;
  if (Status status = output->finish(); !status) return fail(kVerb, status.error());
  return page->complete ? kExitOk : kExitIncomplete;
}

}  // namespace drgpum
