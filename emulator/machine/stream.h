// SPDX-License-Identifier: Apache-2.0
#pragma once
// Streams and events.

#include <cstdint>
#include <map>

#include <cuda.h>

namespace drgpum::emulator {

struct Context;
struct Capture;

enum class StreamKind : std::uint8_t { kLegacy, kPerThread, kCreated };

struct Stream {
  Context* context = nullptr;
  StreamKind kind = StreamKind::kCreated;
  unsigned flags = 0;
  int priority = 0;
  std::uint64_t id = 0;
  std::uint64_t ready_ns = 0;     // virtual time at which all work issued so far is done
  std::uint64_t host_ticket = 0;  // of the last host function that this stream waits for
  Capture* capture = nullptr;     // while the stream records a graph
  std::map<int, CUlaunchAttributeValue> attributes;

  // Ordered with the legacy default stream.
  [[nodiscard]] bool is_blocking() const {
    return (flags & 1u) == 0 && kind != StreamKind::kLegacy;
  }
};

struct Event {
  Context* context = nullptr;
  unsigned flags = 0;
  bool recorded = false;
  std::uint64_t time_ns = 0;
  std::uint64_t host_ticket = 0;
  // Recorded in a stream that captures.
  Capture* capture = nullptr;
  std::uint64_t capture_id = 0;
};

}  // namespace drgpum::emulator
