// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/swap_problem.h"

#include <algorithm>
#include <utility>

namespace drgpum {
namespace {

// An object of the window: its life and accesses in events counted from the window's start. A life
// that began before the window and outlasts it is permanent, and its accesses recur every period.
struct WindowObject {
  std::uint32_t object = 0;
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  bool permanent = false;
  std::vector<std::int64_t> accesses;
};

class SwapProblemBuilder {
 public:
  SwapProblemBuilder(const Problem& problem, std::int64_t first, std::int64_t last, bool repeats,
                     const SwapProblemOptions& options)
      : problem_(problem), first_(first), last_(last), repeats_(repeats), options_(options) {}

  SwapProblem build() {
    out_.period = static_cast<std::int32_t>(last_ - first_);
    out_.repetitions = repeats_ ? 3 : 1;
    out_.link = options_.link;
    out_.duration_ns = time_at(last_) - time_at(first_);
    collect_objects();
    lay_out_events();
    for (const WindowObject& object : objects_) {
      add_instances(object);
      add_candidates(object);
    }
    measure_load();
    mark_peak();
    return std::move(out_);
  }

 private:
  std::int64_t total() const { return std::int64_t{out_.period} * out_.repetitions; }

  std::int64_t time_at(std::int64_t event) const {
    const auto at = static_cast<std::size_t>(event);
    if (at < problem_.events.size()) return problem_.events[at].time_ns;
    return problem_.events.back().time_ns + problem_.events.back().busy_ns;
  }

  void collect_objects() {
    std::vector<std::int32_t> index(problem_.objects.size(), -1);
    for (std::uint32_t i = 0; i < problem_.objects.size(); ++i) {
      const TimeRange& life = problem_.objects[i].life;
      const bool permanent = repeats_ && life.lower < first_ && life.upper >= last_;
      if (!permanent && (life.lower < first_ || life.lower >= last_)) continue;
      index[i] = static_cast<std::int32_t>(objects_.size());
      objects_.push_back({i, life.lower - first_, life.upper - first_, permanent, {}});
    }
    for (std::size_t e = 0; e < problem_.events.size(); ++e) {
      const PlanEvent& event = problem_.events[e];
      if (event.kind != EventKind::kRead && event.kind != EventKind::kWrite) continue;
      if (index[event.object] < 0) continue;
      WindowObject& object = objects_[static_cast<std::size_t>(index[event.object])];
      const std::int64_t at = static_cast<std::int64_t>(e) - first_;
      if (!object.permanent || (at >= 0 && at < out_.period)) object.accesses.push_back(at);
    }
  }

  void lay_out_events() {
    out_.events.resize(static_cast<std::size_t>(total()));
    for (std::int64_t e = 0; e < total(); ++e) {
      SwapEvent& event = out_.events[static_cast<std::size_t>(e)];
      event.time_ns =
          e / out_.period * out_.duration_ns + time_at(first_ + e % out_.period) - time_at(first_);
      event.kind = EventKind::kLayer;  // until an instance claims it: nothing happens
    }
  }

  std::uint32_t new_instance(const WindowObject& object, bool live_at_start) {
    out_.instances.push_back({object.object, problem_.objects[object.object].size, live_at_start});
    return static_cast<std::uint32_t>(out_.instances.size() - 1);
  }

  void set_event(std::int64_t at, EventKind kind, std::uint32_t instance,
                 std::int64_t busy_ns = 0) {
    if (at < 0 || at >= total()) return;
    const std::int64_t size = out_.instances[instance].size;
    const std::int64_t bytes = kind == EventKind::kMalloc ? size
                               : kind == EventKind::kFree ? -size
                                                          : 0;
    SwapEvent& event = out_.events[static_cast<std::size_t>(at)];
    event = {event.time_ns, bytes, instance, kind, busy_ns};
  }

  const PlanEvent& source_of(std::int64_t at) const {
    return problem_.events[static_cast<std::size_t>(first_ + at)];
  }

  void set_access(std::int64_t at, std::int64_t shift, std::uint32_t instance) {
    set_event(at + shift, source_of(at).kind, instance, source_of(at).busy_ns);
  }

  void add_instances(const WindowObject& object) {
    first_instance_.clear();
    if (object.permanent) {
      const std::uint32_t instance = new_instance(object, true);
      first_instance_.emplace_back(0, instance);
      for (int i = 0; i < out_.repetitions; ++i)
        for (const std::int64_t at : object.accesses)
          set_access(at, i * std::int64_t{out_.period}, instance);
      return;
    }
    const std::int64_t reach = (object.upper - object.lower) / out_.period + 1;
    for (std::int64_t i = repeats_ ? -reach : 0; i < out_.repetitions; ++i) {
      const std::int64_t shift = i * out_.period;
      if (object.upper + shift < 0) continue;
      const std::uint32_t instance = new_instance(object, object.lower + shift < 0);
      first_instance_.emplace_back(i, instance);
      set_event(object.lower + shift, EventKind::kMalloc, instance);
      for (const std::int64_t at : object.accesses)
        set_access(at, shift, instance);
      set_event(object.upper + shift, EventKind::kFree, instance);
    }
  }

