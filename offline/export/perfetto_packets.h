// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packets of Perfetto's trace format, written one after the other. Field numbers are those of
// trace_packet.proto, track_descriptor.proto, counter_descriptor.proto, track_event.proto,
// interned_data.proto and debug_annotation.proto in Perfetto's published sources.

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>

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

  // An event is written between the two; its fields in between. Names and repeated texts are
  // written once, as far as there is room for them in memory.
  void begin_event(PerfettoEvent type, std::uint64_t track, std::uint64_t ns);
  void end_event();
  void name(std::string_view text);
  void category(std::string_view text);
  void counter(std::uint64_t value);
  void annotate(std::string_view name, std::string_view text);
  void annotate_repeated(std::string_view name, std::string_view text);
  void annotate(std::string_view name, std::uint64_t number);
  void annotate_address(std::string_view name, std::uint64_t address);

 private:
  // Texts of one field of InternedData, and their numbers from 1.
  struct Interned {
    std::uint32_t field = 0;
    std::unordered_map<std::string, std::uint64_t> numbers = {};
  };

  void begin_packet(std::uint64_t flags);
  std::uint64_t number_of(Interned& interned, std::string_view text);  // 0: write it here
  std::size_t begin_annotation(std::string_view name);
  void end_packet();
  void flush();

  std::ostream& out_;
  wire::Encoder encoder_;
  wire::Encoder new_texts_;  // InternedData of the event that is being written
  Interned categories_{1};
  Interned names_{2};
  Interned annotation_names_{3};
  Interned annotation_texts_{29};
  std::size_t packet_ = 0;
  std::size_t event_ = 0;
  bool is_first_ = true;
};

}  // namespace drgpum
