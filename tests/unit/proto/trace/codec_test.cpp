// SPDX-License-Identifier: Apache-2.0
// Records through the encoder and back, and through protobuf's own code built from trace.proto.
#include <string>
#include <vector>

#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include "proto/trace/decode.h"
#include "proto/trace/encode.h"
#include "tests/support/random_records.h"
#include "trace.pb.h"

namespace drgpum::trace {
namespace {

using Outcome = RecordDecoder::Outcome;

std::string encoded(const Record& record, const NameTable& names = {}) {
  wire::Encoder out;
  encode_record(record, names, out);
  return {reinterpret_cast<const char*>(out.bytes().data()), out.bytes().size()};
}

std::span<const std::uint8_t> as_span(const std::string& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

bool has_unknown_fields(const google::protobuf::Message& message) {
  const auto* reflection = message.GetReflection();
  if (!reflection->GetUnknownFields(message).empty()) return true;
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      if (has_unknown_fields(reflection->GetMessage(message, field))) return true;
      continue;
    }
    for (int k = 0; k < reflection->FieldSize(message, field); ++k)
      if (has_unknown_fields(reflection->GetRepeatedMessage(message, field, k))) return true;
  }
  return false;
}

class EveryRecord : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryRecord, ComesBackAsItWas) {
  RandomRecords random(static_cast<std::uint32_t>(GetParam()) + 1);
  RecordDecoder decoder;
  for (int round = 0; round < 500; ++round) {
    const Record record = random.of_kind(GetParam());
    Record back;
    ASSERT_EQ(decoder.decode(as_span(encoded(record)), back), Outcome::kRecord);
    ASSERT_EQ(back, record);
  }
  EXPECT_EQ(decoder.unknown_fields(), 0u);
  EXPECT_EQ(decoder.unknown_records(), 0u);
}

TEST_P(EveryRecord, WithDefaultValuesComesBack) {
  Record record;
  [&]<std::size_t... all>(std::index_sequence<all...>) {
    ((all == GetParam() ? void(record.emplace<all>()) : void()), ...);
  }
  (std::make_index_sequence<std::variant_size_v<Record>>());
  RecordDecoder decoder;
  Record back;
  ASSERT_EQ(decoder.decode(as_span(encoded(record)), back), Outcome::kRecord);
  EXPECT_EQ(back, record);
}

// protobuf's own code parses what we write, knows every field of it, and what it writes we read.
TEST_P(EveryRecord, MeansTheSameToProtobuf) {
  RandomRecords random(static_cast<std::uint32_t>(GetParam()) + 100);
  RecordDecoder decoder;
  for (int round = 0; round < 200; ++round) {
    const Record record = random.of_kind(GetParam());
    pb::Record message;
    ASSERT_TRUE(message.ParseFromString(encoded(record)));
    ASSERT_EQ(message.record_case(), static_cast<int>(GetParam()) + 1);
    ASSERT_FALSE(has_unknown_fields(message)) << message.DebugString();
    Record back;
    ASSERT_EQ(decoder.decode(as_span(message.SerializeAsString()), back), Outcome::kRecord);
    ASSERT_EQ(back, record) << message.DebugString();
  }
}

TEST_P(EveryRecord, CutAnywhereNeitherCrashesNorReadsBeyond) {
  RandomRecords random(static_cast<std::uint32_t>(GetParam()) + 7);
  const std::string whole = encoded(random.of_kind(GetParam()));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    RecordDecoder decoder;
    Record back;
    const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<long>(size));
    EXPECT_EQ(decoder.decode(cut, back), Outcome::kCorrupt);
  }
}

INSTANTIATE_TEST_SUITE_P(Codec, EveryRecord,
                         testing::Range<std::size_t>(0, std::variant_size_v<Record>));

