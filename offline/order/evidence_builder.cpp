// SPDX-License-Identifier: Apache-2.0
// Packs records into Evidence.

#include <algorithm>
#include <unordered_map>

#include "offline/order/evidence.h"
#include "offline/order/index_of.h"
#include "offline/order/pack_uses.h"
#include "offline/order/roll_up.h"

namespace drgpum {
namespace {

using trace::ApiKind;

constexpr std::uint32_t kMaxDetails = (1u << 26) - 2;

// The bounds of an extent within its object.
trace::ByteRange bounds_of(const Extent& e) {
  const std::uint64_t last = (e.slices - 1) * e.slice_pitch + (e.rows - 1) * e.pitch;
  return {e.offset, e.offset + last + e.width};
}

bool joins_rows(const Extent& e) {
  return (e.rows <= 1 || e.pitch == e.width) &&
         (e.slices <= 1 || e.slice_pitch == e.pitch * e.rows);
}

Extent extent_of(const trace::Region& region) {
  Extent e{region.offset,
           region.width,
           std::max<std::uint64_t>(region.height, 1),
           std::max<std::uint64_t>(region.depth, 1),
           region.pitch,
           region.slice_pitch};
  if (e.rows == 1 && e.slices > 1 && e.pitch == 0) e.pitch = e.slice_pitch;
  if (!joins_rows(e)) return e;
  return {e.offset, e.bytes(), 1, 1, 0, 0};
}

}  // namespace

class EvidenceBuilder::Impl {
 public:
  Impl() { out_.names.emplace_back(); }

  Status take(const trace::ProcessRecord& r) {
    out_.process = r;
    return Ok{};
  }
  Status take(const trace::DeviceRecord& r) {
    if (r.id.value > 0xffff) return too_many("devices");
    out_.devices.push_back(r);
    return Ok{};
  }
  Status take(const trace::ContextRecord& r) {
    if (out_.context_device.size() > 0xffff) return too_many("contexts");
    contexts_.set(r.id.value, static_cast<std::uint32_t>(out_.context_device.size()));
    out_.context_device.push_back(static_cast<std::uint16_t>(r.device.value));
    return Ok{};
  }
  Status take(const trace::ContextEndRecord& r) {
    context_ends_.emplace_back(context_of(r.id), static_cast<std::uint32_t>(r.at.value));
    return Ok{};
  }
  Status take(const trace::StreamRecord& r) {
    streams_.set(r.id.value, static_cast<std::uint32_t>(out_.streams.size()));
    out_.streams.push_back(
        {r.kind, context_of(r.context), r.id.value, kNone, intern(r.name)});
    return Ok{};
  }
  Status take(const trace::StreamEndRecord& r) {
    const std::uint32_t stream = streams_.find(r.id.value);
    if (stream != kNone) out_.streams[stream].end = static_cast<std::uint32_t>(r.at.value);
    return Ok{};
  }
  Status take(const trace::KernelRecord& r) {
    if (r.id.value >= out_.kernels.size()) {
      if (r.id.value > (1u << 24)) return too_many("kernels");
      out_.kernels.resize(r.id.value + 1);
    }
    out_.kernels[r.id.value] = r.name;
    return Ok{};
  }
  Status take(const trace::ObjectRecord& r) {
    Object o;
    o.kind = r.kind;
    o.opaque = r.opaque;
    o.id = r.id.value;
    o.parent = near_parent(r.parent == trace::kNoObject ? kNone : objects_.find(r.parent.value));
    o.context = context_of(r.context);
    o.device = static_cast<std::uint16_t>(r.device.value);
    o.address = r.address;
    o.size = r.size;
    o.pitch = r.pitch;
    o.width = r.width;
    o.alloc = static_cast<std::uint32_t>(r.allocated_by.value);
    o.end = kNone;
    o.name = intern(r.name);
    if (!r.detail.empty())
      out_.object_details.push_back(
          {static_cast<std::uint32_t>(out_.objects.size()), intern(r.detail)});
    objects_.set(o.id, static_cast<std::uint32_t>(out_.objects.size()));
    out_.objects.push_back(o);
    nested_.begin(out_.objects);
    return Ok{};
  }
  Status take(const trace::ObjectEndRecord& r) {
    const std::uint32_t object = objects_.find(r.id.value);
    if (object != kNone) end_object(object, static_cast<std::uint32_t>(r.at.value), kNone);
    return Ok{};
  }
  Status take(const trace::FreeRequestRecord& r) {
    const std::uint32_t object = objects_.find(r.id.value);
    if (object != kNone)
      out_.free_requests.push_back({object, static_cast<std::uint32_t>(r.at.value)});
    return Ok{};
  }
  Status take(const trace::ObjectNameRecord& r) {
    const std::uint32_t object = objects_.find(r.id.value);
    if (object != kNone) out_.objects[object].name = intern(r.name);
    return Ok{};
  }
  Status take(const trace::GpuApi& r);
  Status take(const trace::AccessRecord& r);
  Status take(const trace::AccessMapRecord& r);
  Status take(const trace::CoverageRecord& r) {
    out_.coverage.push_back(r);
    const bool hides = r.kind == trace::CoverageKind::kUnpatchedKernel ||
                       r.kind == trace::CoverageKind::kUnsampledLaunch ||
                       r.kind == trace::CoverageKind::kSlotsFull ||
                       r.kind == trace::CoverageKind::kUnknownInstruction;
    if (hides && r.api && r.object == trace::kNoObject && r.api->value < kNone)
      out_.unseen_launches.push_back(static_cast<std::uint32_t>(r.api->value));
    if (r.kind == trace::CoverageKind::kOpaqueObject && r.object != trace::kNoObject) {
      const std::uint32_t object = objects_.find(r.object.value);
      if (object != kNone) out_.objects[object].opaque = true;
    }
    return Ok{};
  }
  Status take(const trace::TimeRecord& r) {
    if (r.api.value >= out_.apis.size()) return Ok{};
    if (r.api.value >= out_.begin_ns.size()) out_.begin_ns.resize(r.api.value + 1, kNoTime);
    out_.begin_ns[r.api.value] = r.begin_ns;
    out_.last_end_ns = std::max(out_.last_end_ns, r.end_ns);
    return Ok{};
  }
  Status take(const trace::EndRecord& r) {
    out_.has_end = true;
    out_.last = r;
    return Ok{};
  }
  template <typename Other>
  Status take(const Other&) {
    return Ok{};  // call paths, modules: other readers take these
  }

