// SPDX-License-Identifier: Apache-2.0
// `drgpum plan`: lays out the objects of a trace, a snapshot or a table in one pool.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "offline/cli/opened_trace.h"
#include "offline/cli/plan_output.h"
#include "offline/cli/plan_swap_check.h"
#include "offline/cli/plan_values.h"
#include "offline/cli/verbs.h"
#include "offline/import/load_input.h"
#include "offline/plan/autoswap.h"
#include "offline/plan/baselines.h"
#include "offline/plan/check_plan.h"
#include "offline/plan/iterations.h"
#include "offline/plan/problem_from_trace.h"
#include "offline/plan/read_csv.h"
#include "offline/plan/smartpool.h"
#include "offline/trace/trace.h"

namespace drgpum {
namespace {

std::atomic<bool> interrupted = false;

void on_interrupt(int) {
  interrupted = true;
}

struct PlanArguments {
  std::string input;
  std::string mode = "best";
  std::string capacity;
  double time_limit_s = 8;
  std::uint64_t seed = 0;
  bool autoswap = false;
  std::string limit;
  std::string min_swap = "1M";
  std::string link = "pcie3";
  std::string level = "tensor";
  std::string check;
  std::string output;
  std::string format;
};

void declare(CLI::App& app, PlanArguments& arguments) {
  app.add_option("input", arguments.input,
                 "a trace or bundle, a memory snapshot, or a table: id,lower,upper,size or time_ns,op,id,size")
      ->required();
  app.add_option("--mode", arguments.mode,
                 "faithful: the published heuristic; best: a portfolio (default)")
      ->check(CLI::IsMember({"faithful", "best"}));
  app.add_option(
      "--capacity", arguments.capacity,
      "bytes (K, M, G: powers of 1024): stop at the first plan that fits; exit 1 if none does");
  app.add_option("--time-limit", arguments.time_limit_s,
                 "seconds of the processor; then the best plan found so far is printed (default 8)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", arguments.seed, "for the searches that draw lots");
  app.add_flag("--autoswap", arguments.autoswap, "plan swapping to host memory too (needs events)");
  app.add_option(
      "--limit", arguments.limit,
      "bytes that swapping has to keep; without it: the least that it can without stalls");
  app.add_option("--min-swap", arguments.min_swap,
                 "bytes; smaller objects are not swapped (default 1M)");
  app.add_option("--link", arguments.link,
                 "pcie3 (default), pcie4, pcie5, nvlink-c2c, or a speed in GB/s");
  app.add_option("--level", arguments.level,
                 "of a trace: plan tensors in the place of their pools, or whole allocations")
      ->check(CLI::IsMember({"allocation", "tensor"}));
  app.add_option("--check", arguments.check,
                 "a plan, JSON or CSV: only say whether it is right for the input, its swaps too");
  app.add_option("-o,--output", arguments.output, "write the plan there");
  app.add_option("--format", arguments.format, "text, json, csv or header (a C++ look-up table)")
      ->check(CLI::IsMember({"text", "json", "csv", "header"}));
  app.footer(
      "Examples:\n  drgpum plan snapshot.pickle -o plan.json\n  drgpum plan buffers.csv --capacity 1M\n  drgpum plan events.csv --mode best -o "
      "plan.json");
}

int fail(const Error& error) {
  std::fprintf(stderr, "drgpum plan: %s\n", error.message.c_str());
  return kExitUnreadable;
}

// Whole bytes, or with one of K, M, G, T behind.
Result<std::int64_t> parse_bytes(const std::string& text, const char* option) {
  const Error bad{ErrorCode::kInvalidArgument,
                  std::string(option) + " '" + text +
                      "' is not a number of bytes such as 1048576, 512K or 24G"};
  std::size_t used = 0;
  std::int64_t value = 0;
  while (used < text.size() && text[used] >= '0' && text[used] <= '9') {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, text[used] - '0', &value))
      return bad;
    ++used;
  }
  if (used == 0) return bad;
  std::string unit = text.substr(used);
  for (const char* tail : {"iB", "B"})
    if (unit.ends_with(tail)) unit.resize(unit.size() - std::string_view(tail).size());
  const std::size_t power = std::string_view("KMGT").find(unit);
  if (!unit.empty() && (unit.size() != 1 || power == std::string_view::npos)) return bad;
  const int shift = unit.empty() ? 0 : 10 * (static_cast<int>(power) + 1);
  if (value > (INT64_MAX >> shift)) return bad;
  return value << shift;
}

std::string format_of(const PlanArguments& arguments) {
  if (!arguments.format.empty()) return arguments.format;
  if (arguments.output.empty()) return "text";
  if (arguments.output.ends_with(".csv")) return "csv";
  if (arguments.output.ends_with(".h") || arguments.output.ends_with(".hpp")) return "header";
  return arguments.output.ends_with(".txt") ? "text" : "json";
}

