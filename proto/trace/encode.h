// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records to protobuf bytes: each becomes one message `Record` of trace.proto.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "proto/trace/record.h"
#include "proto/wire.h"

namespace drgpum::trace {

// The names already in the file, numbered from 1. A call is encoded with its name's number; the
// NameRecord that defines the number has to come before it.
class NameTable {
 public:
  // The number of `name`: 0 for an empty one and when the table is full (the call then carries its
  // name itself). `added` says that its NameRecord has to be written now.
  std::uint32_t number_of(std::string_view name, bool& added);
  [[nodiscard]] std::uint32_t find(std::string_view name) const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
};

void encode_name(std::uint32_t number, std::string_view name, wire::Encoder& out);

// Appends one message `Record`. Instantiated for every alternative of Record.
template <typename T>
void encode_record(const T& record, const NameTable& names, wire::Encoder& out);

void encode_record(const Record& record, const NameTable& names, wire::Encoder& out);

}  // namespace drgpum::trace
