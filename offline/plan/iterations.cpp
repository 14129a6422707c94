// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/iterations.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace drgpum {
namespace {

constexpr std::int64_t kLeastIterations = 3;
constexpr std::int64_t kLeastOperations = 4;

struct Operation {
  std::uint64_t what;  // equal for equal kinds and sizes
  std::int64_t event;
  std::int64_t live;  // bytes before it
};

std::vector<Operation> operations_of(const Problem& problem) {
  std::vector<Operation> operations;
  std::int64_t live = 0;
  for (std::size_t e = 0; e < problem.events.size(); ++e) {
    const PlanEvent& event = problem.events[e];
    if (event.kind != EventKind::kMalloc && event.kind != EventKind::kFree) continue;
    const std::int64_t size = problem.objects[event.object].size;
    const bool begins = event.kind == EventKind::kMalloc;
    operations.push_back(
        {2 * static_cast<std::uint64_t>(size) + begins, static_cast<std::int64_t>(e), live});
    live += begins ? size : -size;
  }
  return operations;
}

class PeriodFinder {
 public:
  explicit PeriodFinder(const std::vector<Operation>& operations) : operations_(operations) {}

  // The period in operations, or 0.
  std::int64_t period() const {
    std::vector<std::pair<double, std::int64_t>> rated;
    double best = 0;
    for (const std::int64_t distance : frequent_distances()) {
      rated.emplace_back(rate(distance), distance);
      best = std::max(best, rated.back().first);
    }
    std::int64_t shortest = 0;
    for (const auto& [rating, distance] : rated)
      if (rating >= 0.93 * best && rating > 0.3 && (shortest == 0 || distance < shortest))
        shortest = distance;
    return shortest;
  }

 private:
  static constexpr std::size_t kGram = 8;  // operations hashed together
  static constexpr std::size_t kCandidates = 48;

  std::vector<std::int64_t> frequent_distances() const {
    const auto n = operations_.size();
    std::vector<std::int64_t> seen(n / static_cast<std::size_t>(kLeastIterations) + 1, 0);
    std::unordered_map<std::uint64_t, std::size_t> last;
    last.reserve(n);
    constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15ULL;
    std::uint64_t leaving = 1;
    for (std::size_t i = 0; i < kGram; ++i)
      leaving *= kBase;
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < n; ++i) {
      hash = hash * kBase + mixed(operations_[i].what);
      if (i >= kGram) hash -= leaving * mixed(operations_[i - kGram].what);
      if (i + 1 < kGram) continue;
      const auto [at, fresh] = last.try_emplace(hash, i);
      const std::size_t distance = i - at->second;
      at->second = i;
      if (!fresh && distance < seen.size()) ++seen[distance];
    }
    return most_seen(seen);
  }

  static std::uint64_t mixed(std::uint64_t x) {
    x *= 0xbf58476d1ce4e5b9ULL;
    return x ^ (x >> 29);
  }

  static std::vector<std::int64_t> most_seen(const std::vector<std::int64_t>& seen) {
    std::vector<std::int64_t> distances;
    for (std::int64_t d = kLeastOperations; d < std::ssize(seen); ++d)
      if (seen[static_cast<std::size_t>(d)] > 0) distances.push_back(d);
    const auto kept = std::min(kCandidates, distances.size());
    std::partial_sort(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(kept),
                      distances.end(), [&](std::int64_t a, std::int64_t b) {
                        const auto x = seen[static_cast<std::size_t>(a)];
                        const auto y = seen[static_cast<std::size_t>(b)];
                        return x != y ? x > y : a < b;
                      });
    distances.resize(kept);
    return distances;
  }

  double rate(std::int64_t distance) const {
    const auto n = operations_.size();
    const auto d = static_cast<std::size_t>(distance);
    std::size_t equal = 0;
    for (std::size_t i = d; i < n; ++i)
      equal += operations_[i].what == operations_[i - d].what;
    return static_cast<double>(equal) / static_cast<double>(n - d);
  }

  const std::vector<Operation>& operations_;
};

// The longest stretch of operations in which, over any period, most equal the one a period before.
std::pair<std::int64_t, std::int64_t> periodic_stretch(const std::vector<Operation>& operations,
                                                       std::int64_t period) {
  const std::int64_t n = std::ssize(operations);
  std::pair<std::int64_t, std::int64_t> best{0, 0};
  std::int64_t begin = -1;
  std::int64_t equal = 0;  // among the last `period` operations
  const auto same = [&](std::int64_t i) {
    return i >= period && operations[static_cast<std::size_t>(i)].what ==
                              operations[static_cast<std::size_t>(i - period)].what;
  };
  for (std::int64_t i = period; i < n; ++i) {
    equal += same(i) - same(i - period);
    const bool steady = 2 * equal > period;
    if (steady && begin < 0) begin = i - std::min(i, 2 * period) + 1;
    if (begin >= 0 && (!steady || i + 1 == n)) {
      if (i + 1 - begin > best.second - best.first) best = {begin, i + 1};
      if (!steady) begin = -1;
    }
  }
  return best;
}

std::optional<Iterations> from_marks(const Problem& problem) {
  std::vector<std::int64_t> marks;
  for (std::size_t e = 0; e < problem.events.size(); ++e)
    if (problem.events[e].kind == EventKind::kIteration)
      marks.push_back(static_cast<std::int64_t>(e));
  if (std::ssize(marks) < kLeastIterations) return std::nullopt;
  const std::size_t middle = (marks.size() - 1) / 2;
  return Iterations{0, std::ssize(marks) - 1, marks[middle], marks[middle + 1]};
}

}  // namespace

std::optional<Iterations> find_iterations(const Problem& problem) {
  if (auto marked = from_marks(problem)) return marked;
  const std::vector<Operation> operations = operations_of(problem);
  if (std::ssize(operations) < kLeastIterations * kLeastOperations) return std::nullopt;
  const std::int64_t period = PeriodFinder(operations).period();
  if (period == 0) return std::nullopt;
  const auto [begin, end] = periodic_stretch(operations, period);
  const std::int64_t count = (end - begin) / period;
  if (count < kLeastIterations) return std::nullopt;
  std::int64_t start = begin + (count - 1) / 2 * period;
  start = std::min(start, end - 2 * period);
  std::int64_t cut = start;
  for (std::int64_t i = start; i < start + period; ++i)
    if (operations[static_cast<std::size_t>(i)].live <
        operations[static_cast<std::size_t>(cut)].live)
      cut = i;
  return Iterations{period, count, operations[static_cast<std::size_t>(cut)].event,
                    operations[static_cast<std::size_t>(cut + period)].event};
}

CircularProblem circular_problem(const Problem& problem, const Iterations& iterations) {
  CircularProblem circle;
  circle.problem.source = problem.source;
  const std::int64_t period = iterations.last - iterations.first;
  for (const PlanObject& object : problem.objects) {
    if (object.life.lower < iterations.first || object.life.lower >= iterations.last) continue;
    circle.size_of_allocation.push_back(object.size);
    const std::int64_t length = object.life.upper - object.life.lower;
    circle.object_of_allocation.push_back(
        length < period ? static_cast<std::int32_t>(circle.problem.objects.size()) : -1);
    if (length >= period) continue;
    PlanObject turned;
    turned.id = object.id;
    turned.size = object.size;
    const std::int64_t lower = object.life.lower - iterations.first;
    turned.life = {lower, lower + length};
    if (turned.life.upper > period) {
      turned.gaps = {{turned.life.upper - period, lower}};
      turned.life = {0, period};
    }
    circle.problem.objects.push_back(std::move(turned));
  }
  return circle;
}

}  // namespace drgpum