std::string rendered(const PlanOutcome& outcome, const std::string& format) {
  if (format == "json") return plan_as_json(outcome);
  if (format == "csv") return plan_as_csv(outcome);
  return format == "header" ? plan_as_header(outcome) : plan_as_text(outcome);
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return Error{ErrorCode::kIo, path + ": cannot be written"};
  return Ok{};
}

bool on_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

void show_progress(std::int64_t bytes, std::int64_t bound, double seconds) {
  if (seconds < 1) return;
  if (bytes < 0) {
    std::fprintf(stderr, "\r%6.1f s  no plan yet ", seconds);
    return;
  }
  std::fprintf(
      stderr, "\r%6.1f s  %s, at most %.3f %% above the least possible ", seconds,
      shown_bytes(bytes).c_str(),
      bound == 0 ? 0.0 : 100.0 * static_cast<double>(bytes - bound) / static_cast<double>(bound));
}

Result<int> check(const Problem& problem, const PlanArguments& arguments, std::int64_t capacity) {
  ASSIGN_OR_RETURN(const std::string text, read_file(arguments.check));
  ASSIGN_OR_RETURN(const std::vector<std::int64_t> offsets,
                   read_plan(problem, text, arguments.check));
  Status status = check_layout(problem, offsets, capacity);
  if (status) status = check_swap_plan(problem, text, arguments.check);
  if (!status && status.error().code == ErrorCode::kCorrupt) return std::move(status).error();
  if (!status) {
    std::printf("%s\n", status.error().message.c_str());
    return kExitGate;
  }
  std::printf("%s: right, needs %s\n", arguments.check.c_str(),
              shown_bytes(footprint_of(problem, offsets)).c_str());
  return kExitOk;
}

Result<std::int64_t> bytes_or(const std::string& text, std::int64_t otherwise, const char* option) {
  if (text.empty()) return otherwise;
  return parse_bytes(text, option);
}

PoolOptions pool_options(const PlanArguments& arguments, std::int64_t capacity) {
  PoolOptions options;
  options.mode = arguments.mode == "faithful" ? PoolMode::kFaithful : PoolMode::kBest;
  options.capacity = capacity;
  options.time_limit_s = arguments.time_limit_s;
  options.seed = arguments.seed;
  options.interrupted = &interrupted;
  if (on_terminal()) options.progress = show_progress;
  return options;
}

// What comes after the pool of the whole run is quick, or else has a share of the time.
PoolOptions later_pool_options(const PlanArguments& arguments) {
  PoolOptions options = pool_options(arguments, -1);
  options.mode = PoolMode::kBest;
  options.time_limit_s = std::min(arguments.time_limit_s / 4, 2.0);
  return options;
}

Result<IterationOutcome> plan_iteration(const Problem& problem, const Iterations& iterations,
                                        const PlanArguments& arguments) {
  IterationOutcome outcome{iterations, circular_problem(problem, iterations), {}};
  ASSIGN_OR_RETURN(outcome.pool, plan_pool(outcome.circle.problem, later_pool_options(arguments)));
  return outcome;
}

// Ten times a second at most, and not within the first second.
std::function<void(std::int64_t, const SwapCost&)> swap_progress(std::int64_t iteration_ns) {
  using Clock = std::chrono::steady_clock;
  return [iteration_ns, start = Clock::now(), told = Clock::now()](
             std::int64_t limit, const SwapCost& best) mutable {
    const Clock::time_point now = Clock::now();
    if (now - start < std::chrono::seconds(1) || now - told < std::chrono::milliseconds(100))
      return;
    told = now;
    std::fprintf(stderr, "\r\033[K%6.1f s  swapping at %s: %s",
                 std::chrono::duration<double>(now - start).count(), shown_bytes(limit).c_str(),
                 best.excess_bytes > 0
                     ? "not kept yet"
                     : (percent(best.overhead_ns, iteration_ns) + " slower at most").c_str());
  };
}

