// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/layer_baselines.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "offline/plan/swap_problem.h"
#include "offline/plan/swap_schedule.h"

namespace drgpum {
namespace {

struct Layer {
  std::string name;
  std::int64_t first_event = 0;
  std::int64_t ns = 0;
  std::vector<std::uint32_t> outputs;  // objects
};

// An output between its last use in the forward pass and its first in the backward pass.
struct Idle {
  std::int64_t last_forward = -1;    // event
  std::int64_t first_backward = -1;  // event; -1: not used there
};

struct Layers {
  std::vector<Layer> forward;
  std::vector<Idle> idle;  // per object
};

bool is_access(const PlanEvent& event) {
  return event.kind == EventKind::kRead || event.kind == EventKind::kWrite;
}

std::int64_t peak_event(const Problem& problem) {
  std::int64_t live = 0;
  std::int64_t most = -1;
  std::int64_t at = 0;
  for (std::size_t e = 0; e < problem.events.size(); ++e) {
    const PlanEvent& event = problem.events[e];
    if (event.kind == EventKind::kMalloc) live += problem.objects[event.object].size;
    if (event.kind == EventKind::kFree) live -= problem.objects[event.object].size;
    if (live <= most) continue;
    most = live;
    at = static_cast<std::int64_t>(e);
  }
  return at;
}

Result<Layers> find_layers(const Problem& problem) {
  Layers found;
  const std::int64_t peak = peak_event(problem);
  std::int64_t turn = 0;  // the event with which the layer of the peak begins
  for (std::int64_t e = 0; e <= peak; ++e) {
    const PlanEvent& event = problem.events[static_cast<std::size_t>(e)];
    if (event.kind != EventKind::kLayer) continue;
    if (!found.forward.empty())
      found.forward.back().ns =
          event.time_ns - problem.events[static_cast<std::size_t>(turn)].time_ns;
    found.forward.push_back({problem.layer_names[event.object], e, 0, {}});
    turn = e;
  }
  if (found.forward.size() < 3)
    return Error{
        ErrorCode::kInvalidArgument,
        problem.source +
            ": layers are needed before the peak: `layer` events, or NVTX ranges in a trace"};
  found.forward.pop_back();  // the one with the peak
  found.idle.resize(problem.objects.size());
  for (std::int64_t e = 0; e < std::ssize(problem.events); ++e) {
    const PlanEvent& event = problem.events[static_cast<std::size_t>(e)];
    if (!is_access(event)) continue;
    Idle& idle = found.idle[event.object];
    if (e < turn)
      idle.last_forward = e;
    else if (idle.first_backward < 0)
      idle.first_backward = e;
  }
  for (std::uint32_t i = 0; i < problem.objects.size(); ++i) {
    if (found.idle[i].first_backward < 0 || found.idle[i].last_forward < 0) continue;
    for (std::size_t l = found.forward.size(); l-- > 0;) {
      if (problem.objects[i].life.lower < found.forward[l].first_event) continue;
      found.forward[l].outputs.push_back(i);
      break;
    }
  }
  return found;
}

// Outputs that are dropped together and computed again together.
struct Group {
  std::vector<std::uint32_t> dropped;
  std::int64_t ns = 0;  // to compute them again
};

// The iteration with each group freed after its last use forward, and allocated and computed again
// just before its first use backward.
class Recomputation {
 public:
  Recomputation(const Problem& problem, const std::vector<Idle>& idle,
                const std::vector<Group>& groups)
      : problem_(problem) {
    for (const Group& group : groups) {
      if (group.dropped.empty()) continue;
      std::int64_t again = INT64_MAX;
      for (const std::uint32_t object : group.dropped) {
        frees_[idle[object].last_forward].push_back(object);
        again = std::min(again, idle[object].first_backward);
      }
      again_[again].push_back(&group);
    }
  }

