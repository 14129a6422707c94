// SPDX-License-Identifier: Apache-2.0
// First the segments, for blocks need their parents; then the blocks.
#include "offline/import/replay_history.h"

#include <algorithm>
#include <map>
#include <span>

namespace drgpum {
namespace {

// Pieces of mapped ranges, for all of a device's events together. Beyond it pieces are not cut any
// finer, and pages count as mapped until all of their piece is gone.
constexpr std::size_t kMaxPieces = 4'000'000;

// For placing unmatched blocks; beyond it they count from the start.
constexpr std::uint64_t kMaxSteps = 100'000'000;

// Live ranges by address; they do not overlap.
class LiveRanges {
 public:
  using Map = std::map<std::uint64_t, std::uint32_t>;
  explicit LiveRanges(std::vector<Life>& lives) : lives_(lives) {}

  using Place = Map::iterator;
  void add(std::uint32_t life) { at_.insert_or_assign(lives_[life].address, life); }
  // Before `next`, which is the first behind it.
  void add_before(Place next, std::uint32_t life) {
    at_.emplace_hint(next, lives_[life].address, life);
  }
  void remove(std::uint64_t address) { at_.erase(address); }
  void remove(Place place) { at_.erase(place); }
  Place find(std::uint64_t address) { return at_.find(address); }
  Place end() { return at_.end(); }
  std::uint32_t beginning_at(std::uint64_t address) const {
    const auto found = at_.find(address);
    return found == at_.end() ? kNoLife : found->second;
  }
  std::uint32_t holding(std::uint64_t address) const {
    auto next = at_.upper_bound(address);
    if (next == at_.begin()) return kNoLife;
    const std::uint32_t life = std::prev(next)->second;
    return address - lives_[life].address < lives_[life].size ? life : kNoLife;
  }
  // Takes out what lives in [address, address + size), in order of address, and gives the place of
  // the first behind it.
  template <typename Take>
  Place take_within(std::uint64_t address, std::uint64_t size, Take take) {
    auto at = at_.lower_bound(address);
    if (at != at_.begin()) {
      const Life& before = lives_[std::prev(at)->second];
      if (address - before.address < before.size) --at;
    }
    while (at != at_.end() && at->first < address + size) {
      const std::uint32_t life = at->second;
      at = at_.erase(at);
      take(life);
    }
    return at;
  }
  bool overlaps(std::uint64_t address, std::uint64_t size) const {
    const auto next = at_.lower_bound(address);
    return holding(address) != kNoLife || (next != at_.end() && next->first - address < size);
  }
  void clear() { at_.clear(); }
  const Map& all() const { return at_; }

 private:
  std::vector<Life>& lives_;
  Map at_;
};

bool is_segment_event(AllocatorAction action) {
  return action >= AllocatorAction::kSegmentAlloc && action <= AllocatorAction::kSegmentUnmap;
}

class Replay {
 public:
  Replay(const AllocatorHistory& history, const HistoryPart& part)
      : history_(history),
        part_(part),
        events_(history.events.view().subspan(part.first, part.count)),
        segments_(out_.lives),
        blocks_(out_.lives) {
    out_.subject.resize(events_.size(), kNoLife);
  }

  DeviceLives run() {
    find_cuts();
    for (std::uint32_t e = 0; e < events_.size(); ++e)
      if (is_segment_event(events_[e].action)) segment_event(e);
    close_segments();
    rewind_segments();
    for (std::uint32_t e = 0; e < events_.size(); ++e)
      block_event(e);
    close_blocks();
    place_unmatched();
    const auto earlier = [](const LifeChange& a, const LifeChange& b) { return a.event < b.event; };
    std::stable_sort(out_.begins.begin(), out_.begins.end(), earlier);
    std::stable_sort(out_.ends.begin(), out_.ends.end(), earlier);
    return std::move(out_);
  }

 private:
  std::uint32_t begin_life(std::uint32_t event, std::uint64_t address, std::uint64_t size,
                           LifeKind kind) {
    Life life;
    life.address = address;
    life.size = size;
    life.begin = event;
    life.kind = kind;
    life.recorded = event != kNoEvent;
    if (event != kNoEvent) life.stream = events_[event].stream;
    out_.lives.push_back(life);
    return static_cast<std::uint32_t>(out_.lives.size() - 1);
  }
  void end_life(std::uint32_t life, std::uint32_t event, bool freed) {
    out_.lives[life].end = event;
    out_.lives[life].freed = freed;
  }

  // --- segments ---

  void find_cuts() {
    for (const AllocatorEvent& event : events_) {
      if (event.action != AllocatorAction::kSegmentUnmap) continue;
      cuts_.push_back(event.address);
      cuts_.push_back(event.address + event.size);
    }
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  }

