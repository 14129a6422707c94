// SPDX-License-Identifier: Apache-2.0
#include "offline/cli/plan_swap_check.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "offline/cli/plan_swap_output.h"
#include "offline/plan/check_plan.h"
#include "offline/plan/check_swap.h"
#include "offline/plan/swap_problem.h"

namespace drgpum {
namespace {

using Json = nlohmann::json;

class Reader {
 public:
  explicit Reader(const std::string& source) : source_(source) {}

  Error wrong(const std::string& what) const {
    return {ErrorCode::kCorrupt, source_ + ": autoswap: " + what};
  }

  Error broken(const std::string& what) const {
    return {ErrorCode::kInvalidArgument, "the swap plan is wrong: " + what};
  }

  Result<std::int64_t> integer(const Json& holder, const char* name) const {
    if (!holder.contains(name) || !holder[name].is_number_integer())
      return wrong(std::string("lacks an integer '") + name + "'");
    return holder[name].get<std::int64_t>();
  }

  Result<double> number(const Json& holder, const char* name) const {
    if (!holder.contains(name) || !holder[name].is_number() ||
        !std::isfinite(holder[name].get<double>()) || holder[name].get<double>() < 0)
      return wrong(std::string("lacks a number '") + name + "' of at least 0");
    return holder[name].get<double>();
  }

  // Rows of `width` integers each.
  Result<std::vector<std::vector<std::int64_t>>> rows(const Json& holder, const char* name,
                                                      std::size_t width) const {
    if (!holder.contains(name) || !holder[name].is_array())
      return wrong(std::string("lacks an array '") + name + "'");
    std::vector<std::vector<std::int64_t>> rows;
    for (const Json& row : holder[name]) {
      if (!row.is_array() || row.size() != width)
        return wrong(std::string(name) + "[" + std::to_string(rows.size()) + "] has not " +
                     std::to_string(width) + " numbers");
      rows.emplace_back();
      for (const Json& cell : row) {
        if (!cell.is_number_integer())
          return wrong(std::string(name) + "[" + std::to_string(rows.size() - 1) +
                       "] holds something that is no integer");
        rows.back().push_back(cell.get<std::int64_t>());
      }
    }
    return rows;
  }