  Evidence finish();

 private:
  static Error too_many(const char* what) {
    return {ErrorCode::kUnsupported, std::string("more ") + what + " than this build can judge"};
  }
  // Walks go up from an object to the outermost; parts in parts beyond this depth lie side by side.
  std::uint32_t near_parent(std::uint32_t parent) {
    constexpr std::uint8_t kMostDepth = 64;
    if (parent != kNone && depth_[parent] >= kMostDepth) parent = out_.objects[parent].parent;
    depth_.push_back(parent == kNone ? 0 : static_cast<std::uint8_t>(depth_[parent] + 1));
    return parent;
  }
  std::uint16_t context_of(ContextId id) {
    const std::uint32_t at = contexts_.find(id.value);
    return static_cast<std::uint16_t>(at == kNone ? 0 : at);
  }
  std::uint32_t intern(const std::string& name) {
    if (name.empty()) return 0;
    const auto [at, fresh] =
        name_of_.try_emplace(name, static_cast<std::uint32_t>(out_.names.size()));
    if (fresh) out_.names.push_back(name);
    return at->second;
  }
  void end_object(std::uint32_t object, std::uint32_t at, std::uint32_t free) {
    Object& o = out_.objects[object];
    if (o.ended) return;
    o.ended = true;
    o.end = at;
    o.free = free;
    nested_.end(object, out_.objects);
  }
  std::uint32_t add_detail(const UseDetail& detail) {
    if (out_.details.size() >= kMaxDetails) return 0;  // without details: less is known, not wrong
    out_.details.push_back(detail);
    return static_cast<std::uint32_t>(out_.details.size()) << 6;
  }
  void add_use(std::uint32_t object, std::uint32_t api, std::uint32_t packed) {
    raw_.push_back({object, {api, packed}});
  }
  void add_region(const trace::Region& region, std::uint32_t api, std::uint32_t flags);
  void add_to_parts(std::uint32_t object, const Extent& extent, std::uint32_t api,
                    std::uint32_t flags);
  void add_extent(std::uint32_t object, const Extent& extent, std::uint32_t api,
                  std::uint32_t flags);
  void fill_payload(Api& api, const trace::GpuApi& r, std::uint32_t index);
  void mark_segments();
  void close_lives();
  void collect_launches();

