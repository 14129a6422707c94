// SPDX-License-Identifier: Apache-2.0
#include "offline/report/json_writer.h"
#include "offline/report/pressure_forms.h"

namespace drgpum {
namespace {

const char* word(FailureCause cause) {
  switch (cause) {
    case FailureCause::kLive:
      return "live";
    case FailureCause::kPending:
      return "pending";
    case FailureCause::kFragmentation:
      return "fragmentation";
    case FailureCause::kReserve:
      return "reserve";
  }
  return "live";
}

class PressureWriter {
 public:
  PressureWriter(const Report& report, JsonWriter& json) : report_(report), json_(json) {}

  void write(const MemoryPressure& pressure) {
    json_.key("memory_pressure").begin_object();
    json_.field("iterations", pressure.iterations);
    json_.key("devices").begin_array();
    for (const DevicePressure& one : pressure.devices)
      device(one);
    json_.end_array();
    json_.key("growth").begin_array();
    for (const Growth& one : pressure.growth)
      growth(one);
    json_.end_array();
    json_.key("out_of_memory").begin_array();
    for (const FailurePressure& one : pressure.failures)
      failure(one);
    json_.end_array();
    json_.end_object();
  }

 private:
  std::uint32_t id(std::uint32_t object) const { return report_.evidence.objects[object].id; }

  void moment(std::string_view key, const PressureMoment& one) {
    json_.key(key).begin_object();
    json_.field("index", one.api);
    json_.field("reserved_bytes", one.reserved_bytes);
    json_.field("allocated_bytes", one.allocated_bytes);
    json_.field("pending_bytes", one.pending_bytes);
    json_.field("free_bytes", one.free_bytes());
    json_.field("largest_hole_bytes", one.largest_hole_bytes);
    json_.field("holes", one.holes);
    json_.key("pinned").begin_array();
    for (const PinnedSegment& pinned : one.pinned) {
      json_.begin_object();
      json_.field("segment", id(pinned.segment));
      json_.field("size_bytes", report_.evidence.objects[pinned.segment].size);
      json_.field("block", id(pinned.block));
      json_.field("blocks", pinned.blocks);
      json_.field("live_bytes", pinned.live_bytes);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void device(const DevicePressure& one) {
    json_.begin_object();
    json_.field("device", one.device);
    json_.field("allocated_peak_bytes", one.allocated_peak_bytes);
    json_.field("pending_peak_bytes", one.pending_peak_bytes);
    moment("reserved_peak", one.reserved_peak);
    moment("end", one.end);
    json_.key("streams").begin_array();
    for (const StreamPressure& stream : one.streams) {
      json_.begin_object();
      json_.field("stream", stream.stream);
      json_.field("allocated_peak_bytes", stream.allocated_peak_bytes);
      json_.field("allocated_end_bytes", stream.allocated_end_bytes);
      json_.field("pending_peak_bytes", stream.pending_peak_bytes);
      json_.field("pending_end_bytes", stream.pending_end_bytes);
      json_.field("pending_frees", stream.pending_frees);
      json_.end_object();
    }
    json_.end_array();
    json_.key("pools").begin_array();
    for (const PoolPressure& pool : one.pools) {
      json_.begin_object();
      json_.field("pool", pool.pool);
      json_.field("stream", pool.stream);
      json_.field("segments", pool.segments);
      json_.field("reserved_bytes", pool.reserved_bytes);
      json_.field("allocated_bytes", pool.allocated_bytes);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void api(std::uint32_t call) {
    json_.key("api");
    write_call(report_, call, json_);
  }

  void growth(const Growth& one) {
    json_.begin_object();
    api(one.api);
    json_.field("iterations", one.iterations);
    json_.field("first_bytes", one.first_bytes);
    json_.field("last_bytes", one.last_bytes);
    json_.field("bytes_per_iteration", one.bytes_per_iteration());
    json_.end_object();
  }

  void failure(const FailurePressure& one) {
    json_.begin_object();
    api(one.api);
    json_.field("requested_bytes", one.requested_bytes);
    if (one.device_free_bytes) json_.field("device_free_bytes", *one.device_free_bytes);
    json_.field("cause", word(one.cause));
    if (one.planned_bytes) {
      json_.field("planned_bytes", *one.planned_bytes);
      json_.field("planned_by", one.planned_by);
    }
    moment("moment", one.moment);
    json_.key("live").begin_array();
    for (const SiteBytes& site : one.live) {
      json_.begin_object();
      api(site.api);
      json_.field("bytes", site.bytes);
      json_.field("blocks", site.blocks);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  const Report& report_;
  JsonWriter& json_;
};

}  // namespace

void write_pressure(const Report& report, JsonWriter& json) {
  PressureWriter(report, json).write(*report.pressure);
}

}  // namespace drgpum
