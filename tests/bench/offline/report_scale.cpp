// SPDX-License-Identifier: Apache-2.0
// How long a report takes, and how much memory, from a trace file of a given number of calls.

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include "offline/order/dependency_graph.h"
#include "offline/order/load_evidence.h"
#include "offline/report/build_report.h"
#include "offline/report/report_json.h"
#include "proto/trace/trace_writer.h"
#include "tests/support/large_trace.h"

namespace drgpum {
namespace {

std::string trace_of(std::uint64_t calls) {
  const std::string path = "/tmp/drgpum-scale-" + std::to_string(::getpid()) + ".drgp";
  auto writer = trace::TraceWriter::create(path, {}, {0, true});
  if (!writer) return {};
  make_large_trace({calls, 4, 1, 200}, [&](const trace::Record& record) { (*writer)->append(record); });
  (*writer)->finish();
  return path;
}

double peak_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Load, order, judge, replay, write all of the JSON to a file. `MiB` is the highest resident size
// of the process so far: run one size at a time for it to mean something.
void report_scale(benchmark::State& state) {
  const std::string path = trace_of(static_cast<std::uint64_t>(state.range(0)));
  if (path.empty()) return state.SkipWithError("the trace could not be written");
  std::size_t findings = 0;
  for (auto _ : state) {
    double at = seconds();
    auto loaded = load_evidence(path);
    if (!loaded) return state.SkipWithError(loaded.error().message.c_str());
    state.counters["s_load"] = seconds() - at;
    state.counters["MiB_load"] = peak_mib();
    SourceLookup sources;
    ReportOptions options;
    std::string stage = "start";
    at = seconds();
    options.progress = [&](std::string_view next) {
      state.counters["s_" + stage] = seconds() - at;
      state.counters["MiB_" + stage] = peak_mib();
      stage = next;
      at = seconds();
    };
    const Report report = build_report(std::move(loaded->evidence), true, "", sources, options);
    state.counters["s_" + stage] = seconds() - at;
    at = seconds();
    std::ofstream out(path + ".json", std::ios::binary);
    write_json({&report, 1}, out);
    state.counters["s_json"] = seconds() - at;
    findings = report.findings.size();
  }
  ::unlink(path.c_str());
  ::unlink((path + ".json").c_str());
  state.counters["findings"] = static_cast<double>(findings);
  state.counters["MiB"] = peak_mib();
  state.SetComplexityN(state.range(0));
}
BENCHMARK(report_scale)
    ->RangeMultiplier(10)
    ->Range(100'000, 10'000'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

void graph_and_levels(benchmark::State& state) {
  EvidenceBuilder builder;
  make_large_trace({static_cast<std::uint64_t>(state.range(0)), 4, 1, 200},
                   [&](const trace::Record& record) { (void)builder.add(record); });
  const Evidence evidence = std::move(builder).finish();
  for (auto _ : state) {
    const DependencyGraph graph(evidence);
    benchmark::DoNotOptimize(levels_of(evidence, graph));
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(graph_and_levels)
    ->RangeMultiplier(10)
    ->Range(100'000, 1'000'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

}  // namespace
}  // namespace drgpum

BENCHMARK_MAIN();