  Evidence out_;
  IndexOf contexts_;
  IndexOf streams_;
  IndexOf objects_;
  std::unordered_map<std::string, std::uint32_t> name_of_;
  std::vector<std::pair<std::uint16_t, std::uint32_t>> context_ends_;
  std::vector<RawUse> raw_;
  NestedObjects nested_;
  std::vector<std::uint8_t> depth_;  // by object: how many it lies in
};

Status EvidenceBuilder::Impl::take(const trace::GpuApi& r) {
  if (r.id.value >= kNone) return too_many("calls");
  if (r.thread.value > 0xffff) return too_many("host threads");
  const auto index = static_cast<std::uint32_t>(r.id.value);
  if (index > out_.apis.size() + (1u << 26))
    return Error{ErrorCode::kCorrupt, "call " + std::to_string(index) + " follows call " +
                                          std::to_string(out_.apis.size()) + ": ids rise by one"};
  if (index >= out_.apis.size()) out_.apis.resize(index + 1);
  Api api;
  api.kind = r.kind;
  api.flags = kApiPresent;
  if (r.blocks_host) api.flags |= kApiBlocksHost;
  api.name = static_cast<std::uint16_t>(std::min<std::uint32_t>(intern(r.name), 0xffff));
  api.context = context_of(r.context);
  api.thread = static_cast<std::uint16_t>(r.thread.value);
  out_.thread_count = std::max<std::uint32_t>(out_.thread_count, r.thread.value + 1);
  api.stream = r.stream == trace::kNoStream ? kNone : streams_.find(r.stream.value);
  api.call_path = r.call_path.value;
  if (r.graph_launch) {
    api.flags |= kApiInGraph;
    GraphNode node{index, *r.graph_launch, {}};
    for (const ApiId before : r.depends_on)
      if (before.value < index) node.depends_on.push_back(static_cast<std::uint32_t>(before.value));
    out_.graph_nodes.push_back(std::move(node));
  }
  fill_payload(api, r, index);
  out_.apis[index] = api;
  return Ok{};
}

void EvidenceBuilder::Impl::fill_payload(Api& api, const trace::GpuApi& r, std::uint32_t index) {
  if (const auto* alloc = std::get_if<trace::AllocApi>(&r.payload)) {
    if (alloc->object != trace::kNoObject) api.payload = objects_.find(alloc->object.value);
    if (alloc->error == 0) return;
    api.flags |= kApiFailed;
    out_.failed.push_back({index, alloc->requested, alloc->error, alloc->device_free});
  } else if (const auto* free = std::get_if<trace::FreeApi>(&r.payload)) {
    if (free->error != 0) api.flags |= kApiFailed;
    if (free->object == trace::kNoObject) return;
    api.payload = objects_.find(free->object.value);
    if (api.payload != kNone && free->error == 0) end_object(api.payload, index, index);
  } else if (const auto* copy = std::get_if<trace::MemcpyApi>(&r.payload)) {
    if (copy->source_stream != trace::kNoStream)
      api.payload = streams_.find(copy->source_stream.value);
    const bool up = copy->direction == trace::CopyDirection::kHostToDevice;
    const bool down = copy->direction == trace::CopyDirection::kDeviceToHost;
    add_region(copy->source, index, down ? kUseReads | kUseToHost : kUseReads);
    add_region(copy->destination, index, up ? kUseWrites | kUseFromHost : kUseWrites);
  } else if (const auto* set = std::get_if<trace::MemsetApi>(&r.payload)) {
    add_region(set->destination, index, kUseWrites | kUseFromHost | kUseSet);
  } else if (const auto* launch = std::get_if<trace::LaunchApi>(&r.payload)) {
    api.payload = launch->kernel.value;
    if (launch->instrumented) api.flags |= kApiInstrumented;
  } else if (const auto* event = std::get_if<trace::EventApi>(&r.payload)) {
    if (event->recorded && event->recorded_by.value < index)
      api.payload = static_cast<std::uint32_t>(event->recorded_by.value);
  } else if (const auto* sync = std::get_if<trace::SynchronizeApi>(&r.payload)) {
    if (sync->recorded && sync->recorded_by.value < index)
      api.payload = static_cast<std::uint32_t>(sync->recorded_by.value);
    api.flags = static_cast<std::uint8_t>(api.flags |
                                          (static_cast<unsigned>(sync->scope) << kApiScopeShift));
  } else if (const auto* mark = std::get_if<trace::MarkApi>(&r.payload)) {
    if (mark->kind == trace::MarkKind::kIteration) out_.iteration_marks.push_back(index);
    const bool begins = mark->kind == trace::MarkKind::kRangePush;
    if (begins || mark->kind == trace::MarkKind::kRangePop)
      out_.range_marks.push_back({index, intern(mark->name), begins});
  }
}

void EvidenceBuilder::Impl::add_region(const trace::Region& region, std::uint32_t api,
                                       std::uint32_t flags) {
  if (region.object == trace::kNoObject) return;
  const std::uint32_t object = objects_.find(region.object.value);
  if (object == kNone) return;
  Extent extent = extent_of(region);
  add_extent(object, extent, api, flags);
  add_to_parts(object, extent, api, flags);
  for (const Overlap& overlap : nested_.overlaps_of(object)) {
    const Object& above = out_.objects[overlap.allocation];
    const std::uint64_t begin = above.address - out_.objects[object].address;
    const auto within = extent_within(extent, begin, begin + above.size, (flags & kUseReads) != 0);
    if (within) add_extent(overlap.allocation, *within, api, flags);
  }
  for (std::uint32_t part = object, above = out_.objects[part].parent; above != kNone;
       part = above, above = out_.objects[part].parent) {
    extent.offset += out_.objects[part].address - out_.objects[above].address;
    add_extent(above, extent, api, flags);
  }
}

void EvidenceBuilder::Impl::add_to_parts(std::uint32_t object, const Extent& extent,
                                         std::uint32_t api, std::uint32_t flags) {
  const trace::ByteRange bounds = bounds_of(extent);
  for (const std::uint32_t part :
       nested_.parts_within(object, bounds.begin, bounds.end, out_.objects)) {
    const std::uint64_t begin = out_.objects[part].address - out_.objects[object].address;
    const std::uint64_t end = begin + out_.objects[part].size;
    const auto within = extent_within(extent, begin, end, (flags & kUseReads) != 0);
    if (!within) continue;
    add_extent(part, *within, api, flags);
    add_to_parts(part, *within, api, flags);
  }
}

// A part beyond its object's end is cut there: the device refuses such a call.
void EvidenceBuilder::Impl::add_extent(std::uint32_t object, const Extent& extent,
                                       std::uint32_t api, std::uint32_t flags) {
  const std::uint64_t size = out_.objects[object].size;
  const trace::ByteRange bounds = bounds_of(extent);
  const bool whole =
      extent.rows == 1 && extent.slices == 1 && bounds.begin == 0 && bounds.end >= size;
  if (whole) {
    raw_.push_back({object, {api, flags}});
    return;
  }
  UseDetail detail;
  detail.bounds = {std::min(bounds.begin, size), std::min(bounds.end, size)};
  const auto at = static_cast<std::uint32_t>(out_.extents.size());
  out_.extents.push_back(extent);
  (flags & kUseReads ? detail.extent_read : detail.extent_written) = at;
  raw_.push_back({object, {api, flags | add_detail(detail)}});
}

Status EvidenceBuilder::Impl::take(const trace::AccessRecord& r) {
  const std::uint32_t object = objects_.find(r.object.value);
  if (object == kNone || r.api.value >= out_.apis.size()) return Ok{};
  std::uint32_t packed = kUseKernel;
  if (r.reads || r.atomics) packed |= kUseReads;
  if (r.writes || r.atomics) packed |= kUseWrites;
  for (std::uint32_t at = object; at != kNone; at = out_.objects[at].parent) {
    std::uint32_t& narrowest = out_.objects[at].min_access_bytes;
    if (r.min_access_bytes != 0 && (narrowest == 0 || r.min_access_bytes < narrowest))
      narrowest = r.min_access_bytes;
  }
  const bool narrow =
      r.bounds && (r.bounds->begin > 0 || r.bounds->end < out_.objects[object].size);
  if (narrow) {
    UseDetail detail;
    detail.bounds = *r.bounds;
    packed |= add_detail(detail);
  }
  add_use(object, static_cast<std::uint32_t>(r.api.value), packed);
  return Ok{};
}

Status EvidenceBuilder::Impl::take(const trace::AccessMapRecord& r) {
  const std::uint32_t object = objects_.find(r.object.value);
  if (object == kNone || r.api.value >= out_.apis.size()) return Ok{};
  std::uint32_t packed = kUseKernel;
  if (!r.read_ranges.empty()) packed |= kUseReads;
  if (!r.written_ranges.empty()) packed |= kUseWrites;
  UseDetail detail;
  detail.map = static_cast<std::uint32_t>(out_.maps.size());
  out_.maps.push_back(r);
  add_use(object, static_cast<std::uint32_t>(r.api.value), packed | add_detail(detail));
  return Ok{};
}

// Where an allocator's history tells of its blocks, its segments are no blocks, even empty ones.
void EvidenceBuilder::Impl::mark_segments() {
  const auto is_part = [](const Object& o) { return o.kind == trace::ObjectKind::kSubObject; };
  if (out_.records_accesses() || std::none_of(out_.objects.begin(), out_.objects.end(), is_part))
    return;
  for (Object& o : out_.objects)
    if (o.parent == kNone && !is_part(o)) o.has_children = true;
}

// Objects that nothing ended live to the end of their parent, their context or the trace.
void EvidenceBuilder::Impl::close_lives() {
  const std::uint32_t last = out_.api_count();
  std::vector<std::uint32_t> context_end(out_.context_device.size() + 1, last);
  for (const auto& [context, at] : context_ends_)
    if (context < context_end.size()) context_end[context] = std::min(at, last);
  mark_segments();
  for (Object& o : out_.objects) {
    o.alloc = std::min(o.alloc, last);
    std::uint32_t limit = o.context < context_end.size() ? context_end[o.context] : last;
    if (o.parent != kNone) limit = std::min(limit, out_.objects[o.parent].end);
    if (!o.ended) o.end = limit;
    // What was given back whole has not leaked in parts.
    if (o.parent != kNone && out_.objects[o.parent].ended) o.ended = true;
    o.end = std::max(std::min(o.end, last), o.alloc);
  }
}

void EvidenceBuilder::Impl::collect_launches() {
  for (std::uint32_t api = 0; api < out_.api_count(); ++api) {
    if (out_.apis[api].kind != ApiKind::kLaunch) continue;
    out_.launches.push_back(api);
    if (!(out_.apis[api].flags & kApiInstrumented)) out_.unseen_launches.push_back(api);
  }
  auto& unseen = out_.unseen_launches;
  std::sort(unseen.begin(), unseen.end());
  unseen.erase(std::unique(unseen.begin(), unseen.end()), unseen.end());
}

Evidence EvidenceBuilder::Impl::finish() {
  close_lives();
  if (nested_.cut_parts() > 0) {
    trace::CoverageRecord lost;
    lost.count = nested_.cut_parts();
    lost.text = "parts reach into too many allocations: their accesses count for the first of them";
    out_.coverage.push_back(lost);
  }
  roll_up_launches(raw_, nested_.overlaps(), out_);
  pack_uses(std::move(raw_), out_);
  collect_launches();
  return std::move(out_);
}

EvidenceBuilder::EvidenceBuilder() : impl_(std::make_unique<Impl>()) {}
EvidenceBuilder::~EvidenceBuilder() = default;

Status EvidenceBuilder::add(const trace::Record& record) {
  return std::visit([this](const auto& r) { return impl_->take(r); }, record);
}

Evidence EvidenceBuilder::finish() && {
  return impl_->finish();
}

}  // namespace drgpum