  // The mapped range, cut where later unmappings begin and end.
  void map_pieces(std::uint32_t event, std::uint64_t address, std::uint64_t size) {
    const std::uint64_t end = address + size;
    auto cut = std::upper_bound(cuts_.begin(), cuts_.end(), address);
    bool first = true;
    while (address < end) {
      const bool cuts = cut != cuts_.end() && *cut < end && pieces_ < kMaxPieces;
      const std::uint64_t until = cuts ? *cut++ : end;
      ++pieces_;
      const std::uint32_t life = begin_life(event, address, until - address, LifeKind::kMapped);
      segments_.add(life);
      if (event != kNoEvent) {
        if (first)
          out_.subject[event] = life;
        else
          out_.begins.push_back({event, life});
      }
      first = false;
      address = until;
    }
  }

  void segment_event(std::uint32_t e) {
    const AllocatorEvent& event = events_[e];
    switch (event.action) {
      case AllocatorAction::kSegmentAlloc:
        replace_segments(e);
        out_.subject[e] = begin_life(e, event.address, event.size, LifeKind::kSegment);
        segments_.add(out_.subject[e]);
        return;
      case AllocatorAction::kSegmentMap:
        replace_segments(e);
        map_pieces(e, event.address, event.size);
        return;
      case AllocatorAction::kSegmentFree:
        free_segment(e);
        return;
      default:
        unmap(e);
        return;
    }
  }

  void replace_segments(std::uint32_t e) {
    segments_.take_within(events_[e].address, events_[e].size, [&](std::uint32_t life) {
      end_life(life, e, false);
      out_.ends.push_back({e, life});
    });
  }

  void free_segment(std::uint32_t e) {
    const std::uint32_t known = segments_.beginning_at(events_[e].address);
    if (known == kNoLife) {  // it was there before the history
      out_.subject[e] =
          begin_life(kNoEvent, events_[e].address, events_[e].size, LifeKind::kSegment);
      out_.lives.back().stream = events_[e].stream;
      end_life(out_.subject[e], e, true);
      ++out_.unmatched_segments;
      return;
    }
    segments_.remove(events_[e].address);
    end_life(known, e, true);
    out_.subject[e] = known;
  }

  void unmap(std::uint32_t e) {
    const std::uint64_t address = events_[e].address;
    const std::uint64_t end = address + events_[e].size;
    std::uint64_t next = address;
    std::vector<std::uint32_t> beyond;
    const auto unmatched = [&](std::uint64_t until) {
      if (next >= until) return;
      const std::uint32_t life = begin_life(kNoEvent, next, until - next, LifeKind::kMapped);
      end_life(life, e, true);
      ++out_.unmatched_segments;
      note_end(e, life);
    };
    segments_.take_within(address, end - address, [&](std::uint32_t life) {
      const Life piece = out_.lives[life];
      if (piece.address < address || piece.address + piece.size > end) {
        beyond.push_back(life);  // not cut so finely: stays
      } else {
        unmatched(piece.address);
        end_life(life, e, true);
        note_end(e, life);
      }
      next = std::max(next, piece.address + piece.size);
    });
    unmatched(end);
    for (const std::uint32_t life : beyond)
      segments_.add(life);
  }
  void note_end(std::uint32_t e, std::uint32_t life) {
    if (out_.subject[e] == kNoLife)
      out_.subject[e] = life;
    else
      out_.ends.push_back({e, life});
  }

  // What the end state has beyond the events was there from the start.
  void close_segments() {
    for (const HistorySegment& segment : history_.segments) {
      if (segment.device != part_.device || segment.host != part_.host || segment.size == 0)
        continue;
      std::uint64_t next = segment.address;
      const std::uint64_t end = segment.address + segment.size;
      std::vector<std::pair<std::uint64_t, std::uint64_t>> missing;
      for (auto at = first_within(segment.address); at != segments_.all().end() && at->first < end;
           ++at) {
        if (at->first > next) missing.emplace_back(next, at->first);
        next = std::max(next, at->first + out_.lives[at->second].size);
      }
      if (next < end) missing.emplace_back(next, end);
      for (const auto& [from, to] : missing) {
        const std::uint32_t life =
            begin_life(kNoEvent, from, to - from,
                       segment.expandable ? LifeKind::kMapped : LifeKind::kSegment);
        out_.lives[life].stack = segment.stack;
        out_.lives[life].stream = segment.stream;
        segments_.add(life);
        ++out_.unmatched_segments;
      }
    }
  }
  LiveRanges::Map::const_iterator first_within(std::uint64_t address) const {
    auto at = segments_.all().lower_bound(address);
    if (at != segments_.all().begin()) {
      const Life& before = out_.lives[std::prev(at)->second];
      if (address - before.address < before.size) --at;
    }
    return at;
  }

