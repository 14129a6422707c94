// SPDX-License-Identifier: Apache-2.0
#include "offline/cli/load_report.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include <CLI/CLI.hpp>

#include "offline/cli/trace_sources.h"
#include "offline/cli/verbs.h"
#include "offline/import/load_input.h"
#include "offline/order/load_evidence.h"
#include "offline/patterns/patterns.h"
#include "offline/plan/problem_from_trace.h"
#include "offline/report/swap_saving.h"
#include "offline/report/units.h"
#include "offline/source/symbol_cache.h"

namespace drgpum {

SourcePlaces places_of(const LoadArguments& a) {
  SourcePlaces places;
  places.roots = a.source_roots;
  for (const std::string& map : a.path_maps) {
    const std::size_t equals = map.find('=');
    places.path_map.emplace_back(map.substr(0, equals), map.substr(equals + 1));
  }
  places.files = a.opened->sources();
  return places;
}

namespace {

Error bad_threshold(const std::string& text, const std::string& what) {
  return {ErrorCode::kInvalidArgument, "--threshold " + text + ": " + what};
}

Status set_threshold(const std::string& text, Thresholds& thresholds) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (equals == std::string::npos) return bad_threshold(text, "is not of the form PATTERN=VALUE");
  const std::optional<Pattern> pattern = pattern_named(name);
  if (!pattern) return bad_threshold(text, "there is no pattern '" + name + "'");
  double value = 0;
  const char* first = text.data() + equals + 1;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last || !(value >= 0))
    return bad_threshold(text, "the value is no number of at least 0");
  const auto launches = static_cast<std::uint64_t>(std::min(value, 1e18));
  switch (*pattern) {
    case Pattern::kEarlyAllocation:
      thresholds.early_launches = launches;
      return Ok{};
    case Pattern::kLateDeallocation:
      thresholds.late_launches = launches;
      return Ok{};
    case Pattern::kTemporaryIdleness:
      thresholds.idle_launches = launches;
      return Ok{};
    case Pattern::kOverallocation:
      thresholds.accessed_share = value;
      return Ok{};
    case Pattern::kNonUniformAccessFrequency:
      thresholds.count_variation = value;
      return Ok{};
    case Pattern::kStructuredAccess:
      thresholds.largest_part_share = value;
      return Ok{};
    case Pattern::kRedundantAllocation:
      if (value == 0 || value > 1) return bad_threshold(text, "the share lies in (0, 1]");
      thresholds.reuse_fit = value;
      return Ok{};
    default:
      return bad_threshold(text, "this pattern has no threshold");
  }
}

TraceSources find_sources(const Trace& tables, const OpenedTrace& opened, AccessLines accesses,
                          const LoadArguments& a, ProgressLine& progress) {
  SourceOptions options;
  if (!a.no_cache) options.cache_directory = default_cache_directory();
  options.symbol_paths = a.symbol_paths;
  options.bundled_directory = opened.folder;
  options.full_stacks = a.full_stacks;
  options.debuginfod = a.debuginfod;
  options.progress = [&](std::string_view module) {
    progress.show("finding lines of " + printable(module));
  };
  SourceMap map = resolve_sources(tables, options);
  std::vector<std::string> image_paths = a.symbol_paths;
  if (!opened.folder.empty()) image_paths.push_back(opened.folder);
  DeviceLines device(tables, std::move(image_paths));
  accesses.resolve(device, tables, a.full_stacks);
  return TraceSources(std::move(map), std::move(accesses), device.notes(), places_of(a));
}

Result<ReportOptions> options_of(const LoadArguments& a) {
  ReportOptions options;
  options.rules = a.rules == "drgpum" ? Rules::kPublished : Rules::kStrict;
  if (a.level == "tensor") options.level = MemoryLevel::kTensor;
  if (a.level == "allocation") options.level = MemoryLevel::kAllocation;
  options.with_call_paths = a.with_call_paths;
  options.with_pool = a.plan_pool && !a.quiet;
  for (const std::string& threshold : a.thresholds)
    RETURN_IF_ERROR(set_threshold(threshold, options.thresholds));
  if (a.suppressions.empty()) return options;
  auto rules = read_suppressions(a.suppressions);
  if (!rules) return Error{ErrorCode::kInvalidArgument, "--suppressions " + rules.error().message};
  options.suppressions = *std::move(rules);
  return options;
}

