// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a trace's path to its report, with the options that the reading verbs share.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "offline/cli/opened_trace.h"
#include "offline/cli/terminal.h"
#include "offline/report/build_report.h"
#include "offline/source/source_text.h"

namespace CLI {
class App;
}

namespace drgpum {

struct LoadArguments {
  std::string rules = "strict";
  std::string level;  // "allocation", "tensor"; empty: tensors where the trace has any
  std::vector<std::string> thresholds;  // PATTERN=VALUE
  std::string suppressions;             // a file
  std::vector<std::string> source_roots;
  std::vector<std::string> path_maps;
  std::vector<std::string> symbol_paths;
  bool full_stacks = false;
  bool no_cache = false;
  bool debuginfod = false;
  bool quiet = false;            // no lines on standard error about missing source lines
  bool with_call_paths = false;  // of every object
  bool plan_pool = true;         // say what a planned pool and planned swaps would save
  std::function<void(const trace::Record&)> also;  // sees each record that was taken
  // Bundles stay unpacked as long as these arguments: reports name their sources.
  std::shared_ptr<OpenedTraces> opened = std::make_shared<OpenedTraces>();
};

void declare_load_options(CLI::App& app, LoadArguments& a);

// Directories become the traces (*.drgp) in them, by name. kNotFound: a directory without any.
Result<std::vector<std::string>> expand_traces(const std::vector<std::string>& paths);

// Where the source files may lie, from --source-root and --path-map.
SourcePlaces places_of(const LoadArguments& a);

// kInvalidArgument: a threshold or a suppression is wrong. Other errors: the trace.
Result<Report> load_report(const std::string& verb, const std::string& path, const LoadArguments& a,
                           ProgressLine& progress);

// Prints the error after "drgpum VERB: " and gives the exit status that fits it.
int fail(const std::string& verb, const Error& error);

}  // namespace drgpum
