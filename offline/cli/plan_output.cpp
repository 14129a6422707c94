// SPDX-License-Identifier: Apache-2.0
#include "offline/cli/plan_output.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "offline/cli/plan_swap_output.h"
#include "offline/cli/plan_values.h"
#include "offline/plan/check_plan.h"
#include "offline/plan/read_csv.h"

namespace drgpum {
namespace {

// A CSV field; quoted where it has to be.
std::string field(const std::string& text) {
  return text.find_first_of(", \"") == std::string::npos ? text : '"' + text + '"';
}

std::string baseline_line(const char* name, std::int64_t bytes, std::int64_t footprint) {
  return std::string("  ") + name + shown_bytes(bytes) + ", the plan takes " +
         percent(bytes - footprint, bytes) + " less\n";
}

void append_object(std::string& json, const Problem& problem, std::size_t i, std::int64_t offset) {
  const PlanObject& object = problem.objects[i];
  const TimeRange life = shown_life(problem, object);
  json += "{\"id\":" + quoted(object.id) + ',' + field_json("offset", offset) + ',' +
          field_json("size", object.size) + ',' + field_json("lower", life.lower) + ',' +
          field_json("upper", life.upper) + '}';
}

const char* shown_time(const Problem& problem) {
  if (problem.events.empty()) return "given";
  return problem.has_times ? "measured" : "issue order";
}

struct Slot {
  std::int64_t size;
  std::int64_t offset;  // -1: outside the pool
};

// What the program's allocations get, in their order: of one iteration, or of the whole run.
std::vector<Slot> slots_of(const PlanOutcome& outcome) {
  std::vector<Slot> slots;
  if (outcome.iteration) {
    const CircularProblem& circle = outcome.iteration->circle;
    for (std::size_t i = 0; i < circle.object_of_allocation.size(); ++i) {
      const std::int32_t object = circle.object_of_allocation[i];
      slots.push_back(
          {circle.size_of_allocation[i],
           object < 0 ? -1 : outcome.iteration->pool.offsets[static_cast<std::size_t>(object)]});
    }
    return slots;
  }
  const auto& objects = outcome.problem.objects;
  std::vector<std::size_t> order(objects.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return objects[a].life.lower < objects[b].life.lower;
  });
  for (const std::size_t i : order)
    slots.push_back({objects[i].size, outcome.pool.offsets[i]});
  return slots;
}

using Offsets =
    std::unordered_map<std::string, std::pair<std::int64_t, std::int64_t>>;  // offset, size

Result<Offsets> offsets_in_json(const std::string& text, const std::string& source) {
  const nlohmann::json plan = nlohmann::json::parse(text, nullptr, false);
  const auto wrong = [&](const std::string& what) {
    return Error{ErrorCode::kCorrupt, source + ": " + what};
  };
  if (plan.is_discarded()) return wrong("not JSON");
  if (!plan.is_object() || !plan.contains("objects") || !plan["objects"].is_array())
    return wrong("has no array 'objects'");
  Offsets offsets;
  for (const nlohmann::json& object : plan["objects"]) {
    const auto integer = [&](const char* name) {
      return object.contains(name) && object[name].is_number_integer();
    };
    if (!object.is_object() || !object.contains("id") || !object["id"].is_string() ||
        !integer("offset") || !integer("size"))
      return wrong("objects[" + std::to_string(offsets.size()) +
                   "] lacks a string 'id' or an integer 'offset' or 'size'");
    const auto id = object["id"].get<std::string>();
    if (!offsets
             .emplace(id, std::pair(object["offset"].get<std::int64_t>(),
                                    object["size"].get<std::int64_t>()))
             .second)
      return wrong("object '" + id + "' occurs twice");
  }
  return offsets;
}

Result<Offsets> offsets_in_csv(const std::string& text, const std::string& source) {
  ASSIGN_OR_RETURN(const Problem plan, parse_problem_csv(text, source));
  Offsets offsets;
  for (const PlanObject& object : plan.objects) {
    if (object.fixed_offset == kNoOffset)
      return Error{ErrorCode::kCorrupt, source + ": object '" + object.id + "' has no offset"};
    offsets.emplace(object.id, std::pair(object.fixed_offset, object.size));
  }
  return offsets;
}

}  // namespace

std::string plan_as_text(const PlanOutcome& outcome) {
  const PoolPlan& pool = outcome.pool;
  const Problem& problem = outcome.problem;
  std::string text = problem.source + ": " + std::to_string(problem.objects.size()) +
                     " objects, time is " + shown_time(problem) + "\n";
  text += "pool        " + shown_bytes(pool.footprint) + (pool.optimal ? ", optimal" : "") + "\n";
  text += "load        " + shown_bytes(pool.load) + ", the pool is " +
          percent(pool.footprint - pool.load, pool.load) + " above\n";
  if (pool.lower_bound != pool.load) text += "lower bound " + shown_bytes(pool.lower_bound) + "\n";
  if (outcome.capacity >= 0)
    text += "capacity    " + shown_bytes(outcome.capacity) +
            (pool.within_capacity ? ", fits\n" : ", DOES NOT FIT\n");
  if (outcome.iteration) text += iteration_as_text(*outcome.iteration);
  text += "found by    " + pool.method + "\nagainst allocators without a plan (simulated)\n";
  text += baseline_line("CnMem     ", outcome.baselines.cnmem, pool.footprint);
  text += baseline_line("BFC       ", outcome.baselines.bfc, pool.footprint);
  text += baseline_line("PyTorch   ", outcome.baselines.pytorch, pool.footprint);
  if (outcome.swap) text += swap_as_text(*outcome.swap);
  return text;
}