// What the times of a timing run add. The calls are read once more: few traces have times.
Status add_times(const std::string& trace_path, const std::string& shown_path,
                 ProgressLine& progress, Report& report) {
  progress.show("planning swaps of " + shown_path);
  ASSIGN_OR_RETURN(const Trace trace, load_input(trace_path, LoadOptions()));
  const TimedCalls times = timed_calls(trace);
  report.times = DeviceTimes{static_cast<std::uint64_t>(times.device_calls),
                             static_cast<std::uint64_t>(times.timed)};
  report.autoswap = swap_saving(problem_from_trace(trace));
  return Ok{};
}

}  // namespace

void declare_load_options(CLI::App& app, LoadArguments& a) {
  // What may be repeated takes one value each time: the trace that follows is no value of it.
  app.add_option("--rules", a.rules, "strict, or drgpum: the published tool's rules as coded")
      ->check(CLI::IsMember({"strict", "drgpum"}))
      ->capture_default_str();
  app.add_option("--level", a.level,
                 "judge whole allocations, or the tensors inside pools (default where there are "
                 "any)")
      ->check(CLI::IsMember({"allocation", "tensor"}));
  app.add_option("--threshold", a.thresholds, "PATTERN=VALUE; --explain PATTERN says the unit")
      ->allow_extra_args(false);
  app.add_option("--suppressions", a.suppressions, "file of findings to leave out, with reasons");
  app.add_option("--source-root", a.source_roots, "directory that holds the program's sources")
      ->allow_extra_args(false);
  app.add_option("--path-map", a.path_maps, "A=B: source files recorded below A lie below B")
      ->allow_extra_args(false)
      ->check([](const std::string& map) {
        return map.find('=') == std::string::npos ? "is not of the form A=B" : "";
      });
  app.add_option("--symbol-path", a.symbol_paths,
                 "directory that holds modules or their debug files")
      ->allow_extra_args(false);
  app.add_flag("--debuginfod", a.debuginfod,
               "fetch missing debug files from the servers of $DEBUGINFOD_URLS");
  app.add_flag("--no-cache", a.no_cache,
               "find all lines anew; else those found before are read from $XDG_CACHE_HOME/drgpum");
  app.add_flag("--full-stacks", a.full_stacks,
               "show frames of system libraries, headers and program start too");
}

Result<std::vector<std::string>> expand_traces(const std::vector<std::string>& paths) {
  std::vector<std::string> traces;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      traces.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path, error))
      if (entry.path().extension() == ".drgp") found.push_back(entry.path().string());
    if (error) return Error{ErrorCode::kIo, path + ": " + error.message()};
    if (found.empty()) return Error{ErrorCode::kNotFound, path + ": holds no traces (*.drgp)"};
    std::sort(found.begin(), found.end());
    traces.insert(traces.end(), found.begin(), found.end());
  }
  return traces;
}

Result<Report> load_report(const std::string& verb, const std::string& path, const LoadArguments& a,
                           ProgressLine& progress) {
  ASSIGN_OR_RETURN(ReportOptions options, options_of(a));
  EvidenceBuilder builder;
  LoadOptions load;
  load.calls = load.objects = load.check = false;
  AccessLines accesses;
  load.also = [&](const trace::Record& record) -> Status {
    accesses.add(record);
    RETURN_IF_ERROR(builder.add(record));
    if (a.also) a.also(record);
    return Ok{};
  };
  load.progress = [&](std::uint64_t done, std::uint64_t all) {
    progress.show("reading " + path + ", " + percent_of(done, all));
  };
  ASSIGN_OR_RETURN(const OpenedTrace opened, a.opened->open(path));
  ASSIGN_OR_RETURN(const Trace tables, load_input(opened.trace, load));
  const bool records_accesses = tables.process().mode != "allocations";
  if (a.level.empty() && !records_accesses) options.level = MemoryLevel::kTensor;
  LoadedEvidence loaded = finish_evidence(std::move(builder), tables.summary(), path);
  options.progress = [&](std::string_view stage) {
    progress.show(std::string(stage) + " " + path);
  };
  TraceSources sources = find_sources(tables, opened, std::move(accesses), a, progress);
  Report report = build_report(std::move(loaded.evidence), loaded.complete,
                               std::move(loaded.reason), sources, options);
  if (options.with_pool && records_accesses && tables.counts().times > 0)
    RETURN_IF_ERROR(add_times(opened.trace, path, progress, report));
  if (!a.quiet)
    for (const std::string& line : sources.missing())
      std::fprintf(stderr, "drgpum %s: %s\n", verb.c_str(), line.c_str());
  return report;
}

int fail(const std::string& verb, const Error& error) {
  std::fprintf(stderr, "drgpum %s: %s\n", verb.c_str(), printable(error.message).c_str());
  return error.code == ErrorCode::kInvalidArgument ? kExitUsage : kExitUnreadable;
}

}  // namespace drgpum
