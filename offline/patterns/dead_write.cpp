// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "offline/patterns/intra_ranges.h"
#include "offline/patterns/patterns.h"

namespace drgpum {
namespace {

// More rows than this and an extent counts as not known.
constexpr std::uint64_t kMaxRows = 1 << 14;

struct Write {
  std::uint32_t api = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unread = 0;  // not overwritten yet, nor read
  bool is_read = false;
  std::vector<std::uint32_t> overwriters;  // rising
};

// Follows the bytes that copies and sets wrote until something reads or overwrites them.
class ByteHistory {
 public:
  void write(std::uint32_t api, const trace::ByteRange& range) {
    overwrite(api, range);
    if (range.begin >= range.end) return;
    if (writes_.empty() || writes_.back().api != api) writes_.push_back({api, 0, 0, false, {}});
    writes_.back().bytes += range.end - range.begin;
    writes_.back().unread += range.end - range.begin;
    pieces_[range.begin] = {range.end, static_cast<std::uint32_t>(writes_.size() - 1)};
  }
  void read(const trace::ByteRange& range) {
    cut(range, [&](Write& write, std::uint64_t) { write.is_read = true; });
  }
  void overwrite(std::uint32_t api, const trace::ByteRange& range) {
    cut(range, [&](Write& write, std::uint64_t bytes) {
      write.unread -= bytes;
      if (write.overwriters.empty() || write.overwriters.back() != api)
        write.overwriters.push_back(api);
    });
  }
  std::vector<Write>& writes() { return writes_; }

 private:
  struct Piece {
    std::uint64_t end = 0;
    std::uint32_t write = 0;
  };

  // Takes `range` out of the pieces and says whose bytes went, and how many.
  template <typename Gone>
  void cut(const trace::ByteRange& range, Gone gone) {
    auto at = pieces_.upper_bound(range.begin);
    if (at != pieces_.begin()) --at;
    while (at != pieces_.end() && at->first < range.end) {
      const auto [begin, piece] = *at;
      if (piece.end <= range.begin) {
        ++at;
        continue;
      }
      at = pieces_.erase(at);
      const std::uint64_t from = std::max(begin, range.begin);
      const std::uint64_t to = std::min(piece.end, range.end);
      gone(writes_[piece.write], to - from);
      if (begin < from) pieces_[begin] = {from, piece.write};
      if (to < piece.end) at = pieces_.emplace(to, Piece{piece.end, piece.write}).first;
    }
  }

  std::map<std::uint64_t, Piece> pieces_;  // by first byte; disjoint
  std::vector<Write> writes_;
};

// The runs of bytes of an extent; false when there are too many.
bool runs_of(const Extent& e, std::vector<trace::ByteRange>& runs) {
  if (e.rows * e.slices > kMaxRows) return false;
  for (std::uint64_t z = 0; z < e.slices; ++z) {
    for (std::uint64_t y = 0; y < e.rows; ++y) {
      const std::uint64_t begin = e.offset + z * e.slice_pitch + y * e.pitch;
      runs.push_back({begin, begin + e.width});
    }
  }
  return true;
}

class ObjectHistory {
 public:
  ObjectHistory(const PatternInput& in, std::uint32_t object)
      : in_(in), size_(in.evidence.objects[object].size) {
    for (const Use& use : in.evidence.uses_of(object))
      take(use);
  }
  std::vector<Write>& writes() { return bytes_.writes(); }

 private:
  void take(const Use& use) {
    const UseDetail* detail = use.has_detail() ? &in_.evidence.details[use.detail()] : nullptr;
    if (use.by_kernel()) return take_launch(use, detail);
    if (use.reads())
      for (const trace::ByteRange& run : part(detail, &UseDetail::extent_read, true))
        bytes_.read(run);
    if (use.writes())
      for (const trace::ByteRange& run : part(detail, &UseDetail::extent_written, false))
        bytes_.write(use.api, run);
  }

  // A launch without a map may read all that its bounds hold, and is not known to overwrite.
  void take_launch(const Use& use, const UseDetail* detail) {
    if (const trace::AccessMapRecord* map = whole_map(in_, use)) {
      for (const trace::ByteRange& run : map->read_ranges)
        bytes_.read(run);
      if (map->exact)
        for (const trace::ByteRange& run : map->written_ranges)
          bytes_.overwrite(use.api, run);
    } else if (use.reads()) {
      const bool bounded = detail != nullptr && detail->bounds.end != 0;
      bytes_.read(bounded ? detail->bounds : trace::ByteRange{0, size_});
    }
  }

