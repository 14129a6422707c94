// SPDX-License-Identifier: Apache-2.0
// Follows ids and lifetimes through the records.
#include "offline/trace/check.h"

#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace drgpum {
namespace {

using namespace trace;

std::string quoted(std::string_view what, std::uint64_t id) {
  return std::string(what) + ' ' + std::to_string(id);
}

// The bytes of its object that a region spans, from its offset; the largest number on overflow.
std::uint64_t span_of(const Region& region) {
  if (region.height == 0 || region.depth == 0 || region.width == 0) return 0;
  std::uint64_t rows = 0;
  std::uint64_t slices = 0;
  std::uint64_t sum = 0;
  if (__builtin_mul_overflow(region.pitch, region.height - 1, &rows) ||
      __builtin_mul_overflow(region.slice_pitch, region.depth - 1, &slices) ||
      __builtin_add_overflow(rows, slices, &sum) || __builtin_add_overflow(sum, region.width, &sum))
    return ~std::uint64_t{0};
  return sum;
}

}  // namespace

class TraceChecker::Impl {
 public:
  void add(const Record& record) {
    if (ordinal_ == 0 && !std::holds_alternative<ProcessRecord>(record))
      problem("the first record is not the process");
    std::visit([this](const auto& one) { check(one); }, record);
    ++ordinal_;
  }
  TraceProblems finish() { return std::move(problems_); }

 private:
  struct Object {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    ObjectKind kind = ObjectKind::kDevice;
    DeviceId device;
    bool ended = false;
  };

  void problem(std::string message) {
    if (problems_.count++ < TraceProblems::kMost)
      problems_.first.push_back({ordinal_, std::move(message)});
  }
  template <typename Set, typename Id>
  void declare(Set& set, Id id, const char* what) {
    if (!set.insert(id.value).second) problem(quoted(what, id.value) + " is declared twice");
  }
  template <typename Set, typename Id>
  void need(const Set& set, Id id, const char* what) {
    if (!set.contains(id.value)) problem(quoted(what, id.value) + " is not known");
  }
  void past_or_next(ApiId at, const char* what) {
    if (at.value > next_api_) problem(quoted(what, at.value) + " lies ahead");
  }
  void need_call(ApiId api) {
    if (api.value >= next_api_) problem(quoted("call", api.value) + " is not known");
  }
  Object* need_object(ObjectId id) {
    const auto found = objects_.find(id.value);
    if (found != objects_.end()) return &found->second;
    problem(quoted("object", id.value) + " is not known");
    return nullptr;
  }

  void check(const ProcessRecord& process) {
    if (ordinal_ != 0) problem("a second process");
    if (process.format_version != 1)
      problem(quoted("records of version", process.format_version) + ", not 1");
  }
  void check(const DeviceRecord& device) { declare(devices_, device.id, "device"); }
  void check(const ContextRecord& context) {
    declare(contexts_, context.id, "context");
    need(devices_, context.device, "device");
  }
  void check(const ContextEndRecord& end) {
    need(contexts_, end.id, "context");
    past_or_next(end.at, "call");
  }
  void check(const StreamRecord& stream) {
    declare(streams_, stream.id, "stream");
    need(contexts_, stream.context, "context");
  }
  void check(const StreamNameRecord& name) { need(streams_, name.id, "stream"); }
  void check(const StreamEndRecord& end) {
    need(streams_, end.id, "stream");
    past_or_next(end.at, "call");
  }
  void check(const HostModuleRecord& module) {
    declare(modules_, module.id, "module");
    if (module.end < module.begin) problem("module " + module.path + " ends before it begins");
  }
  void check(const HostModuleEndRecord& end) { need(modules_, end.id, "module"); }
  void check(const SourceFrameRecord& frame) {
    if (!frames_.insert(frame.frame).second) problem(quoted("frame", frame.frame) + " is declared twice");
  }
  void check(const FreeRequestRecord& request) {
    need_object(request.id);
    past_or_next(request.at, "call");
  }
  void check(const CallPathRecord& path) { declare(paths_, path.id, "call path"); }
  void check(const CubinRecord& cubin) {
    declare(cubins_, cubin.id, "cubin");
    need(contexts_, cubin.context, "context");
  }
  void check(const KernelRecord& kernel) {
    declare(kernels_, kernel.id, "kernel");
    need(cubins_, kernel.cubin, "cubin");
  }
  void check(const ObjectRecord& object) {
    if (!objects_
             .try_emplace(object.id.value,
                          Object{object.address, object.size, object.kind, object.device, false})
             .second)
      return problem(quoted("object", object.id.value) + " is declared twice");
    need(devices_, object.device, "device");
    need(contexts_, object.context, "context");
    past_or_next(object.allocated_by, "call");
    if (object.parent != kNoObject)
      need_object(object.parent);
    else
      occupy(object);
  }
  void check(const ObjectEndRecord& end) { end_object(end.id, "ends"); }
  void check(const ObjectNameRecord& name) { need_object(name.id); }