std::string plan_as_json(const PlanOutcome& outcome) {
  const PoolPlan& pool = outcome.pool;
  std::string json = "{\"version\":1,\"source\":" + quoted(outcome.problem.source) +
                     ",\"time\":\"" + shown_time(outcome.problem) +
                     "\",\"method\":" + quoted(pool.method) + ',';
  json += field_json("footprint_bytes", pool.footprint) + ',' +
          field_json("load_bytes", pool.load) + ',' +
          field_json("lower_bound_bytes", pool.lower_bound) +
          ",\"optimal\":" + (pool.optimal ? "true" : "false") +
          ",\"fits\":" + (outcome.fits() ? "true" : "false") + ',';
  if (outcome.capacity >= 0) json += field_json("capacity_bytes", outcome.capacity) + ',';
  if (!outcome.problem.caveats.empty())
    json += "\"caveats\":" + nlohmann::json(outcome.problem.caveats).dump() + ',';
  json += "\"baselines\":{" + field_json("cnmem", outcome.baselines.cnmem) + ',' +
          field_json("bfc", outcome.baselines.bfc) + ',' +
          field_json("pytorch", outcome.baselines.pytorch) + "},\n\"objects\":[";
  for (std::size_t i = 0; i < outcome.problem.objects.size(); ++i) {
    json += i == 0 ? "\n" : ",\n";
    append_object(json, outcome.problem, i, pool.offsets[i]);
  }
  json += ']';
  if (outcome.iteration) json += iteration_as_json(*outcome.iteration);
  if (outcome.swap) json += swap_as_json(*outcome.swap, outcome.problem);
  return json + "}\n";
}

std::string plan_as_csv(const PlanOutcome& outcome) {
  std::string csv = "id,lower,upper,size,offset\n";
  for (std::size_t i = 0; i < outcome.problem.objects.size(); ++i) {
    const PlanObject& object = outcome.problem.objects[i];
    const TimeRange life = shown_life(outcome.problem, object);
    csv += field(object.id) + ',' + std::to_string(life.lower) + ',' + std::to_string(life.upper) +
           ',' + std::to_string(object.size) + ',' + std::to_string(outcome.pool.offsets[i]) + '\n';
  }
  return csv;
}

std::string plan_as_header(const PlanOutcome& outcome) {
  const std::vector<Slot> slots = slots_of(outcome);
  const PoolPlan& pool = outcome.iteration ? outcome.iteration->pool : outcome.pool;
  std::string text =
      "// Written by drgpum plan: where each allocation goes in one pool.\n#pragma once\n\n"
      "#include <cstddef>\n\nnamespace drgpum_plan {\n\nstruct Slot {\n"
      "  std::size_t size;    // bytes, as allocated\n"
      "  std::size_t offset;  // bytes, in the pool; kOutside: allocate it elsewhere\n};\n\n"
      "inline constexpr std::size_t kOutside = static_cast<std::size_t>(-1);\n";
  text += "inline constexpr std::size_t kPoolBytes = " + std::to_string(pool.footprint) + ";\n";
  text += "inline constexpr std::size_t kSlots = " + std::to_string(slots.size()) + ";\n\n";
  text += outcome.iteration ? "// The n-th allocation of an iteration is kSlot[n].\n"
                            : "// The n-th allocation is kSlot[n].\n";
  text += "inline constexpr Slot kSlot[kSlots + 1] = {\n";
  for (const Slot& slot : slots)
    text += "    {" + std::to_string(slot.size) + ", " +
            (slot.offset < 0 ? "kOutside" : std::to_string(slot.offset)) + "},\n";
  return text + "    {0, kOutside}};\n\n}  // namespace drgpum_plan\n";
}

Result<std::vector<std::int64_t>> read_plan(const Problem& problem, const std::string& text,
                                            const std::string& source) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && text[first] == '{';
  ASSIGN_OR_RETURN(const Offsets plan,
                   json ? offsets_in_json(text, source) : offsets_in_csv(text, source));
  std::vector<std::int64_t> offsets;
  for (const PlanObject& object : problem.objects) {
    const auto found = plan.find(object.id);
    if (found == plan.end())
      return Error{ErrorCode::kInvalidArgument, source + ": object '" + object.id + "' is missing"};
    if (found->second.second != object.size)
      return Error{ErrorCode::kInvalidArgument, source + ": object '" + object.id + "' has " +
                                                    std::to_string(found->second.second) +
                                                    " bytes, in " + problem.source + " it has " +
                                                    std::to_string(object.size)};
    offsets.push_back(found->second.first);
  }
  if (plan.size() != problem.objects.size())
    return Error{ErrorCode::kInvalidArgument, source + ": " + std::to_string(plan.size()) +
                                                  " objects where " + problem.source + " has " +
                                                  std::to_string(problem.objects.size())};
  return offsets;
}

}  // namespace drgpum