Result<SwapOutcome> plan_swapping(const Problem& problem,
                                  const std::optional<Iterations>& iterations,
                                  const PlanArguments& arguments) {
  SwapProblemOptions options;
  ASSIGN_OR_RETURN(options.link, parse_link(arguments.link));
  ASSIGN_OR_RETURN(options.min_bytes, parse_bytes(arguments.min_swap, "--min-swap"));
  ASSIGN_OR_RETURN(const std::int64_t limit, bytes_or(arguments.limit, -1, "--limit"));
  const std::int64_t first = iterations ? iterations->first : 0;
  const std::int64_t last = iterations ? iterations->last : std::ssize(problem.events);
  SwapOutcome outcome;
  ASSIGN_OR_RETURN(outcome.problem,
                   make_swap_problem(problem, first, last, iterations.has_value(), options));
  outcome.min_bytes = options.min_bytes;
  outcome.first_event = first;
  outcome.first_ns = problem.events[static_cast<std::size_t>(first)].time_ns;
  SwapOptions search;
  search.interrupted = &interrupted;
  if (on_terminal()) search.progress = swap_progress(outcome.problem.duration_ns);
  search.mode = arguments.mode == "faithful" ? SwapMode::kScores : SwapMode::kBest;
  search.seed = arguments.seed;
  outcome.plan = limit >= 0 ? plan_swaps(outcome.problem, limit, search)
                            : plan_without_stalls(outcome.problem, search);
  for (const SwapPlan& plan : sweep_limits(outcome.problem, 40, search))
    if (plan.feasible)
      outcome.curve.push_back({plan.schedule.limit_bytes, plan.schedule.cost.overhead_ns});
  outcome.residency = residency_of(outcome.problem, problem, outcome.plan.schedule);
  ASSIGN_OR_RETURN(outcome.pool,
                   plan_pool(outcome.residency.problem, later_pool_options(arguments)));
  return outcome;
}

Status print(const PlanOutcome& outcome, const PlanArguments& arguments) {
  const std::string text = rendered(outcome, format_of(arguments));
  if (!arguments.output.empty()) {
    RETURN_IF_ERROR(write_file(arguments.output, text));
  }
  std::fputs(arguments.output.empty() ? text.c_str() : plan_as_text(outcome).c_str(), stdout);
  return Ok{};
}

struct Input {
  Problem problem;
  bool complete = true;
  bool records_accesses = true;
};

Result<Input> read_input(const std::string& path, bool whole_allocations) {
  Input input;
  OpenedTraces bundles;
  ASSIGN_OR_RETURN(const OpenedTrace opened, bundles.open(path));
  if (input_kind(opened.trace) == InputKind::kOther) {
    ASSIGN_OR_RETURN(input.problem, read_problem_csv(opened.trace));
    return input;
  }
  LoadOptions options;
  options.check = false;
  ASSIGN_OR_RETURN(const Trace trace, load_input(opened.trace, options));
  input.problem = problem_from_trace(trace, whole_allocations);
  input.problem.source = path;  // a bundle's trace lies elsewhere
  input.records_accesses = trace.process().mode != "allocations";
  input.complete = trace.summary().completeness == trace::Completeness::kComplete;
  if (!input.complete)
    input.problem.caveats.push_back("the trace is damaged or unfinished: " +
                                    trace.summary().reason);
  return input;
}

Result<int> plan(const PlanArguments& arguments) {
  ASSIGN_OR_RETURN(const std::int64_t capacity, bytes_or(arguments.capacity, -1, "--capacity"));
  ASSIGN_OR_RETURN(Input input, read_input(arguments.input, arguments.level == "allocation"));
  const bool swaps = arguments.autoswap && input.records_accesses;
  if (arguments.autoswap && !swaps)
    input.problem.caveats.push_back(
        "swapping cannot be planned: it needs to know when each object is used, and this file "
        "records only allocations and frees");
  const Problem& problem = input.problem;
  for (const std::string& caveat : problem.caveats)
    std::fprintf(stderr, "drgpum plan: %s\n", caveat.c_str());
  if (!arguments.check.empty()) return check(problem, arguments, capacity);
  ASSIGN_OR_RETURN(const PoolPlan pool, plan_pool(problem, pool_options(arguments, capacity)));
  PlanOutcome outcome{problem, pool, capacity, simulate_baselines(problem)};
  const std::optional<Iterations> iterations = find_iterations(problem);
  if (iterations) {
    ASSIGN_OR_RETURN(outcome.iteration, plan_iteration(problem, *iterations, arguments));
  }
  if (swaps) {
    ASSIGN_OR_RETURN(outcome.swap, plan_swapping(problem, iterations, arguments));
  }
  if (on_terminal()) std::fprintf(stderr, "\r\033[K");
  RETURN_IF_ERROR(print(outcome, arguments));
  if (!outcome.fits()) return kExitGate;
  return input.complete ? kExitOk : kExitIncomplete;
}

}  // namespace

int plan_main(int argc, char** argv) {
  CLI::App app("Lays out objects with known lifetimes in one pool, as small as it can.",
               "drgpum plan");
  PlanArguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  interrupted = false;
  const auto before = std::signal(SIGINT, on_interrupt);
  const Result<int> status = plan(arguments);
  std::signal(SIGINT, before);
  return status ? *status : fail(status.error());
}

}  // namespace drgpum