  void add_candidates(const WindowObject& object) {
    if (problem_.objects[object.object].size < options_.min_bytes) return;
    const auto& accesses = object.accesses;
    for (std::size_t i = 0; i + 1 < accesses.size(); ++i)
      add_candidate(object, accesses[i], accesses[i + 1]);
    if (object.permanent && !accesses.empty())
      add_candidate(object, accesses.back(), accesses.front() + out_.period);
  }

  void add_candidate(const WindowObject& object, std::int64_t from, std::int64_t to) {
    if (to - from < 2) return;
    const std::int64_t turn = from / out_.period;  // an object may live on into later iterations
    const auto number = static_cast<std::uint32_t>(out_.candidates.size());
    std::vector<Absence> absences;
    for (std::int64_t i = -2; i < out_.repetitions; ++i) {
      const std::uint32_t instance = instance_in(object, i - turn);
      const std::int64_t a = from + (i - turn) * out_.period;
      const std::int64_t b = to + (i - turn) * out_.period;
      if (instance == kNoObject || b < 0 || a >= total() || (!repeats_ && i != 0)) continue;
      absences.push_back({number, instance,
                          static_cast<std::int32_t>(std::max<std::int64_t>(a, -1)),
                          static_cast<std::int32_t>(std::min(b, total()))});
    }
    out_.candidates.push_back({object.object, problem_.objects[object.object].size,
                               static_cast<std::int32_t>(from - turn * out_.period),
                               static_cast<std::int32_t>(to - turn * out_.period),
                               source_of(from).kind, false});
    out_.absences.push_back(std::move(absences));
  }

  std::uint32_t instance_in(const WindowObject& object, std::int64_t iteration) const {
    if (object.permanent) return first_instance_.front().second;
    for (const auto& [i, instance] : first_instance_)
      if (i == iteration) return instance;
    return kNoObject;
  }

  void measure_load() {
    std::int64_t live = 0;
    for (const SwapInstance& instance : out_.instances)
      if (instance.live_at_start) live += instance.size;
    const std::int64_t shown = repeats_ ? out_.period : 0;  // the middle iteration
    for (std::int64_t e = 0; e < shown + out_.period; ++e) {
      live += out_.events[static_cast<std::size_t>(e)].bytes;
      if (e >= shown) out_.load.push_back(live);
    }
    const auto peak = std::max_element(out_.load.begin(), out_.load.end());
    out_.peak_event = static_cast<std::int32_t>(peak - out_.load.begin());
    out_.peak_bytes = *peak;
  }

  void mark_peak() {
    for (SwapCandidate& candidate : out_.candidates)
      for (const std::int32_t peak : {out_.peak_event, out_.peak_event + out_.period})
        candidate.spans_peak |= candidate.from < peak && peak < candidate.to;
  }

  const Problem& problem_;
  const std::int64_t first_;
  const std::int64_t last_;
  const bool repeats_;
  const SwapProblemOptions& options_;
  SwapProblem out_;
  std::vector<WindowObject> objects_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> first_instance_;  // (iteration, instance)
};

}  // namespace

std::int64_t SwapProblem::time_of(std::int32_t event) const {
  const auto total = static_cast<std::int32_t>(events.size());
  if (event >= total) return duration_ns * repetitions;
  return event < 0 ? 0 : events[static_cast<std::size_t>(event)].time_ns;
}

Result<SwapProblem> make_swap_problem(const Problem& problem, std::int64_t first, std::int64_t last,
                                      bool repeats, const SwapProblemOptions& options) {
  const auto wrong = [&](const char* what) {
    return Error{ErrorCode::kInvalidArgument,
                 problem.source + ": swapping cannot be planned: " + what};
  };
  if (problem.events.empty())
    return wrong("there are no events; a table of time_ns,op,id,size is needed");
  if (!problem.has_times)
    return wrong("there are no device times; record the program once more with --timing");
  if (last - first < 1) return wrong("the iteration is empty");
  const bool touched = std::any_of(
      problem.events.begin(), problem.events.end(),
      [](const PlanEvent& e) { return e.kind == EventKind::kRead || e.kind == EventKind::kWrite; });
  if (!touched) return wrong("there are no reads and writes");
  if (last - first > (INT32_MAX - 1) / 4) return wrong("the iteration has too many events");
  return SwapProblemBuilder(problem, first, last, repeats, options).build();
}

}  // namespace drgpum