  // The new iteration; `added_ns` is how much longer it is.
  Problem build(std::int64_t& added_ns) {
    out_.source = problem_.source;
    out_.has_times = problem_.has_times;
    out_.layer_names = problem_.layer_names;
    out_.objects = problem_.objects;
    now_.resize(problem_.objects.size());
    for (std::uint32_t i = 0; i < now_.size(); ++i)
      now_[i] = i;
    for (std::int64_t e = 0; e < std::ssize(problem_.events); ++e)
      copy_event(e);
    for (PlanObject& object : out_.objects)
      object.life.upper = std::ssize(out_.events);
    for (std::int64_t e = 0; e < std::ssize(out_.events); ++e)
      set_life(e);
    added_ns = shift_;
    return std::move(out_);
  }

 private:
  void copy_event(std::int64_t e) {
    PlanEvent event = problem_.events[static_cast<std::size_t>(e)];
    if (const auto again = again_.find(e); again != again_.end())
      for (const Group* group : again->second)
        compute_again(*group, event.time_ns);
    event.time_ns += shift_;
    if (event.object != kNoObject && event.kind != EventKind::kLayer &&
        event.kind != EventKind::kIteration)
      event.object = now_[event.object];
    out_.events.push_back(event);
    if (const auto frees = frees_.find(e); frees != frees_.end())
      for (const std::uint32_t object : frees->second)
        out_.events.push_back({event.time_ns, object, EventKind::kFree});
  }

  void compute_again(const Group& group, std::int64_t time_ns) {
    for (const std::uint32_t object : group.dropped) {
      now_[object] = static_cast<std::uint32_t>(out_.objects.size());
      PlanObject copy = problem_.objects[object];
      copy.id += "'";
      out_.objects.push_back(std::move(copy));
      out_.events.push_back({time_ns + shift_, now_[object], EventKind::kMalloc});
      out_.events.push_back({time_ns + shift_, now_[object], EventKind::kWrite});
    }
    shift_ += group.ns;
  }

  void set_life(std::int64_t e) {
    const PlanEvent& event = out_.events[static_cast<std::size_t>(e)];
    if (event.kind == EventKind::kMalloc) out_.objects[event.object].life.lower = e;
    if (event.kind == EventKind::kFree) out_.objects[event.object].life.upper = e;
  }

  const Problem& problem_;
  std::map<std::int64_t, std::vector<std::uint32_t>> frees_;
  std::map<std::int64_t, std::vector<const Group*>> again_;
  std::vector<std::uint32_t> now_;  // per object: the one that stands for it at present
  std::int64_t shift_ = 0;
  Problem out_;
};

// The least overhead of swapping the candidates of more and more layers, the first ones first.
Result<LayerPlan> swap_layers(const Problem& problem, const Link& link, std::int64_t limit,
                              const std::vector<std::vector<std::uint32_t>>& outputs) {
  ASSIGN_OR_RETURN(const SwapProblem swap,
                   make_swap_problem(problem, 0, std::ssize(problem.events), false,
                                     {.min_bytes = 1 << 20, .link = link}));
  std::vector<std::uint32_t> layer_of(problem.objects.size(), UINT32_MAX);
  for (std::uint32_t l = 0; l < outputs.size(); ++l)
    for (const std::uint32_t object : outputs[l])
      layer_of[object] = l;
  SwapPlayer player(swap);
  LayerPlan best{0, 0, false};
  for (std::uint32_t layers = 0; layers <= outputs.size(); ++layers) {
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t i = 0; i < swap.candidates.size(); ++i)
      if (swap.candidates[i].spans_peak && layer_of[swap.candidates[i].object] < layers)
        chosen.push_back(i);
    const SwapSchedule schedule = player.play(chosen, limit);
    if (schedule.cost.excess_bytes > 0 ||
        (best.feasible && schedule.cost.overhead_ns >= best.overhead_ns))
      continue;
    best = {schedule.peak_bytes, schedule.cost.overhead_ns, true};
  }
  return best;
}

std::vector<std::vector<std::uint32_t>> outputs_of(const Layers& layers) {
  std::vector<std::vector<std::uint32_t>> outputs;
  for (const Layer& layer : layers.forward)
    outputs.push_back(layer.outputs);
  return outputs;
}

}  // namespace