TEST(CodecTest, FieldsCarryTheirOwnNumbers) {
  GpuApi api;
  api.id = {7};
  api.kind = ApiKind::kMemcpy;
  api.stream = {3};
  api.host_begin_ns = 11;
  api.name = "cudaMemcpyAsync";
  MemcpyApi copy;
  copy.direction = CopyDirection::kDeviceToHost;
  copy.source = {.object = {4}, .offset = 16, .width = 64};
  copy.destination.is_host = true;
  copy.async = true;
  api.payload = copy;
  pb::Record message;
  ASSERT_TRUE(message.ParseFromString(encoded(api)));
  EXPECT_EQ(message.api().id(), 7u);
  EXPECT_EQ(message.api().kind(), pb::API_MEMCPY);
  EXPECT_EQ(message.api().stream(), 4u);  // plus one
  EXPECT_EQ(message.api().host_begin_ns(), 11u);
  EXPECT_EQ(message.api().inline_name(), "cudaMemcpyAsync");
  EXPECT_EQ(message.api().memcpy().direction(), pb::COPY_DEVICE_TO_HOST);
  EXPECT_EQ(message.api().memcpy().source().object(), 5u);  // plus one
  EXPECT_EQ(message.api().memcpy().source().offset(), 16u);
  EXPECT_EQ(message.api().memcpy().destination().object(), 0u);  // none
  EXPECT_TRUE(message.api().memcpy().async());
}

TEST(CodecTest, NamesAreWrittenOnce) {
  NameTable names;
  bool added = false;
  EXPECT_EQ(names.number_of("cudaMalloc", added), 1u);
  EXPECT_TRUE(added);
  EXPECT_EQ(names.number_of("cudaFree", added), 2u);
  EXPECT_EQ(names.number_of("cudaMalloc", added), 1u);
  EXPECT_FALSE(added);
  EXPECT_EQ(names.number_of("", added), 0u);

  GpuApi api;
  api.name = "cudaFree";
  wire::Encoder name1;
  wire::Encoder name2;
  encode_name(1, "cudaMalloc", name1);
  encode_name(2, "cudaFree", name2);
  RecordDecoder decoder;
  Record back;
  EXPECT_EQ(decoder.decode(as_span(encoded(api, names)), back), Outcome::kCorrupt);  // not defined
  EXPECT_EQ(decoder.decode(name1.bytes(), back), Outcome::kNothing);
  EXPECT_EQ(decoder.decode(name2.bytes(), back), Outcome::kNothing);
  ASSERT_EQ(decoder.decode(as_span(encoded(api, names)), back), Outcome::kRecord);
  EXPECT_EQ(std::get<GpuApi>(back).name, "cudaFree");
}

TEST(CodecTest, WhatALaterVersionAddedIsSkippedAndCounted) {
  RecordDecoder decoder;
  Record back;
  wire::Encoder later;
  std::size_t mark = later.begin_message(63);  // a record that this version does not know
  later.varint_field(1, 5);
  later.end_message(mark);
  EXPECT_EQ(decoder.decode(later.bytes(), back), Outcome::kNothing);
  EXPECT_EQ(decoder.unknown_records(), 1u);

  later.clear();
  mark = later.begin_message(3);  // ContextRecord with a new field
  later.varint_field(1, 5);
  later.bytes_field(900, "new");
  later.end_message(mark);
  ASSERT_EQ(decoder.decode(later.bytes(), back), Outcome::kRecord);
  EXPECT_EQ(std::get<ContextRecord>(back).id, ContextId{5});
  EXPECT_EQ(decoder.unknown_fields(), 1u);

  later.clear();
  mark = later.begin_message(12);  // ObjectRecord of a new kind
  later.varint_field(2, 250);
  later.end_message(mark);
  EXPECT_EQ(decoder.decode(later.bytes(), back), Outcome::kNothing);
  EXPECT_EQ(decoder.unknown_records(), 2u);
}

TEST(CodecTest, ValuesOfTheWrongTypeOrSizeAreRefused) {
  RecordDecoder decoder;
  Record back;
  wire::Encoder bad;
  std::size_t mark = bad.begin_message(3);
  bad.varint_field(1, std::uint64_t{1} << 32);  // ContextRecord.id has 32 bits
  bad.end_message(mark);
  EXPECT_EQ(decoder.decode(bad.bytes(), back), Outcome::kCorrupt);
  bad.clear();
  mark = bad.begin_message(3);
  bad.bytes_field(1, "text");
  bad.end_message(mark);
  EXPECT_EQ(decoder.decode(bad.bytes(), back), Outcome::kCorrupt);
}

}  // namespace
}  // namespace drgpum::trace
