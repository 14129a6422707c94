// SPDX-License-Identifier: Apache-2.0
#include "offline/order/happens_before.h"

#include <algorithm>
#include <unordered_map>

namespace drgpum {
namespace {

constexpr std::uint32_t kDrafted = kNone;
constexpr std::size_t kMostIndexed = 64;  // chains

}  // namespace

HappensBefore::HappensBefore(const Evidence& evidence)
    : chain_(evidence.api_count(), kNone), clock_(evidence.api_count(), 0) {
  clock_begin_ = {0, 0};  // clock 0 knows of nothing
  blocks_.emplace_back();
  OrderSweep sweep(evidence);
  OrderSweep::Step step;
  while (sweep.next(step)) {
    if (step.chain == kNone) continue;
    chain_[step.api] = step.chain;
    clock_[step.api] = clock_for(step);
    if (step.chain >= calls_.size()) {
      calls_.resize(step.chain + 1);
      is_host_.resize(step.chain + 1, step.is_host);
      launches_.resize(step.chain + 1);
    }
    calls_[step.chain].push_back(step.api);
    if (evidence.apis[step.api].kind == trace::ApiKind::kLaunch)
      launches_[step.chain].push_back(step.api);
  }
  gather_unseen(evidence);
  index_chains();
}

void HappensBefore::gather_unseen(const Evidence& evidence) {
  std::unordered_map<std::uint32_t, std::size_t> place;
  for (const std::uint32_t launch : evidence.unseen_launches) {
    if (launch >= chain_.size() || chain_[launch] == kNone) continue;
    const auto [at, fresh] = place.try_emplace(chain_[launch], unseen_.size());
    if (fresh) unseen_.emplace_back();
    unseen_[at->second].push_back(launch);
  }
}

std::vector<std::uint32_t> HappensBefore::first_unseen_per_chain(std::uint32_t begin,
                                                                 std::uint32_t end) const {
  std::vector<std::uint32_t> calls;
  for (const std::vector<std::uint32_t>& chain : unseen_) {
    const auto at = std::lower_bound(chain.begin(), chain.end(), begin);
    if (at != chain.end() && *at < end) calls.push_back(*at);
  }
  return calls;
}

std::vector<std::uint32_t> HappensBefore::last_unseen_per_chain(std::uint32_t begin,
                                                                std::uint32_t end) const {
  std::vector<std::uint32_t> calls;
  for (const std::vector<std::uint32_t>& chain : unseen_) {
    const auto at = std::lower_bound(chain.begin(), chain.end(), end);
    if (at != chain.begin() && *(at - 1) >= begin) calls.push_back(*(at - 1));
  }
  return calls;
}

std::uint32_t HappensBefore::clock_for(const OrderSweep::Step& step) {
  const std::uint32_t base = step.chain_tail == kNone ? 0 : clock_[step.chain_tail];
  bool drafting = false;
  for (const Edge& edge : step.edges) {
    if (chain_[edge.from] == step.chain || chain_[edge.from] == kNone) continue;
    if (entry(base, chain_[edge.from]) > edge.from) continue;  // then so is all before it
    if (!drafting) begin_draft(base);
    drafting = true;
    join(edge.from);
  }
  return drafting ? store_draft() : base;
}

void HappensBefore::begin_draft(std::uint32_t base) {
  const auto first = clock_blocks_.begin() + static_cast<std::ptrdiff_t>(clock_begin_[base]);
  const auto last = clock_blocks_.begin() + static_cast<std::ptrdiff_t>(clock_begin_[base + 1]);
  draft_ids_.assign(first, last);
}

HappensBefore::Block& HappensBefore::drafted(std::uint32_t block) {
  if (block >= draft_ids_.size()) draft_ids_.resize(block + 1, 0);
  if (block >= draft_.size()) draft_.resize(block + 1);
  if (draft_ids_[block] != kDrafted) {
    draft_[block] = blocks_[draft_ids_[block]];
    draft_ids_[block] = kDrafted;
    changed_.push_back(block);
  }
  return draft_[block];
}

void HappensBefore::join(std::uint32_t from) {
  const std::uint32_t clock = clock_[from];
  const std::uint64_t begin = clock_begin_[clock];
  const auto count = static_cast<std::uint32_t>(clock_begin_[clock + 1] - begin);
  for (std::uint32_t b = 0; b < count; ++b) {
    const std::uint32_t id = clock_blocks_[begin + b];
    if (id == 0 || (b < draft_ids_.size() && draft_ids_[b] == id)) continue;
    Block& into = drafted(b);
    for (std::uint32_t i = 0; i < kBlock; ++i)
      into.last[i] = std::max(into.last[i], blocks_[id].last[i]);
  }
  const std::uint32_t chain = chain_[from];
  std::uint32_t& last = drafted(chain / kBlock).last[chain % kBlock];
  last = std::max(last, from + 1);
}

std::uint32_t HappensBefore::store_draft() {
  for (const std::uint32_t block : changed_) {
    draft_ids_[block] = static_cast<std::uint32_t>(blocks_.size());
    blocks_.push_back(draft_[block]);
  }
  changed_.clear();
  clock_blocks_.insert(clock_blocks_.end(), draft_ids_.begin(), draft_ids_.end());
  clock_begin_.push_back(clock_blocks_.size());
  return static_cast<std::uint32_t>(clock_begin_.size() - 2);
}

bool HappensBefore::may_run_beside(std::span<const std::uint32_t> from, std::uint32_t call) const {
  return std::any_of(from.begin(), from.end(), [&](std::uint32_t f) { return !before(f, call); });
}

void HappensBefore::index_chains() {
  if (calls_.size() > kMostIndexed) return;
  const auto index = [&](const std::vector<Calls>& chains) {
    std::vector<std::vector<std::uint32_t>> before;
    for (const Calls& chain : chains) {
      std::vector<std::uint32_t>& of = before.emplace_back(chain_.size() / kIndexed + 2, 0);
      for (const std::uint32_t call : chain)
        ++of[call / kIndexed + 1];
      for (std::size_t block = 1; block < of.size(); ++block)
        of[block] += of[block - 1];
    }
    return before;
  };
  calls_before_ = index(calls_);
  launches_before_ = index(launches_);
}

HappensBefore::Place HappensBefore::from_call(const std::vector<Calls>& chains, std::size_t chain,
                                              std::uint32_t call) const {
  const Calls& calls = chains[chain];
  if (calls_before_.empty()) return std::lower_bound(calls.begin(), calls.end(), call);
  const auto& before = &chains == &launches_ ? launches_before_[chain] : calls_before_[chain];
  const std::size_t block = std::min<std::size_t>(call / kIndexed, before.size() - 2);
  return std::lower_bound(calls.begin() + before[block], calls.begin() + before[block + 1], call);
}

// Along a chain, once all of `from` are over they stay over. Mostly that is soon.
HappensBefore::Place HappensBefore::over_in(Place first, Place last,
                                            std::span<const std::uint32_t> from) const {
  std::ptrdiff_t step = 1;
  while (first != last && may_run_beside(from, *first)) {
    ++first;
    const Place next = first + std::min(step, last - first);
    if (next == last || !may_run_beside(from, *next))
      return std::partition_point(
          first, next, [&](std::uint32_t call) { return may_run_beside(from, call); });
    first = next;
    step *= 2;
  }
  return first;
}

std::uint32_t HappensBefore::first_over(const std::vector<Calls>& chains,
                                        std::span<const std::uint32_t> from, std::uint32_t begin,
                                        std::uint32_t limit) const {
  std::uint32_t best = limit;
  for (std::size_t c = 0; c < chains.size(); ++c) {
    const Place first = from_call(chains, c, begin);
    if (first == chains[c].end() || *first >= best) continue;
    const Place at = over_in(first, from_call(chains, c, best), from);
    if (at != chains[c].end() && *at < best) best = *at;
  }
  return best < limit ? best : kNone;
}

std::uint32_t HappensBefore::first_after(std::span<const std::uint32_t> from, std::uint32_t limit,
                                         bool launches_only) const {
  if (from.empty()) return kNone;
  const std::uint32_t begin = *std::max_element(from.begin(), from.end()) + 1;
  return first_over(launches_only ? launches_ : calls_, from, begin, limit);
}

std::uint32_t HappensBefore::released_after(std::span<const std::uint32_t> from,
                                            std::uint32_t limit) const {
  if (from.empty()) return kNone;
  const std::uint32_t start = *std::max_element(from.begin(), from.end()) + 1;
  std::uint32_t begin = start;
  for (std::uint32_t c = 0; c < calls_.size(); ++c) {
    if (is_host_[c]) continue;
    const Place first = from_call(calls_, c, start);
    if (first == calls_[c].end() || *first >= limit) continue;
    const Place over = over_in(first, from_call(calls_, c, limit), from);
    if (over != first) begin = std::max(begin, *(over - 1) + 1);
  }
  return begin < limit ? begin : kNone;
}

std::uint32_t HappensBefore::last_launch_before(std::uint32_t to, std::uint32_t from) const {
  std::uint32_t best = kNone;
  for (std::uint32_t c = 0; c < launches_.size(); ++c) {
    const std::uint32_t end = c == chain_[to] ? to : entry(clock_[to], c);
    const auto at = std::lower_bound(launches_[c].begin(), launches_[c].end(), end);
    if (at == launches_[c].begin()) continue;
    const std::uint32_t launch = *(at - 1);
    if (launch >= from && (best == kNone || launch > best)) best = launch;
  }
  return best;
}

std::size_t HappensBefore::memory_bytes() const {
  std::size_t bytes = (chain_.capacity() + clock_.capacity() + clock_blocks_.capacity()) * 4 +
                      clock_begin_.capacity() * 8 + blocks_.capacity() * sizeof(Block);
  for (const auto& list : calls_)
    bytes += list.capacity() * 4;
  for (const auto& list : launches_)
    bytes += list.capacity() * 4;
  return bytes;
}

}  // namespace drgpum
