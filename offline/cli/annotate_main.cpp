// SPDX-License-Identifier: Apache-2.0
// `drgpum annotate`: a source file with what its lines allocate, read and write.

#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "offline/cli/load_report.h"
#include "offline/cli/verbs.h"
#include "offline/report/annotate.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr const char* kVerb = "annotate";

struct Arguments {
  std::string file;
  std::string trace;
  std::string output;
  std::size_t context = 0;
  LoadArguments load;
};

void declare(CLI::App& app, Arguments& a) {
  app.add_option("FILE", a.file, "source file, or the end of its path")->required();
  app.add_option("TRACE", a.trace, "trace or bundle")->required();
  app.add_option("-o,--output", a.output, "file to write; standard output without it");
  app.add_option("--context", a.context,
                 "show only lines with figures, and so many around them; 0 shows all")
      ->capture_default_str();
  declare_load_options(app, a.load);
  app.footer(
      "Examples:\n"
      "  drgpum annotate src/app.cu app.drgp\n"
      "  drgpum annotate app.cu app.drgp --context 3 --source-root .\n"
      "\nBeside each line: bytes that it allocates over the run, those of them alive at the peak,\n"
      "reads and writes by lanes of kernels; below it the findings about what it allocates.\n");
}

int run(const Arguments& a) {
  Result<Report> report = [&] {
    ProgressLine progress;
    return load_report(kVerb, a.trace, a.load, progress);
  }();
  if (!report) return fail(kVerb, report.error());
  const Result<Annotations> annotations = annotate(*report, a.file);
  if (!annotations) return fail(kVerb, annotations.error());
  Result<Output> output = Output::open(a.output);
  if (!output) return fail(kVerb, output.error());
  SourceText text(places_of(a.load));
  // The file as it was named, when it is one on this machine.
  const std::string source = text.line_count(annotations->file) > 0 ? annotations->file : a.file;
  AnnotatedStyle style;
  style.width = terminal_width(STDOUT_FILENO);
  style.context = a.context;
  style.line_count = text.line_count(source);
  style.source_line = [&](std::uint32_t line) { return text.line(source, line); };
  write_annotated(*report, *annotations, style, output->stream());
  if (Status status = output->finish(); !status) return fail(kVerb, status.error());
  if (style.line_count == 0)
    std::fprintf(stderr, "drgpum annotate: %s is not on this machine; say where with --source-root or --path-map\n",
                 printable(annotations->file).c_str());
  return report->complete ? kExitOk : kExitIncomplete;
}

}  // namespace

int annotate_main(int argc, char** argv) {
  CLI::App app("A source file with what its lines allocate and access.", "drgpum annotate");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  arguments.load.with_call_paths = true;
  return run(arguments);
}

}  // namespace drgpum
