// SPDX-License-Identifier: Apache-2.0
// `drgpum info`: what a trace holds, how much of it is there, and its records as text.

#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "offline/cli/opened_trace.h"
#include "offline/cli/terminal.h"
#include "offline/cli/verbs.h"
#include "offline/import/load_input.h"
#include "offline/report/units.h"
#include "offline/trace/trace.h"
#include "proto/trace/names.h"
#include "proto/trace/trace_text.h"

namespace drgpum {
namespace {

using namespace trace;

constexpr std::size_t kMostProblems = 5;  // printed; the rest is counted

int fail(const Error& error) {
  std::fprintf(stderr, "drgpum info: %s\n", printable(error.message).c_str());
  return kExitUnreadable;
}

void row(const std::string& name, const std::string& value) {
  std::printf("%-12s %s\n", name.c_str(), value.c_str());
}

std::string state_of(const ReadSummary& summary) {
  switch (summary.completeness) {
    case Completeness::kComplete:
      return "complete";
    case Completeness::kUnfinished:
      return "unfinished: " + summary.reason;
    case Completeness::kDamaged:
      return "damaged: " + summary.reason;
  }
  return "";
}

std::string time_of(std::uint64_t unix_ns) {
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm parts{};
  char text[32];
  if (::gmtime_r(&seconds, &parts) == nullptr) return std::to_string(unix_ns) + " ns";
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

void print_imported(const std::string& path, const Trace& loaded) {
  const ReadSummary& summary = loaded.summary();
  row("file", printable(path) + ", " + iec_and_exact(summary.file_bytes) + ", " +
                  printable(loaded.process().executable));
  row("as a trace", plural(summary.records, "record"));
}

void print_file(const std::string& path, const Trace& loaded, bool bundled) {
  const ReadSummary& summary = loaded.summary();
  row("trace", printable(path) + (bundled ? ", unpacked " : ", ") +
                   iec_and_exact(summary.file_bytes) + ", format " +
                   std::to_string(summary.header.major) + "." +
                   std::to_string(summary.header.minor));
  row("state", state_of(summary));
  row("good up to", "byte " + exact_bytes(summary.valid_bytes) + ", " +
                        plural(summary.records, "record") + " in " +
                        plural(summary.frames, "frame"));
  if (summary.unknown_records + summary.unknown_fields != 0)
    row("skipped", plural(summary.unknown_records, "record") + " and " +
                       plural(summary.unknown_fields, "field") + " of a later version");
}

void print_process(const Trace& loaded) {
  const ProcessRecord& process = loaded.process();
  std::string argv;
  for (const std::string& argument : process.argv)
    argv += " " + printable(argument);
  row("program", printable(process.executable) + " (pid " + std::to_string(process.pid) + ")");
  row("arguments", argv.empty() ? "none" : argv.substr(1));
  if (loaded.end() && loaded.end()->exit_code_known)
    row("exit code", std::to_string(loaded.end()->exit_code));
  row("recorded", time_of(process.start_unix_ns) + " on " + printable(process.host_name) +
                      ", mode " + printable(process.mode) + ", drgpum " +
                      printable(process.tool_version));
}

void print_device(const DeviceRecord& device) {
  std::string text = std::string(enum_name(device.kind)) + ", " + printable(device.name) + ", " +
                     iec_and_exact(device.memory_bytes) + ", sm_" +
                     std::to_string(device.compute_major) + std::to_string(device.compute_minor);
  if (!device.sanitizer_abi.empty()) text += ", sanitizer " + printable(device.sanitizer_abi);
  row("device " + std::to_string(device.id.value), text);
}

void print_objects(const Trace& loaded) {
  std::uint64_t bytes = 0;
  std::uint64_t by_kind[kEnumNames<ObjectKind>.size()] = {};
  for (const TraceObject& object : loaded.objects().rows()) {
    ++by_kind[static_cast<std::size_t>(object.kind)];
    if (object.parent == kNoObject && __builtin_add_overflow(bytes, object.size, &bytes))
      bytes = ~std::uint64_t{0};
  }
  std::string text = exact_bytes(loaded.objects().size()) + ", " + iec_and_exact(bytes) + " in all";
  for (std::size_t k = 0; k < kEnumNames<ObjectKind>.size(); ++k)
    if (by_kind[k] != 0)
      text += ", " + exact_bytes(by_kind[k]) + " " + std::string(kEnumNames<ObjectKind>[k]);
  row("objects", text);
}

void print_calls(const Trace& loaded) {
  std::string text = exact_bytes(loaded.summary().apis);
  for (std::size_t k = 0; k < kEnumNames<ApiKind>.size(); ++k)
    if (loaded.counts().calls[k] != 0)
      text +=
          ", " + exact_bytes(loaded.counts().calls[k]) + " " + std::string(kEnumNames<ApiKind>[k]);
  row("calls", text);
  row("of launches", exact_bytes(loaded.counts().accesses) + " accesses, " +
                         exact_bytes(loaded.counts().access_maps) + " access maps, " +
                         exact_bytes(loaded.counts().access_sites) + " access sites, " +
                         exact_bytes(loaded.counts().times) + " device times");
  row("tables", plural(loaded.contexts().size(), "context") + ", " +
                    plural(loaded.streams().size(), "stream") + ", " +
                    plural(loaded.kernels().size(), "kernel") + ", " +
                    plural(loaded.cubins().size(), "device module") + ", " +
                    plural(loaded.modules().size(), "host module") + ", " +
                    plural(loaded.call_paths().size(), "call path"));
}

void print_coverage(const Trace& loaded) {
  if (loaded.coverage().empty()) row("coverage", "nothing was missed");
  for (const CoverageRecord& gap : loaded.coverage()) {
    std::string text = std::string(enum_name(gap.kind)) + ", " + exact_bytes(gap.count) + " times";
    if (gap.api) text += ", call " + std::to_string(gap.api->value);
    if (gap.object != kNoObject) text += ", object " + std::to_string(gap.object.value);
    row("coverage", text + (gap.text.empty() ? "" : ": " + printable(gap.text)));
  }
}

void print_problems(const Trace& loaded) {
  const TraceProblems& problems = loaded.problems();
  for (std::size_t k = 0; k < problems.first.size() && k < kMostProblems; ++k)
    row("problem", "record " + exact_bytes(problems.first[k].record) + ": " +
                       printable(problems.first[k].message));
  if (problems.count > kMostProblems)
    row("problem", plural(problems.count - kMostProblems, "more problem"));
}

Result<Completeness> print_summary(const std::string& path) {
  ProgressLine progress;
  LoadOptions options;
  options.calls = false;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    progress.show("reading " + path + ", " + percent_of(done, all));
  };
  OpenedTraces bundles;
  ASSIGN_OR_RETURN(const OpenedTrace opened, bundles.open(path));
  ASSIGN_OR_RETURN(const Trace loaded, load_input(opened.trace, options));
  if (input_kind(opened.trace) == InputKind::kHistory)
    print_imported(path, loaded);
  else
    print_file(path, loaded, !opened.folder.empty());
  print_process(loaded);
  for (const DeviceRecord& device : loaded.devices().rows())
    print_device(device);
  print_objects(loaded);
  print_calls(loaded);
  print_coverage(loaded);
  print_problems(loaded);
  return loaded.summary().completeness;
}

Result<Completeness> print_records(const std::string& path) {
  if (input_kind(path) == InputKind::kHistory) {
    RETURN_IF_ERROR(feed_history(path, {}, [](const Record& record) -> Status {
      std::cout << to_text(record) << '\n';
      return Ok{};
    }));
    std::cout.flush();
    return Completeness::kComplete;
  }
  OpenedTraces bundles;
  ASSIGN_OR_RETURN(const OpenedTrace opened, bundles.open(path));
  ASSIGN_OR_RETURN(TraceReader reader, TraceReader::open(opened.trace));
  Record record;
  while (reader.next(record) && std::cout)
    std::cout << to_text(record) << '\n';
  std::cout.flush();
  const ReadSummary& summary = reader.summary();
  if (summary.completeness != Completeness::kComplete)
    std::fprintf(stderr, "drgpum info: %s %s\n", printable(path).c_str(),
                 state_of(summary).c_str());
  return summary.completeness;
}

}  // namespace

int info_main(int argc, char** argv) {
  CLI::App app("What a trace holds and how much of it is there.", "drgpum info");
  std::vector<std::string> paths;
  bool records = false;
  app.add_option("TRACE", paths, "traces or memory snapshots to describe")->required();
  app.add_flag("--records", records, "print the records, one a line");
  app.footer(
      "Examples:\n"
      "  drgpum info app.drgp\n"
      "  drgpum info --records app.drgp | grep '^call'\n");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  int status = kExitOk;
  for (const std::string& path : paths) {
    if (&path != &paths.front()) std::puts("");
    const Result<Completeness> found = records ? print_records(path) : print_summary(path);
    if (!found) return fail(found.error());
    if (*found != Completeness::kComplete) status = kExitIncomplete;
  }
  return status;
}

}  // namespace drgpum