Problem window_of(const Problem& problem, std::int64_t first, std::int64_t last) {
  Problem window;
  window.source = problem.source;
  window.has_times = problem.has_times;
  window.layer_names = problem.layer_names;
  const std::int64_t start_ns = problem.events[static_cast<std::size_t>(first)].time_ns;
  std::vector<std::uint32_t> index(problem.objects.size(), kNoObject);
  const auto add = [&](std::uint32_t object) {
    index[object] = static_cast<std::uint32_t>(window.objects.size());
    window.objects.push_back(problem.objects[object]);
    window.objects.back().life = {std::ssize(window.events), 0};
  };
  for (std::uint32_t i = 0; i < problem.objects.size(); ++i) {
    if (problem.objects[i].life.lower >= first || problem.objects[i].life.upper < first) continue;
    add(i);
    window.events.push_back({0, index[i], EventKind::kMalloc});
  }
  for (std::int64_t e = first; e < last; ++e) {
    PlanEvent event = problem.events[static_cast<std::size_t>(e)];
    event.time_ns -= start_ns;
    if (event.kind == EventKind::kMalloc) add(event.object);
    if (event.kind != EventKind::kLayer && event.object != kNoObject)
      event.object = index[event.object];
    if (event.kind == EventKind::kFree)
      window.objects[event.object].life.upper = std::ssize(window.events);
    window.events.push_back(event);
  }
  for (PlanObject& object : window.objects)
    if (object.life.upper == 0) object.life.upper = std::ssize(window.events);
  return window;
}

Result<std::vector<LayerPlan>> plan_sublinear(const Problem& iteration) {
  ASSIGN_OR_RETURN(const Layers layers, find_layers(iteration));
  const std::size_t n = layers.forward.size();
  std::vector<LayerPlan> plans;
  for (std::size_t count = 1; count <= n; ++count) {
    std::vector<Group> groups(count);
    for (std::size_t l = 0; l < n; ++l) {
      const std::size_t group = l * count / n;
      const bool last = l + 1 == n || (l + 1) * count / n != group;
      if (last) continue;
      groups[group].ns += layers.forward[l].ns;
      groups[group].dropped.insert(groups[group].dropped.end(), layers.forward[l].outputs.begin(),
                                   layers.forward[l].outputs.end());
    }
    std::int64_t added_ns = 0;
    const Problem again = Recomputation(iteration, layers.idle, groups).build(added_ns);
    plans.push_back({load_of(again), added_ns, true});
  }
  return plans;
}

Result<LayerPlan> plan_layer_swapping(const Problem& iteration, const Link& link,
                                      std::int64_t limit) {
  ASSIGN_OR_RETURN(const Layers layers, find_layers(iteration));
  return swap_layers(iteration, link, limit, outputs_of(layers));
}

Result<LayerPlan> plan_swap_and_recompute(const Problem& iteration, const Link& link,
                                          std::int64_t limit) {
  ASSIGN_OR_RETURN(const Layers layers, find_layers(iteration));
  std::vector<Group> groups(1);
  std::vector<std::vector<std::uint32_t>> swapped;
  for (const Layer& layer : layers.forward) {
    if (layer.name.starts_with("conv")) {
      swapped.push_back(layer.outputs);
      groups.emplace_back();
      continue;
    }
    groups.back().ns += layer.ns;
    groups.back().dropped.insert(groups.back().dropped.end(), layer.outputs.begin(),
                                 layer.outputs.end());
  }
  std::int64_t added_ns = 0;
  const Problem again = Recomputation(iteration, layers.idle, groups).build(added_ns);
  ASSIGN_OR_RETURN(LayerPlan plan, swap_layers(again, link, limit, swapped));
  plan.overhead_ns += added_ns;
  return plan;
}

}  // namespace drgpum
