// SPDX-License-Identifier: Apache-2.0
#pragma once
// Protobuf bytes back to records. What a later version added is skipped and counted; bytes that are
// no record are refused. Lengths in the input reserve no memory.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proto/trace/record.h"

namespace drgpum::trace {

class RecordDecoder {
 public:
  enum class Outcome : std::uint8_t {
    kRecord,   // `out` holds it
    kNothing,  // a name, or a record or enumerator of a later version
    kCorrupt,
  };

  // Decodes one message `Record`. `out` is worthless unless kRecord is returned.
  [[nodiscard]] Outcome decode(std::span<const std::uint8_t> message, Record& out);

  [[nodiscard]] std::uint64_t unknown_records() const { return unknown_records_; }
  [[nodiscard]] std::uint64_t unknown_fields() const { return unknown_fields_; }

 private:
  friend struct FieldReader;
  [[nodiscard]] Outcome add_name(std::span<const std::uint8_t> message);

  std::vector<std::string> names_;
  std::uint64_t unknown_records_ = 0;
  std::uint64_t unknown_fields_ = 0;
};

}  // namespace drgpum::trace