  // Reads that are not known in detail may read anything between their bounds; such writes are not
  // followed.
  std::vector<trace::ByteRange> part(const UseDetail* detail, std::uint32_t UseDetail::*extent,
                                     bool is_read) const {
    if (detail == nullptr || detail->*extent == kNone) return {{0, size_}};
    std::vector<trace::ByteRange> runs;
    if (runs_of(in_.evidence.extents[detail->*extent], runs)) return runs;
    if (!is_read) return {};
    return {detail->bounds.end != 0 ? detail->bounds : trace::ByteRange{0, size_}};
  }

  const PatternInput& in_;
  std::uint64_t size_;
  ByteHistory bytes_;
};

// The reads of one object, chain by chain, to find those that no order keeps from a write.
class ReadOrder {
 public:
  ReadOrder(const PatternInput& in, std::uint32_t object) : order_(in.order) {
    for (const Use& use : in.evidence.uses_of(object)) {
      if (!use.reads()) continue;
      reads_[in.order.chain_of(use.api)].push_back(use.api);
    }
  }
  // Every read before the write is over then, and every read after it waits for the overwriters.
  // A read between the write and its only overwriter was seen to read other bytes.
  bool keeps_apart(const Write& write) const {
    const bool one = write.overwriters.size() == 1;
    for (const auto& [chain, reads] : reads_) {
      const auto before = std::lower_bound(reads.begin(), reads.end(), write.api);
      if (before != reads.begin() && !order_.before(*(before - 1), write.api)) return false;
      const auto after =
          std::upper_bound(before, reads.end(), one ? write.overwriters.front() : write.api);
      if (after == reads.end()) continue;
      for (const std::uint32_t overwriter : write.overwriters)
        if (overwriter != *after && !order_.before(overwriter, *after)) return false;
    }
    return true;
  }

 private:
  const HappensBefore& order_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> reads_;
};

// A write is dead when its last byte was overwritten, or its object freed, before any was read.
bool is_dead(const PatternInput& in, const Object& object, Write& write) {
  if (write.is_read || write.bytes == 0) return false;
  if (write.unread > 0) {
    if (object.free == kNone) return false;
    write.overwriters.push_back(object.free);
  }
  return in.evidence.first_unseen(write.api + 1, write.overwriters.back()) == kNone;
}

}  // namespace

// Dead write: a copy or set all of whose bytes are written again, or whose object is freed, before
// anything reads them. Copies and sets overwrite; a launch only where an exact access map shows it.
// One finding per object: the number of dead writes and their calls. Not for unused objects.
// Source: DrGPUM (ASPLOS '23), whose code ignores byte ranges and takes reading copies for writes.
// Wasted: the bytes written and never read. Fix: drop the writes. No distance.
// Proven: write, overwriters and the object's reads are ordered; managed memory never.
// What would make it wrong: a launch between write and overwriter that was not recorded; then
// nothing is said of that write.
std::vector<Finding> dead_write(const PatternInput& in) {
  std::vector<Finding> findings;
  for (std::uint32_t o = 0; o < in.evidence.objects.size(); ++o) {
    const auto uses = in.evidence.uses_of(o);
    const bool written = std::any_of(
        uses.begin(), uses.end(), [](const Use& use) { return !use.by_kernel() && use.writes(); });
    if (!written || in.essentials[o].first == kNone || !is_judged(in, o)) continue;
    ObjectHistory history(in, o);
    const ReadOrder reads(in, o);
    Finding f;
    f.pattern = Pattern::kDeadWrite;
    f.object = o;
    for (Write& write : history.writes()) {
      if (!is_dead(in, in.evidence.objects[o], write)) continue;
      f.calls.push_back(write.api);
      f.wasted_bytes += write.bytes;
      if (f.from == kNone) f.from = write.api, f.to = write.overwriters.back();
      const bool ordered = all_before(in.order, std::span(&write.api, 1), write.overwriters) &&
                           reads.keeps_apart(write);
      if (!ordered) f.missing |= kMissingOrder;
    }
    if (f.calls.empty()) continue;
    f.count = static_cast<std::uint32_t>(f.calls.size());
    f.apis_between = f.to - f.from - 1;
    f.missing |= missing_for(in, o);
    settle(f);
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace drgpum
