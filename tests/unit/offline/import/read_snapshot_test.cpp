// SPDX-License-Identifier: Apache-2.0
#include "offline/import/read_snapshot.h"

#include <string>

#include <gtest/gtest.h>
#include <zstd.h>

namespace drgpum {
namespace {

using namespace std::string_literals;

const std::string kJson = R"({"segments": [{"address": 4096, "total_size": 2097152, "stream": 0, "device": 0,
  "segment_type": "small", "blocks": [{"size": 512, "state": "active_allocated"}, {"size": 1024, "state": "inactive"}]}],
  "device_traces": [[{"action": "alloc", "addr": 4096, "size": 512, "stream": 7, "time_us": 5, "frames":
  [{"filename": "a.py", "name": "f", "line": 3}, {"filename": "a.py", "name": "g", "line": -1}]},
  {"action": "oom", "device_free": 100, "size": 1180591620717411303424, "stream": 0},
  {"action": "oom", "device_free": 100, "size": 99, "stream": 0},
  {"action": "annotate", "addr": 0, "size": 0, "user_metadata": {"a": [1, null]}}]]})";

AllocatorHistory read(std::string bytes) {
  Result<AllocatorHistory> history = read_snapshot(ByteStream::from_bytes(std::move(bytes)));
  EXPECT_TRUE(history) << history.error().message;
  return history ? *std::move(history) : AllocatorHistory();
}

std::string error_of(std::string bytes) {
  const Result<AllocatorHistory> history = read_snapshot(ByteStream::from_bytes(std::move(bytes)));
  return history ? "none" : history.error().message;
}

std::string zstd(const std::string& bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  return packed;
}

TEST(ReadSnapshotTest, JsonGivesRows) {
  const AllocatorHistory history = read(kJson);
  ASSERT_EQ(history.events.size(), 4u);
  EXPECT_EQ(history.events[0].address, 4096u);
  EXPECT_EQ(history.streams.at(history.events[0].stream), 7u);
  EXPECT_EQ(history.events[0].tick, 5);
  ASSERT_EQ(history.frames.size(), 2u);
  EXPECT_EQ(history.texts[history.frames[0].file], "a.py");
  EXPECT_EQ(history.frames[1].line, 0u);
  EXPECT_EQ(history.events[2].action, AllocatorAction::kOutOfMemory);
  EXPECT_EQ(history.events[2].address, 100u);
  EXPECT_EQ(history.texts[history.notes[history.events[3].note].text], "a=1, none");
  ASSERT_EQ(history.segments.size(), 1u);
  EXPECT_EQ(history.blocks[1].address, 4096u + 512);
  ASSERT_EQ(history.faults.size(), 2u);  // the line and the size of 2^70
}

TEST(ReadSnapshotTest, PackedFilesReadTheSame) {
  EXPECT_EQ(read(zstd(kJson)).events.size(), 4u);
  EXPECT_EQ(error_of(zstd(kJson).substr(0, 60)), "the packed file is cut off");
}

TEST(ReadSnapshotTest, NumbersOfAllWidths) {
  // {'segments': [], 'device_traces': [[{'action': 'alloc', 'addr': 2**63 + 512, 'size': 512}]]}
  const std::string pickle =
      "\x80\x02}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces](](}(X\x06\0\0\0action"
      "X\x05\0\0\0allocX\x04\0\0\0addr\x8a\x09\0\x02\0\0\0\0\0\x80\0X\x04\0\0\0sizeM\0\x02ueeu."s;
  const AllocatorHistory history = read(pickle);
  ASSERT_EQ(history.events.size(), 1u);
  EXPECT_EQ(history.events[0].address, (std::uint64_t{1} << 63) + 512);
}

TEST(ReadSnapshotTest, ProtocolZeroReadsAsText) {
  const std::string pickle =
      "(dp0\nVsegments\np1\n(lp2\nsVdevice_traces\n(l(l(dVaction\nVsnapshot\nsVaddr\nI0\nsVsize\nL0L\nsaas."s;
  EXPECT_EQ(read(pickle).events.size(), 1u);
}

TEST(ReadSnapshotTest, OtherContentIsNamed) {
  EXPECT_EQ(error_of("\x80\x04}."), "is no memory snapshot: it has neither 'segments' nor 'device_traces'");
  EXPECT_EQ(error_of("\x80\x02}c."),
            "byte 3: the opcode GLOBAL makes or calls something; a snapshot holds plain data only");
  EXPECT_NE(error_of("{\"segments\": x").find("byte 13: "), std::string::npos);
}

}  // namespace
}  // namespace drgpum
