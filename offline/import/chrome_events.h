// SPDX-License-Identifier: Apache-2.0
#pragma once
// The events of a trace in Chrome's JSON format, one by one, never the whole text or tree: an object
// with a list "traceEvents", or that list alone. Of what an event says only what the importer asks
// for is kept. Source: "Trace Event Format" (the Chromium project); the keys of torch.profiler are
// those of Kineto's MetadataFieldCatalog.h.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "offline/import/byte_stream.h"
#include "proto/base/result.h"

namespace drgpum {

enum class ChromeArg : std::uint8_t {
  kAddress, kBytes, kDeviceType, kDeviceId, kTotalAllocated, kTotalReserved,
  kDevice, kStream, kCorrelation, kCopyBytes,
  kCount
};

// A value that has to be a whole number: absent, one, or something else.
struct ChromeNumber {
  bool there = false;
  bool whole = false;
  bool beyond_signed = false;  // bits above 2^63, of an address
  std::int64_t value = 0;
};

struct ChromeEvent {
  std::string phase;
  std::string category;
  std::string name;
  std::string process;  // numbers as text
  std::string thread;
  std::optional<std::int64_t> begin_ns;
  std::int64_t length_ns = 0;
  std::array<ChromeNumber, static_cast<std::size_t>(ChromeArg::kCount)> args;
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint64_t number = 0;  // in the file, from 1
  std::uint64_t byte = 0;    // where it ends in the unpacked file

  const ChromeNumber& arg(ChromeArg which) const { return args[static_cast<std::size_t>(which)]; }
};

// An entry of "deviceProperties".
struct ChromeDevice {
  std::int64_t id = 0;
  std::string name;
  std::int64_t memory_bytes = 0;
  std::int64_t compute_major = 0;
  std::int64_t compute_minor = 0;
};

struct ChromeSink {
  std::function<Status(const ChromeEvent&)> event;
  std::function<void(const ChromeDevice&)> device;
};

// kCorrupt says "byte N: ..." with the offset in the unpacked bytes; an error of the sink ends it.
Status read_chrome_events(ByteStream& bytes, const ChromeSink& sink, const ReadProgress& progress);

}  // namespace drgpum
