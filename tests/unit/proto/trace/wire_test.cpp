// SPDX-License-Identifier: Apache-2.0
// The wire encoding against the examples of the protobuf documentation, and against bad input.
#include "proto/wire.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "proto/base/crc32c.h"

namespace drgpum {
namespace {

using wire::Decoder;
using wire::Encoder;
using wire::Field;

std::vector<std::uint8_t> bytes_of(const Encoder& encoder) {
  return {encoder.bytes().begin(), encoder.bytes().end()};
}

// Vectors of RFC 3720, B.4, and the check value of the CRC catalogue.
TEST(Crc32cTest, AgreesWithPublishedValues) {
  EXPECT_EQ(crc32c_extend(0, "123456789", 9), 0xe3069283u);
  EXPECT_EQ(crc32c_extend(0, std::string(32, '\0').data(), 32), 0x8a9136aau);
  EXPECT_EQ(crc32c_extend(0, std::string(32, '\xff').data(), 32), 0x62a8ab43u);
}

TEST(Crc32cTest, ExtendsAcrossPieces) {
  const std::uint32_t first = crc32c_extend(0, "1234", 4);
  EXPECT_EQ(crc32c_extend(first, "56789", 5), 0xe3069283u);
}

TEST(WireTest, WritesTheExamplesOfTheDocumentation) {
  Encoder encoder;
  encoder.varint_field(1, 150);
  EXPECT_EQ(bytes_of(encoder), (std::vector<std::uint8_t>{0x08, 0x96, 0x01}));
  encoder.clear();
  encoder.bytes_field(2, "testing");
  EXPECT_EQ(bytes_of(encoder),
            (std::vector<std::uint8_t>{0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g'}));
  encoder.clear();
  const std::size_t mark = encoder.begin_message(3);
  encoder.varint_field(1, 150);
  encoder.end_message(mark);
  EXPECT_EQ(bytes_of(encoder), (std::vector<std::uint8_t>{0x1a, 0x03, 0x08, 0x96, 0x01}));
}

TEST(WireTest, ZigzagFollowsTheDocumentation) {
  EXPECT_EQ(wire::zigzag(0), 0u);
  EXPECT_EQ(wire::zigzag(-1), 1u);
  EXPECT_EQ(wire::zigzag(1), 2u);
  EXPECT_EQ(wire::zigzag(-2147483648LL), 4294967295u);
  EXPECT_EQ(wire::unzigzag(4294967294u), 2147483647);
  EXPECT_EQ(wire::unzigzag(wire::zigzag(std::numeric_limits<std::int64_t>::min())),
            std::numeric_limits<std::int64_t>::min());
}

TEST(WireTest, MessagesLongerThan127BytesGetLongerLengths) {
  for (const std::size_t size : {127u, 128u, 16383u, 16384u, 3000000u}) {
    Encoder encoder;
    const std::size_t outer = encoder.begin_message(1);
    const std::size_t inner = encoder.begin_message(2);
    encoder.raw(std::string(size, 'x').data(), size);
    encoder.end_message(inner);
    encoder.varint_field(7, 9);
    encoder.end_message(outer);
    Field field;
    Decoder first(encoder.bytes());
    ASSERT_TRUE(first.next(field));
    Decoder second(field.bytes);
    ASSERT_TRUE(second.next(field));
    EXPECT_EQ(field.bytes.size(), size);
    ASSERT_TRUE(second.next(field));
    EXPECT_EQ(field.value, 9u);
    EXPECT_TRUE(second.done());
  }
}

TEST(WireTest, EveryPowerOfTwoSurvives) {
  for (unsigned shift = 0; shift < 64; ++shift) {
    for (const std::uint64_t value : {std::uint64_t{1} << shift, (std::uint64_t{1} << shift) - 1}) {
      Encoder encoder;
      encoder.varint_field(5, value);
      Decoder decoder(encoder.bytes());
      Field field;
      ASSERT_TRUE(decoder.next(field));
      EXPECT_EQ(field.value, value);
    }
  }
}

class BadBytes : public testing::TestWithParam<std::vector<std::uint8_t>> {};

TEST_P(BadBytes, AreRefused) {
  Decoder decoder(GetParam());
  Field field;
  while (decoder.next(field)) {
  }
  EXPECT_TRUE(decoder.failed());
}

INSTANTIATE_TEST_SUITE_P(
    Wire, BadBytes,
    testing::Values(std::vector<std::uint8_t>{0x08},             // no value
                    std::vector<std::uint8_t>{0x08, 0x80},       // value cut off
                    std::vector<std::uint8_t>{0x00, 0x01},       // field number 0
                    std::vector<std::uint8_t>{0x0b},             // group start
                    std::vector<std::uint8_t>{0x0f, 0x01},       // wire type 7
                    std::vector<std::uint8_t>{0x0a, 0x05, 'a'},  // bytes cut off
                    std::vector<std::uint8_t>{0x09, 1, 2, 3},    // fixed64 cut off
                    std::vector<std::uint8_t>{0x0d, 1, 2, 3},    // fixed32 cut off
                    std::vector<std::uint8_t>{0x08, 0xff, 0xff, 0xff, 0xff, 0xff,
                                              0xff,                           // 11-byte varint
                                              0xff, 0xff, 0xff, 0xff, 0x01},  //
                    std::vector<std::uint8_t>{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff,
                                              0xff,  // length 2^64 - 1
                                              0xff, 0xff, 0xff, 0x01}));

}  // namespace
}  // namespace drgpum