  // Two objects that live at the same addresses: a free was missed.
  void occupy(const ObjectRecord& object) {
    const bool nowhere = object.address == 0 || object.kind == ObjectKind::kArray;
    if (object.size == 0 || nowhere) return;
    auto& live = live_[object.device.value];
    const auto next = live.lower_bound(object.address);
    if (next != live.end() && next->first - object.address < object.size)
      overlap(object, next->second);
    else if (next != live.begin() && overlaps(std::prev(next)->second, object.address))
      overlap(object, std::prev(next)->second);
    live[object.address] = object.id.value;
  }
  bool overlaps(std::uint32_t id, std::uint64_t address) const {
    const Object& object = objects_.at(id);
    return address - object.address < object.size;
  }
  void overlap(const ObjectRecord& object, std::uint32_t other) {
    problem(quoted("object", object.id.value) + " lies over " + quoted("object", other) +
            ", which is still live");
  }
  void end_object(ObjectId id, const char* verb) {
    Object* object = need_object(id);
    if (object == nullptr) return;
    if (std::exchange(object->ended, true))
      problem(quoted("object", id.value) + ' ' + verb + " a second time");
    auto& live = live_[object->device.value];
    const auto found = live.find(object->address);
    if (found != live.end() && found->second == id.value) live.erase(found);
  }

  void check(const GpuApi& api) {
    if (api.id.value != next_api_)
      problem(quoted("call", api.id.value) + " stands where " + quoted("call", next_api_) +
              " should");
    next_api_ = api.id.value + 1;
    if (api.host_end_ns < api.host_begin_ns) problem("a call that ends before it begins");
    if (api.stream != kNoStream) need(streams_, api.stream, "stream");
    need(contexts_, api.context, "context");
    if (api.call_path != kNoCallPath) need(paths_, api.call_path, "call path");
    for (const ApiId before : api.depends_on)
      if (before.value >= api.id.value) problem("a graph node depends on a later one");
    if (!fits(api.kind, api.payload.index()))
      problem("the kind of the call and what it carries disagree");
    std::visit([this](const auto& payload) { check_payload(payload); }, api.payload);
  }
  static bool fits(ApiKind kind, std::size_t payload) {
    constexpr std::size_t kAlternative[] = {0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9};  // by ApiKind
    return kAlternative[static_cast<std::size_t>(kind)] == payload;
  }
  void check_payload(const AllocApi& alloc) {
    if (alloc.object != kNoObject) need_object(alloc.object);
  }
  void check_payload(const FreeApi& free) {
    if (free.object != kNoObject && free.error == 0) end_object(free.object, "is freed");
  }
  void check_payload(const MemcpyApi& copy) {
    check_region(copy.source);
    check_region(copy.destination);
  }
  void check_payload(const MemsetApi& set) { check_region(set.destination); }
  void check_payload(const LaunchApi& launch) { need(kernels_, launch.kernel, "kernel"); }
  void check_payload(const EventApi& event) {
    if (event.recorded) need_call(event.recorded_by);
  }
  void check_payload(const SynchronizeApi& sync) {
    if (sync.recorded) need_call(sync.recorded_by);
  }
  void check_payload(const GraphLaunchApi&) {}
  void check_payload(const HostFunctionApi&) {}
  void check_payload(const MarkApi&) {}

  void check_region(const Region& region) {
    if (region.object == kNoObject) return;
    const Object* object = need_object(region.object);
    if (object == nullptr || object->kind == ObjectKind::kArray) return;
    if (region.offset > object->size || span_of(region) > object->size - region.offset)
      problem("a copy or set goes beyond " + quoted("object", region.object.value));
  }

  void check(const TimeRecord& time) {
    need_call(time.api);
    if (time.end_ns < time.begin_ns) problem("a device time that ends before it begins");
  }
  void check(const AccessRecord& access) {
    need_call(access.api);
    const Object* object = need_object(access.object);
    if (object != nullptr && access.bounds && access.bounds->end > object->size)
      problem("an access goes beyond " + quoted("object", access.object.value));
  }
  void check(const AccessMapRecord& map) {
    need_call(map.api);
    need_object(map.object);
  }
  void check(const AccessSiteRecord& site) {
    need_call(site.api);
    need_object(site.object);
    need(kernels_, site.function, "kernel");
  }
  void check(const CoverageRecord&) {}
  void check(const EndRecord& end) {
    if (end.api_count.value != next_api_)
      problem(quoted("the end counts", end.api_count.value) + " calls, not " +
              std::to_string(next_api_));
  }

  std::uint64_t ordinal_ = 0;
  std::uint64_t next_api_ = 0;
  TraceProblems problems_;
  using Ids = std::unordered_set<std::uint32_t>;
  std::unordered_set<std::uint64_t> frames_;
  Ids devices_, contexts_, streams_, modules_, paths_, cubins_, kernels_;
  std::unordered_map<std::uint32_t, Object> objects_;
  std::unordered_map<std::uint32_t, std::map<std::uint64_t, std::uint32_t>> live_;  // per device
};

TraceChecker::TraceChecker() : impl_(std::make_unique<Impl>()) {}
TraceChecker::TraceChecker(TraceChecker&&) noexcept = default;
TraceChecker::~TraceChecker() = default;
void TraceChecker::add(const Record& record) {
  impl_->add(record);
}
TraceProblems TraceChecker::finish() && {
  return impl_->finish();
}

}  // namespace drgpum