  // The segments as they were before the first event; block_event() takes them forward again.
  void rewind_segments() {
    segments_.clear();
    for (std::uint32_t life = 0; life < out_.lives.size(); ++life)
      if (out_.lives[life].begin == kNoEvent) segments_.add(life);
    next_begin_ = next_end_ = 0;
    const auto earlier = [](const LifeChange& a, const LifeChange& b) { return a.event < b.event; };
    std::stable_sort(out_.begins.begin(), out_.begins.end(), earlier);
    std::stable_sort(out_.ends.begin(), out_.ends.end(), earlier);
    segment_begins_ = out_.begins;
    segment_ends_ = out_.ends;
  }

  void forward_segments(std::uint32_t e) {
    const auto ends = [&](std::uint32_t life) {
      const Life& segment = out_.lives[life];
      if (segments_.beginning_at(segment.address) == life) segments_.remove(segment.address);
      blocks_.take_within(segment.address, segment.size,
                          [&](std::uint32_t block) { replace(block, e); });
      if (last_segment_ == life) last_segment_ = kNoLife;
    };
    for (; next_end_ < segment_ends_.size() && segment_ends_[next_end_].event <= e; ++next_end_)
      if (segment_ends_[next_end_].event == e) ends(segment_ends_[next_end_].life);
    const std::uint32_t subject = out_.subject[e];
    const bool begins = events_[e].action == AllocatorAction::kSegmentAlloc ||
                        events_[e].action == AllocatorAction::kSegmentMap;
    if (subject != kNoLife) {
      if (begins)
        segments_.add(subject);
      else
        ends(subject);
    }
    for (; next_begin_ < segment_begins_.size() && segment_begins_[next_begin_].event <= e;
         ++next_begin_)
      if (segment_begins_[next_begin_].event == e) segments_.add(segment_begins_[next_begin_].life);
  }

  // --- blocks ---

  std::uint32_t segment_holding(std::uint64_t address) {
    if (last_segment_ != kNoLife) {
      const Life& segment = out_.lives[last_segment_];
      if (address - segment.address < segment.size) return last_segment_;
    }
    return last_segment_ = segments_.holding(address);
  }

  void replace(std::uint32_t block, std::uint32_t e) {
    end_life(block, e, false);
    out_.ends.push_back({e, block});
    ++out_.unrecorded_ends;
  }

  void block_event(std::uint32_t e) {
    const AllocatorEvent& event = events_[e];
    switch (event.action) {
      case AllocatorAction::kAlloc: {
        asked_ = blocks_.end();
        if (event.size == 0) return;
        const auto next = blocks_.take_within(
            event.address, event.size, [&](std::uint32_t block) { replace(block, e); });
        const std::uint32_t life = begin_life(e, event.address, event.size, LifeKind::kBlock);
        out_.lives[life].parent = segment_holding(event.address);
        out_.outside += out_.lives[life].parent == kNoLife;
        out_.subject[e] = life;
        blocks_.add_before(next, life);
        return;
      }
      case AllocatorAction::kFreeRequested:
      case AllocatorAction::kFreeCompleted: {
        // A completion mostly follows its request.
        const bool again = asked_ != blocks_.end() && asked_->first == event.address;
        auto place = again ? asked_ : blocks_.find(event.address);
        if (place == blocks_.end()) {
          if (unmatched_free(e) == kNoLife) return;
          place = blocks_.find(event.address);
        }
        const std::uint32_t life = place->second;
        out_.subject[e] = life;
        asked_ = blocks_.end();
        if (event.action == AllocatorAction::kFreeRequested) {
          if (out_.lives[life].request == kNoEvent) out_.lives[life].request = e;
          asked_ = place;
          return;
        }
        end_life(life, e, true);
        blocks_.remove(place);
        return;
      }
      default:
        asked_ = blocks_.end();
        if (is_segment_event(event.action)) forward_segments(e);
        return;
    }
  }

  std::uint32_t unmatched_free(std::uint32_t e) {
    const AllocatorEvent& event = events_[e];
    if (event.size == 0) return kNoLife;
    ++out_.unmatched_frees;
    if (blocks_.overlaps(event.address, event.size)) return kNoLife;
    const std::uint32_t life = begin_life(kNoEvent, event.address, event.size, LifeKind::kBlock);
    out_.lives[life].stream = event.stream;
    out_.lives[life].parent = segment_holding(event.address);
    unmatched_.push_back({e, life});
    blocks_.add(life);
    return life;
  }

