// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packets of Perfetto's trace format, written one after the other. Field numbers are those of
// trace_packet.proto, track_descriptor.proto, counter_descriptor.proto, track_event.proto and
// debug_annotation.proto in Perfetto's published sources.

#include <cstdint>
#include <ostream>
#include <string_view>

#include "proto/wire.h"

namespace drgpum {

struct PerfettoTrack {
  std::uint64_t uuid = 0;    // from 1
  std::uint64_t parent = 0;  // 0: none
  std::string_view name;
  std::string_view description;
  std::uint32_t rank = 0;  // among the tracks of its parent
  bool counts_bytes = false;
};

enum class PerfettoEvent : std::uint8_t {
  kSliceBegin = 1,
  kSliceEnd = 2,
  kInstant = 3,
  kCounter = 4
};

class PerfettoPackets {
 public:
  explicit PerfettoPackets(std::ostream& out) : out_(out) {}
  ~PerfettoPackets() { flush(); }
  PerfettoPackets(const PerfettoPackets&) = delete;
  PerfettoPackets& operator=(const PerfettoPackets&) = delete;

  void track(const PerfettoTrack& track);

  // An event is written between the two; its fields in between.
  void begin_event(PerfettoEvent type, std::uint64_t track, std::uint64_t ns);
  void end_event();
  void name(std::string_view text) { encoder_.bytes_field(23, text); }
  void category(std::string_view text) { encoder_.bytes_field(22, text); }
  void counter(std::uint64_t value) { encoder_.varint_field(30, value); }
  void annotate(std::string_view name, std::string_view text);
  void annotate(std::string_view name, std::uint64_t number);
  void annotate_address(std::string_view name, std::uint64_t address);

 private:
  void begin_packet();
  void end_packet();
  void flush();

  std::ostream& out_;
  wire::Encoder encoder_;
  std::size_t packet_ = 0;
  std::size_t event_ = 0;
  bool is_first_ = true;
};

}  // namespace drgpum