 private:
  const std::string& source_;
};

Result<SwapProblem> read_problem(const Problem& problem, const Json& schedule,
                                 const Reader& reader) {
  ASSIGN_OR_RETURN(const std::int64_t first, reader.integer(schedule, "first_event"));
  ASSIGN_OR_RETURN(const std::int64_t last, reader.integer(schedule, "last_event"));
  if (first < 0 || last <= first || last > std::ssize(problem.events))
    return reader.wrong("events [" + std::to_string(first) + ", " + std::to_string(last) +
                        ") are not events of " + problem.source);
  if (!schedule.contains("repeats") || !schedule["repeats"].is_boolean())
    return reader.wrong("lacks a boolean 'repeats'");
  SwapProblemOptions options;
  ASSIGN_OR_RETURN(options.min_bytes, reader.integer(schedule, "min_swap_bytes"));
  ASSIGN_OR_RETURN(options.link.out_ns_per_byte, reader.number(schedule, "out_ns_per_byte"));
  ASSIGN_OR_RETURN(options.link.out_latency_ns, reader.number(schedule, "out_latency_ns"));
  ASSIGN_OR_RETURN(options.link.in_ns_per_byte, reader.number(schedule, "in_ns_per_byte"));
  ASSIGN_OR_RETURN(options.link.in_latency_ns, reader.number(schedule, "in_latency_ns"));
  return make_swap_problem(problem, first, last, schedule["repeats"].get<bool>(), options);
}

Status read_stalls(const SwapProblem& problem, const Json& json, const Reader& reader,
                   SwapSchedule& schedule) {
  ASSIGN_OR_RETURN(const auto stalls, reader.rows(json, "stalls", 2));
  std::vector<std::int64_t> stall(problem.events.size(), 0);
  for (const auto& row : stalls) {
    if (row[0] < 0 || row[0] >= std::ssize(stall) || row[1] < 0 || row[1] > INT64_MAX / 4)
      return reader.wrong("a stall at event " + std::to_string(row[0]) + " of " +
                          std::to_string(row[1]) + " ns cannot be");
    stall[static_cast<std::size_t>(row[0])] += row[1];
  }
  std::int64_t delay = 0;
  for (std::size_t e = 0; e < stall.size(); ++e) {
    delay += stall[e];
    schedule.event_ns.push_back(problem.events[e].time_ns + delay);
  }
  return Ok{};
}

Status read_uses(const SwapProblem& problem, const Json& json, const Reader& reader,
                 SwapSchedule& schedule) {
  ASSIGN_OR_RETURN(const auto uses, reader.rows(json, "uses", 8));
  const std::int64_t end = std::ssize(problem.events);
  for (const auto& row : uses) {
    const bool known = row[0] >= 0 && row[0] < std::ssize(problem.instances) && row[1] >= -1 &&
                       row[1] < row[2] && row[2] <= end;
    if (!known)
      return reader.wrong("uses[" + std::to_string(schedule.swaps.size()) +
                          "] names an object or events that are not there");
    SwapTimes times;
    times.absence.instance = static_cast<std::uint32_t>(row[0]);
    times.absence.from = static_cast<std::int32_t>(row[1]);
    times.absence.to = static_cast<std::int32_t>(row[2]);
    times.out_start = row[3];
    times.out_end = row[4];
    times.in_start = row[5] < 0 ? kNeverNs : row[5];
    times.in_end = row[6] < 0 ? kNeverNs : row[6];
    times.stall = row[7];
    schedule.swaps.push_back(times);
  }
  return Ok{};
}

Result<SwapSchedule> read_schedule(const SwapProblem& problem, const Json& autoswap,
                                   const Reader& reader) {
  const Json& json = autoswap["schedule"];
  SwapSchedule schedule;
  ASSIGN_OR_RETURN(schedule.limit_bytes, reader.integer(autoswap, "limit_bytes"));
  ASSIGN_OR_RETURN(schedule.peak_bytes, reader.integer(autoswap, "peak_bytes"));
  ASSIGN_OR_RETURN(schedule.cost.overhead_ns, reader.integer(autoswap, "overhead_ns"));
  RETURN_IF_ERROR(read_stalls(problem, json, reader, schedule));
  RETURN_IF_ERROR(read_uses(problem, json, reader, schedule));
  return schedule;
}

// The offsets of what stays, refereed, in `outcome.pool`.
Status read_pool(const Json& autoswap, const Reader& reader, SwapOutcome& outcome) {
  if (!autoswap.contains("pool") || !autoswap["pool"].is_object() ||
      !autoswap["pool"].contains("objects") || !autoswap["pool"]["objects"].is_array())
    return reader.wrong("lacks an object 'pool' with an array 'objects'");
  const Json& objects = autoswap["pool"]["objects"];
  if (objects.size() != outcome.residency.stays.size())
    return reader.broken("its pool holds " + std::to_string(objects.size()) + " stays, not " +
                         std::to_string(outcome.residency.stays.size()));
  for (const Json& object : objects) {
    if (!object.is_object()) return reader.wrong("its pool holds something that is no object");
    ASSIGN_OR_RETURN(const std::int64_t offset, reader.integer(object, "offset"));
    outcome.pool.offsets.push_back(offset);
  }
  RETURN_IF_ERROR(check_layout(outcome.residency.problem, outcome.pool.offsets));
  ASSIGN_OR_RETURN(const std::int64_t claimed, reader.integer(autoswap["pool"], "footprint_bytes"));
  const std::int64_t needed = footprint_of(outcome.residency.problem, outcome.pool.offsets);
  if (claimed < needed)
    return reader.broken("its pool needs " + std::to_string(needed) + " bytes, not " +
                         std::to_string(claimed));
  return Ok{};
}

// What is listed for a reader has to be what was refereed.
Status check_listed(const Problem& problem, const Json& autoswap, const Reader& reader,
                    const SwapOutcome& outcome) {
  const Json swaps = Json::parse("[" + listed_swaps_as_json(outcome, problem) + "]");
  if (!autoswap.contains("swaps") || autoswap["swaps"] != swaps)
    return reader.broken("'swaps' are not those of its schedule");
  const Json stays = Json::parse("[" + listed_stays_as_json(outcome, problem) + "]");
  if (autoswap["pool"]["objects"] != stays)
    return reader.broken("its pool's objects are not those that its schedule leaves");
  return Ok{};
}

}  // namespace

Status check_swap_plan(const Problem& problem, const std::string& json, const std::string& source) {
  const Json plan = Json::parse(json, nullptr, false);
  if (plan.is_discarded() || !plan.contains("autoswap")) return Ok{};
  const Reader reader(source);
  const Json& autoswap = plan["autoswap"];
  if (!autoswap.is_object() || !autoswap.contains("schedule") || !autoswap["schedule"].is_object())
    return reader.wrong("lacks an object 'schedule'");
  ASSIGN_OR_RETURN(SwapProblem swaps, read_problem(problem, autoswap["schedule"], reader));
  SwapOutcome outcome;
  outcome.first_event = autoswap["schedule"]["first_event"].get<std::int64_t>();
  outcome.first_ns = problem.events[static_cast<std::size_t>(outcome.first_event)].time_ns;
  ASSIGN_OR_RETURN(outcome.plan.schedule, read_schedule(swaps, autoswap, reader));
  outcome.problem = std::move(swaps);
  RETURN_IF_ERROR(check_swaps(outcome.problem, outcome.plan.schedule));
  outcome.residency = residency_of(outcome.problem, problem, outcome.plan.schedule);
  RETURN_IF_ERROR(read_pool(autoswap, reader, outcome));
  return check_listed(problem, autoswap, reader, outcome);
}

}  // namespace drgpum