  void close_blocks() {
    bool any = false;
    confirmed_.resize(out_.lives.size(), false);
    for (const HistorySegment& segment : history_.segments) {
      if (segment.device != part_.device || segment.host != part_.host) continue;
      any = true;
      for (std::uint32_t i = 0; i < segment.block_count; ++i)
        close_block(segment, history_.blocks[segment.first_block + i]);
    }
    if (!any) return;
    // A block of the end state may have taken the place of one that it confirmed before.
    for (const auto& [address, life] : blocks_.all())
      out_.unseen_ends += !confirmed_[life];
  }
  void close_block(const HistorySegment& segment, const HistoryBlock& block) {
    if (block.state == BlockState::kInactive || block.size == 0) return;
    const std::uint32_t known = blocks_.beginning_at(block.address);
    if (known != kNoLife) {
      confirmed_[known] = true;
      return;
    }
    blocks_.take_within(block.address, block.size, [&](std::uint32_t other) {
      replace(other, static_cast<std::uint32_t>(events_.size()));
    });
    const std::uint32_t life = begin_life(kNoEvent, block.address, block.size, LifeKind::kBlock);
    out_.lives[life].stack = block.stack;
    out_.lives[life].stream = segment.stream;
    out_.lives[life].parent = segments_.holding(block.address);
    ++out_.unmatched_blocks;
    unmatched_.push_back({static_cast<std::uint32_t>(events_.size()), life});
    confirmed_.push_back(true);
    blocks_.add(life);
  }

  // Unmatched blocks begin where the last other block at their address ended.
  void place_unmatched() {
    if (unmatched_.empty()) return;
    struct Known {
      std::uint64_t address;
      std::uint32_t until;  // the event of its free
      std::uint32_t life;
      std::uint32_t begin = kNoEvent;
    };
    std::vector<Known> known;
    for (const LifeChange& one : unmatched_)
      known.push_back({out_.lives[one.life].address, one.event, one.life});
    std::sort(known.begin(), known.end(), [](const Known& a, const Known& b) {
      return a.address != b.address ? a.address < b.address : a.until < b.until;
    });
    std::uint64_t steps = kMaxSteps;
    const auto later = [](std::uint32_t a, std::uint32_t b) {
      return a == kNoEvent ? b : std::max(a, b);
    };
    for (const Life& life : out_.lives) {
      if (life.kind != LifeKind::kBlock || !life.recorded || life.end == kNoEvent) continue;
      const auto at_or_after = [&](std::uint64_t address, std::uint64_t until) {
        return std::lower_bound(known.begin(), known.end(), std::pair(address, until),
                                [](const Known& k, const std::pair<std::uint64_t, std::uint64_t>& v) {
                                  return std::pair(k.address, std::uint64_t{k.until}) < v;
                                });
      };
      // Of those at one address the first is enough: the others begin where it ends, or later.
      for (auto at = at_or_after(life.address, 0);
           at != known.end() && at->address - life.address < life.size && steps > 0; --steps) {
        const std::uint64_t address = at->address;
        at = at_or_after(address, life.end);
        if (at != known.end() && at->address == address) at->begin = later(at->begin, life.end);
        at = at_or_after(address, UINT64_MAX);
      }
    }
    for (std::size_t i = 1; i < known.size(); ++i) {
      const std::uint32_t before = out_.lives[known[i - 1].life].end;
      if (known[i - 1].address == known[i].address && before != kNoEvent && before <= known[i].until)
        known[i].begin = later(known[i].begin, before);
    }
    for (const Known& one : known) {
      if (one.begin == kNoEvent) continue;
      out_.lives[one.life].begin = one.begin;
      out_.begins.push_back({one.begin, one.life});
    }
  }

  const AllocatorHistory& history_;
  const HistoryPart& part_;
  std::span<const AllocatorEvent> events_;
  DeviceLives out_;
  LiveRanges segments_;
  LiveRanges blocks_;
  LiveRanges::Place asked_ = blocks_.end();  // the block of the request just before
  std::vector<std::uint64_t> cuts_;
  std::size_t pieces_ = 0;
  std::vector<LifeChange> segment_begins_;
  std::vector<LifeChange> segment_ends_;
  std::size_t next_begin_ = 0;
  std::size_t next_end_ = 0;
  std::uint32_t last_segment_ = kNoLife;
  std::vector<LifeChange> unmatched_;  // the event of the free, or the number of events
  std::vector<bool> confirmed_;  // by life: the end state has it
};

}  // namespace

DeviceLives replay_part(const AllocatorHistory& history, const HistoryPart& part) {
  return Replay(history, part).run();
}

}  // namespace drgpum
