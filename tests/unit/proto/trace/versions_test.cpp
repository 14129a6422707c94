// SPDX-License-Identifier: Apache-2.0
// Additions to the schema raise the minor version, and readers of before them read on.
#include <set>
#include <string>

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "proto/base/crc32c.h"
#include "proto/trace/decode.h"
#include "proto/trace/encode.h"
#include "proto/trace/trace_file.h"
#include "trace.pb.h"

namespace drgpum::trace {
namespace {

// Every field and enumerator with its number, in order of their names.
std::set<std::string> schema() {
  std::set<std::string> lines;
  const auto* file = pb::Record::descriptor()->file();
  for (int i = 0; i < file->message_type_count(); ++i) {
    const auto* message = file->message_type(i);
    for (int k = 0; k < message->field_count(); ++k)
      lines.insert(message->field(k)->full_name() + ' ' +
                   std::to_string(message->field(k)->number()));
  }
  for (int i = 0; i < file->enum_type_count(); ++i) {
    const auto* enumeration = file->enum_type(i);
    for (int k = 0; k < enumeration->value_count(); ++k)
      lines.insert(enumeration->value(k)->full_name() + ' ' +
                   std::to_string(enumeration->value(k)->number()));
  }
  return lines;
}

TEST(Versions, AnotherSchemaIsAnotherMinorVersion) {
  std::uint32_t sum = 0;
  for (const std::string& line : schema())
    sum = crc32c_extend(sum, line.data(), line.size());
  EXPECT_EQ(kMinorVersion, 3);
  EXPECT_EQ(sum, 1114045144u) << "fields or enumerators were added: raise kMinorVersion (trace_file.h), say "
                        "in FORMAT.md what came, and put the new numbers here";
}

AccessMapRecord map_of_1_2() {
  AccessMapRecord map;
  map.api = ApiId{3};
  map.object = ObjectId{1};
  map.cell_bytes = 4;
  map.read_ranges = {{0, 64}};
  map.counted_cells = 16;
  map.heat_strip = {1, 2, 3};
  return map;
}

AccessMapRecord map_of_1_3() {
  AccessMapRecord map = map_of_1_2();
  map.accessed_bytes = 64;
  map.largest_unaccessed_bytes = 128;
  map.block_every = 4;
  return map;
}

std::string encoded(const AccessMapRecord& map) {
  wire::Encoder out;
  encode_record(map, {}, out);
  return {reinterpret_cast<const char*>(out.bytes().data()), out.bytes().size()};
}

// The rule that a reader of 1.2 goes by, for whom fields 13 to 15 were unknown: here they are
// unknown under other numbers.
TEST(Versions, AnOlderReaderSkipsWhatItDoesNotKnow) {
  pb::Record record;
  ASSERT_TRUE(record.ParseFromString(encoded(map_of_1_3())));
  pb::AccessMapRecord* map = record.mutable_access_map();
  auto* unknown = map->GetReflection()->MutableUnknownFields(map);
  unknown->AddVarint(113, map->accessed_bytes());
  unknown->AddVarint(114, map->largest_unaccessed_bytes());
  unknown->AddVarint(115, map->block_every());
  map->clear_accessed_bytes();
  map->clear_largest_unaccessed_bytes();
  map->clear_block_every();
  const std::string later = record.SerializeAsString();
  RecordDecoder decoder;
  Record back;
  ASSERT_EQ(decoder.decode({reinterpret_cast<const std::uint8_t*>(later.data()), later.size()},
                           back),
            RecordDecoder::Outcome::kRecord);
  EXPECT_EQ(std::get<AccessMapRecord>(back), map_of_1_2());
  EXPECT_EQ(decoder.unknown_fields(), 3u);
}

// And a record of 1.2 says nothing of them.
TEST(Versions, WhatAnOlderWriterLeftOutIsAbsent) {
  const std::string earlier = encoded(map_of_1_2());
  RecordDecoder decoder;
  Record back;
  ASSERT_EQ(decoder.decode(
                {reinterpret_cast<const std::uint8_t*>(earlier.data()), earlier.size()}, back),
            RecordDecoder::Outcome::kRecord);
  EXPECT_EQ(std::get<AccessMapRecord>(back), map_of_1_2());
  EXPECT_FALSE(std::get<AccessMapRecord>(back).block_every.has_value());
  EXPECT_LT(earlier.size(), encoded(map_of_1_3()).size());
}

}  // namespace
}  // namespace drgpum::trace
