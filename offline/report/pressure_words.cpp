// SPDX-License-Identifier: Apache-2.0
#include "offline/report/line_suffix.h"
#include "offline/report/pressure_forms.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

class PressureWords {
 public:
  explicit PressureWords(const Report& report) : report_(report) {}

  std::vector<std::string> lines() {
    const MemoryPressure& pressure = *report_.pressure;
    for (const FailurePressure& failure : pressure.failures)
      explain(failure);
    for (const DevicePressure& device : pressure.devices)
      describe(device);
    for (const Growth& growth : pressure.growth)
      lines_.push_back("Grows by " + iec_bytes(growth.bytes_per_iteration()) +
                       " per iteration, from " + iec_bytes(growth.first_bytes) + " to " +
                       iec_bytes(growth.last_bytes) + " over " +
                       plural(growth.iterations, "iteration") + ": allocated at " + site(growth.api) +
                       ". What keeps these alive?");
    saving();
    if (!report_.evidence.records_accesses()) lines_.push_back(std::string("AutoSwap: ") + kNoAutoSwap + ".");
    return std::move(lines_);
  }

 private:
  std::string site(std::uint32_t api) const {
    const SourceFrame* frame = report_.site_of(api);
    if (frame == nullptr || (frame->file.empty() && frame->function.empty()))
      return report_.describe_call(api);
    if (frame->file.empty()) return frame->function;
    return frame->function + (frame->function.empty() ? "" : " ") + frame->file +
           line_suffix(frame->line);
  }
  std::string site_of_object(std::uint32_t object) const {
    return site(report_.evidence.objects[object].alloc);
  }

  void explain(const FailurePressure& failure) {
    const PressureMoment& moment = failure.moment;
    std::string text = "Out of memory at call " + std::to_string(failure.api) + ": " +
                       iec_bytes(failure.requested_bytes) + " were asked for at " +
                       site(failure.api) + ". Of " + iec_bytes(moment.reserved_bytes) +
                       " reserved " + iec_bytes(moment.allocated_bytes) + " were in blocks";
    if (moment.pending_bytes > 0)
      text += ", of these " + iec_bytes(moment.pending_bytes) + " freed but waiting for streams";
    text += ", the largest hole had " + iec_bytes(moment.largest_hole_bytes);
    if (failure.device_free_bytes)
      text += ", the device had " + iec_bytes(*failure.device_free_bytes) + " left";
    lines_.push_back(text + ". " + cause(failure) + planned(failure));
    for (const SiteBytes& live : failure.live)
      lines_.push_back("  live then: " + iec_bytes(live.bytes) + " in " +
                       plural(live.blocks, "block") + " from " + site(live.api));
  }

  static std::string cause(const FailurePressure& failure) {
    switch (failure.cause) {
      case FailureCause::kFragmentation:
        return "There was enough, but in pieces: without holes it would have fitted.";
      case FailureCause::kReserve:
        return "A hole was large enough, but it belongs to another stream or pool.";
      case FailureCause::kPending:
        return "With the pending frees done it would have fitted.";
      case FailureCause::kLive:
        break;
    }
    return "What is alive and the request need " +
           iec_bytes(failure.moment.allocated_bytes + failure.requested_bytes) +
           (failure.device_free_bytes
                ? ", there were " + iec_bytes(failure.capacity_bytes()) + "."
                : ".");
  }

  static std::string planned(const FailurePressure& failure) {
    if (!failure.planned_bytes) return "";
    const bool fits =
        failure.device_free_bytes && *failure.planned_bytes <= failure.capacity_bytes();
    return " One planned pool for everything until then, with it, needs " +
           iec_bytes(*failure.planned_bytes) +
           (fits ? ": it would have fitted (`drgpum plan` lays it out)." : ".");
  }

  std::string holes(const PressureMoment& moment) const {
    if (moment.free_bytes() == 0) return "";
    return ", " + iec_bytes(moment.free_bytes()) + " free in " + plural(moment.holes, "hole") +
           ", the largest " + iec_bytes(moment.largest_hole_bytes);
  }

  void describe(const DevicePressure& device) {
    const std::string name = "Device " + std::to_string(device.device);
    const PressureMoment& top = device.reserved_peak;
    const std::string most =
        name + ": blocks hold at most " + iec_and_exact(device.allocated_peak_bytes);
    const std::string last = iec_bytes(device.end.allocated_bytes);
    if (top.reserved_bytes == 0)  // the file tells of no segments
      lines_.push_back(most + ", " + last + " in the end.");
    else
      lines_.push_back(most + "; reserved were at most " + iec_and_exact(top.reserved_bytes) +
                       holes(top) + ". In the end " + last + " of " +
                       iec_bytes(device.end.reserved_bytes) + holes(device.end) + ".");
    for (const StreamPressure& stream : device.streams)
      if (stream.pending_frees > 0) pending(stream);
    const PressureMoment& worse =
        device.end.free_bytes() > top.free_bytes() ? device.end : top;
    for (const PinnedSegment& pinned : worse.pinned) {
      const std::uint64_t size = report_.evidence.objects[pinned.segment].size;
      lines_.push_back("Pinned: " + iec_bytes(pinned.live_bytes) + " in " +
                       plural(pinned.blocks, "block") + " keep a segment of " + iec_bytes(size) +
                       "; the largest is allocated at " + site_of_object(pinned.block));
    }
  }

  void pending(const StreamPressure& stream) {
    lines_.push_back("Pending frees of stream " + stream.stream + ": at most " +
                     iec_bytes(stream.pending_peak_bytes) + ", " +
                     iec_bytes(stream.pending_end_bytes) + " in the end, " +
                     plural(stream.pending_frees, "free") +
                     " waited for work of other streams (record_stream).");
  }

  void saving() {
    if (!report_.smartpool || report_.peaks.empty()) return;
    for (const DevicePressure& device : report_.pressure->devices) {
      if (device.device != report_.peaks.front().device) continue;
      const std::uint64_t reserved = device.reserved_peak.reserved_bytes;
      const std::uint64_t planned = report_.smartpool->footprint_bytes;
      if (report_.level != MemoryLevel::kTensor || planned >= reserved) return;
      lines_.push_back("SmartPool: one planned pool holds all blocks in " + iec_bytes(planned) +
                       ", " + percent_of(reserved - planned, reserved) +
                       " less than was reserved.");
    }
  }

  const Report& report_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> pressure_lines(const Report& report) {
  return PressureWords(report).lines();
}

}  // namespace drgpum
