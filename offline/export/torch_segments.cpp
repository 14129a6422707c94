// SPDX-License-Identifier: Apache-2.0
#include "offline/export/torch_segments.h"

#include <iterator>

namespace drgpum {
namespace {

class SegmentWriter {
 public:
  SegmentWriter(SnapshotFields& fields, std::uint16_t device, const Places& places)
      : fields_(fields),
        e_(fields.evidence()),
        pickle_(fields.pickle()),
        device_(device),
        places_(places) {}

  void run() {
    const auto& all = places_.segments();
    for (auto first = all.begin(); first != all.end();) {
      std::uint64_t end = first->first + first->second.size;
      auto next = std::next(first);
      for (; next != all.end() && next->first == end && first->second.is_mapped &&
             next->second.is_mapped && same_owner(first->second.object, next->second.object);
           ++next)
        end += next->second.size;
      write_segment(first->first, end, first->second);
      first = next;
    }
  }

 private:
  bool same_owner(std::uint32_t a, std::uint32_t b) const {
    return fields_.stream_of(e_.objects[a].alloc) == fields_.stream_of(e_.objects[b].alloc) &&
           e_.objects[a].name == e_.objects[b].name;
  }

  void write_segment(std::uint64_t begin, std::uint64_t end, const PlacedSegment& segment) {
    const auto first = places_.blocks().lower_bound(begin);
    const auto last = places_.blocks().lower_bound(end);
    std::uint64_t active = 0;
    std::uint64_t allocated = 0;
    for (auto block = first; block != last; ++block) {
      active += block->second.size;
      if (!fields_.request_of(block->second.object)) allocated += block->second.size;
    }
    pickle_.begin_dict();
    const auto field = [&](std::string_view key, std::uint64_t value) {
      pickle_.word(key);
      pickle_.number(value);
    };
    field("device", device_);
    field("address", begin);
    field("total_size", end - begin);
    field("allocated_size", allocated);
    field("active_size", active);
    field("requested_size", active);
    field("stream", fields_.stream_of(e_.objects[segment.object].alloc));
    pickle_.word("segment_type");
    pickle_.word(e_.names[e_.objects[segment.object].name] == "small pool" ? "small" : "large");
    fields_.write_pool(segment.object, "segment_pool_id");
    pickle_.word("is_expandable");
    pickle_.boolean(segment.is_mapped);
    fields_.write_frames(e_.objects[segment.object].alloc);
    pickle_.word("blocks");
    pickle_.begin_list();
    std::uint64_t at = begin;
    for (auto block = first; block != last; ++block) {
      if (block->first > at) write_hole(at, block->first - at);
      write_block(block->first, block->second);
      at = block->first + block->second.size;
    }
    if (at < end) write_hole(at, end - at);
    pickle_.end_list();
    pickle_.end_dict();
  }

  void write_block(std::uint64_t address, const PlacedBlock& block) {
    const bool pending = fields_.request_of(block.object).has_value();
    open_block(address, block.size, block.size,
               pending ? "active_pending_free" : "active_allocated");
    fields_.write_frames(e_.objects[block.object].alloc);
    pickle_.end_dict();
  }

  void write_hole(std::uint64_t address, std::uint64_t size) {
    open_block(address, size, 0, "inactive");
    fields_.write_frames(kNone);
    pickle_.end_dict();
  }

  void open_block(std::uint64_t address, std::uint64_t size, std::uint64_t requested,
                  std::string_view state) {
    pickle_.begin_dict();
    pickle_.word("address");
    pickle_.number(address);
    pickle_.word("size");
    pickle_.number(size);
    pickle_.word("requested_size");
    pickle_.number(requested);
    pickle_.word("state");
    pickle_.word(state);
  }

  SnapshotFields& fields_;
  const Evidence& e_;
  PickleWriter& pickle_;
  const std::uint16_t device_;
  const Places& places_;
};

}  // namespace

void write_segments(SnapshotFields& fields, std::uint16_t device, const Places& places) {
  SegmentWriter(fields, device, places).run();
}

}  // namespace drgpum
