// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/pattern_input.h"

#include <algorithm>

#include "offline/order/object_kinds.h"

namespace drgpum {

bool Essentials::is_essential(std::span<const Use> uses, std::uint32_t place) const {
  const Use& use = uses[place];
  if (use.by_kernel()) return true;
  if (first_kernel == kNone) return use.reads();
  if (place < first_kernel && (use.flags() & kUseFromHost) && !use.reads()) return false;
  if (place > last_kernel && (use.flags() & kUseToHost) && !use.writes()) return false;
  return true;
}

Essentials essentials_of(std::span<const Use> uses) {
  Essentials e;
  for (std::uint32_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].by_kernel()) continue;
    if (e.first_kernel == kNone) e.first_kernel = i;
    e.last_kernel = i;
  }
  for (std::uint32_t i = 0; i < uses.size(); ++i) {
    if (!e.is_essential(uses, i)) continue;
    if (e.first == kNone) e.first = i;
    e.last = i;
  }
  return e;
}

std::vector<Essentials> all_essentials(const Evidence& evidence) {
  std::vector<Essentials> all(evidence.objects.size());
  for (std::uint32_t o = 0; o < all.size(); ++o)
    all[o] = essentials_of(evidence.uses_of(o));
  return all;
}

bool is_judged(const PatternInput& in, std::uint32_t object) {
  const Object& o = in.evidence.objects[object];
  return o.size > 0 && holds_memory(o, in.level) && !is_compiler_variable(in.evidence, o);
}

bool has_own_life(const PatternInput& in, std::uint32_t object) {
  return is_judged(in, object) &&
         in.evidence.objects[object].kind != trace::ObjectKind::kModuleGlobal;
}

void Frontier::add(std::uint32_t call) {
  const std::uint32_t chain = order_.chain_of(call);
  for (std::uint32_t& known : calls_) {
    if (order_.chain_of(known) != chain) continue;
    known = call;
    return;
  }
  calls_.push_back(call);
}

std::vector<std::uint32_t> last_per_chain(const PatternInput& in, std::span<const Use> uses) {
  std::vector<std::uint32_t> calls;
  std::vector<std::uint32_t> chains;
  for (auto use = uses.rbegin(); use != uses.rend(); ++use) {
    const std::uint32_t chain = in.order.chain_of(use->api);
    if (std::find(chains.begin(), chains.end(), chain) != chains.end()) continue;
    chains.push_back(chain);
    calls.push_back(use->api);
  }
  std::sort(calls.begin(), calls.end());
  return calls;
}

std::vector<std::uint32_t> first_per_chain(const PatternInput& in, std::span<const Use> uses) {
  std::vector<std::uint32_t> calls;
  std::vector<std::uint32_t> chains;
  for (const Use& use : uses) {
    const std::uint32_t chain = in.order.chain_of(use.api);
    if (std::find(chains.begin(), chains.end(), chain) != chains.end()) continue;
    chains.push_back(chain);
    calls.push_back(use.api);
  }
  return calls;
}

void add_unseen(const PatternInput& in, std::uint32_t begin, std::uint32_t end,
                std::vector<std::uint32_t>& calls) {
  const std::vector<std::uint32_t> unseen = in.order.last_unseen_per_chain(begin, end);
  calls.insert(calls.end(), unseen.begin(), unseen.end());
}

bool all_before(const HappensBefore& order, std::span<const std::uint32_t> from,
                std::span<const std::uint32_t> to) {
  return std::all_of(from.begin(), from.end(), [&](std::uint32_t a) {
    return std::all_of(to.begin(), to.end(), [&](std::uint32_t b) { return order.before(a, b); });
  });
}

std::uint32_t missing_everywhere(const Evidence& evidence) {
  std::uint32_t missing = 0;
  for (const trace::CoverageRecord& gap : evidence.coverage) {
    if (gap.kind == trace::CoverageKind::kUnknownAddress) missing |= kMissingAddresses;
    if (gap.kind == trace::CoverageKind::kUnknownInstruction && !gap.api)
      missing |= kMissingLaunches;
    if (gap.kind == trace::CoverageKind::kLostRecords ||
        gap.kind == trace::CoverageKind::kToolDisabled ||
        gap.kind == trace::CoverageKind::kSizeLimit)
      missing |= kMissingRecords;
  }
  return missing;
}

std::uint32_t missing_for(const PatternInput& in, std::uint32_t object) {
  const Object& o = in.evidence.objects[object];
  std::uint32_t missing = in.missing_everywhere;
  if (o.kind == trace::ObjectKind::kManaged || o.kind == trace::ObjectKind::kImported)
    missing |= kMissingManaged;
  if (o.opaque) missing |= kMissingOpaque;
  return missing;
}

void settle(Finding& finding) {
  if (!finding.must_move.empty()) finding.missing |= kMissingMove;
  finding.certainty = finding.missing == 0 ? Certainty::kProven : Certainty::kPossible;
}

}  // namespace drgpum
