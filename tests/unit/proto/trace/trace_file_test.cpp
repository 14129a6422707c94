// SPDX-License-Identifier: Apache-2.0
// Trace files: written, read back, cut at every byte, flipped at every bit, killed, out of space.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/crc32c.h"
#include "proto/trace/trace_reader.h"
#include "proto/trace/trace_writer.h"
#include "tests/support/random_records.h"

namespace drgpum::trace {
namespace {

struct ReadBack {
  std::vector<Record> records;
  ReadSummary summary;
};

ReadBack drain(TraceReader reader) {
  ReadBack back;
  Record record;
  while (reader.next(record))
    back.records.push_back(record);
  back.summary = reader.summary();
  return back;
}

ReadBack read_file(const std::string& path) {
  auto reader = TraceReader::open(path);
  EXPECT_TRUE(reader) << reader.error().message;
  return drain(*std::move(reader));
}

std::vector<std::uint8_t> file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TraceFileTest : public testing::Test {
 protected:
  TraceFileTest() {
    char pattern[] = "/tmp/drgpum-trace-XXXXXX";
    directory_ = ::mkdtemp(pattern);
    path_ = directory_ + "/a.drgp";
  }
  ~TraceFileTest() override {
    std::remove(path_.c_str());
    ::rmdir(directory_.c_str());
  }

  // Writes the process record, `count` random ones and the end; returns what a reader should see.
  std::vector<Record> write(std::size_t count, TraceWriter::Options options = {}) {
    ProcessRecord process;
    process.pid = 42;
    auto writer = TraceWriter::create(path_, process, options);
    EXPECT_TRUE(writer) << writer.error().message;
    std::vector<Record> expected{process};
    RandomRecords random(5);
    for (std::size_t k = 0; k < count; ++k)
      expected.push_back(random.next());
    expected.push_back(EndRecord{});
    for (std::size_t k = 1; k < expected.size(); ++k)
      EXPECT_TRUE((*writer)->append(expected[k]));
    (*writer)->finish();
    return expected;
  }

  std::string directory_;
  std::string path_;
};

TEST_F(TraceFileTest, WhatIsWrittenIsRead) {
  const auto expected = write(5000);
  const ReadBack back = read_file(path_);
  EXPECT_EQ(back.records, expected);
  EXPECT_EQ(back.summary.completeness, Completeness::kComplete) << back.summary.reason;
  EXPECT_EQ(back.summary.valid_bytes, back.summary.file_bytes);
  EXPECT_GT(back.summary.frames, 3u);
  EXPECT_EQ(back.summary.header.pid, 42u);
  EXPECT_EQ(back.summary.unknown_fields, 0u);
}

TEST_F(TraceFileTest, RecordsLargerThanAFrameAreSplit) {
  ProcessRecord process;
  auto writer = TraceWriter::create(path_, process);
  ASSERT_TRUE(writer);
  std::vector<Record> expected{process};
  for (const std::size_t size : {65500u, 65519u, 65520u, 65521u, 65536u, 200000u, 9000000u, 3u}) {
    KernelRecord kernel;
    kernel.name.assign(size, 'k');
    expected.push_back(kernel);
    ASSERT_TRUE((*writer)->append(kernel));
  }
  expected.push_back(EndRecord{});
  ASSERT_TRUE((*writer)->append(EndRecord{}));
  (*writer)->finish();
  const ReadBack back = read_file(path_);
  EXPECT_EQ(back.records, expected);
  EXPECT_EQ(back.summary.completeness, Completeness::kComplete) << back.summary.reason;
}

TEST_F(TraceFileTest, CutAtAnyByteItStillGivesThePrefixAndSaysSo) {
  const auto expected = write(60);
  const auto whole = file_bytes(path_);
  std::size_t before = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    auto reader = TraceReader::from_bytes({whole.begin(), whole.begin() + static_cast<long>(size)});
    if (!reader) {
      EXPECT_LT(size, sizeof(FileHeader));
      continue;
    }
    const ReadBack back = drain(*std::move(reader));
    ASSERT_NE(back.summary.completeness, Completeness::kComplete) << size;
    ASSERT_GE(back.records.size(), before);
    before = back.records.size();
    ASSERT_TRUE(std::equal(back.records.begin(), back.records.end(), expected.begin()));
  }
}

TEST_F(TraceFileTest, NoFlippedBitGoesUnnoticed) {
  const auto expected = write(40);
  auto bytes = file_bytes(path_);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1u << (bit % 8)));
    auto reader = TraceReader::from_bytes(bytes);
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1u << (bit % 8)));
    if (!reader) continue;
    const ReadBack back = drain(*std::move(reader));
    ASSERT_NE(back.summary.completeness, Completeness::kComplete) << "bit " << bit;
    ASSERT_FALSE(back.summary.reason.empty());
    ASSERT_LE(back.records.size(), expected.size());
    ASSERT_TRUE(std::equal(back.records.begin(), back.records.end(), expected.begin()));
  }
}

TEST_F(TraceFileTest, DamageIsNamedByItsOffset) {
  write(5000);
  auto bytes = file_bytes(path_);
  FrameHeader first;
  std::memcpy(&first, bytes.data() + sizeof(FileHeader), sizeof first);
  const std::size_t second = sizeof(FileHeader) + sizeof first + padded(first.length);
  bytes[second + 1000] ^= 1;
  const ReadBack back = drain(*TraceReader::from_bytes(bytes));
  EXPECT_EQ(back.summary.completeness, Completeness::kDamaged);
  EXPECT_EQ(back.summary.valid_bytes, second);
  EXPECT_EQ(back.summary.reason, "the checksum does not match at byte " + std::to_string(second));
}

TEST_F(TraceFileTest, AFrameOutOfSequenceIsDamage) {
  write(5000);
  auto bytes = file_bytes(path_);
  FrameHeader first;
  std::memcpy(&first, bytes.data() + sizeof(FileHeader), sizeof first);
  const auto begin = bytes.begin() + sizeof(FileHeader);
  bytes.erase(begin, begin + static_cast<long>(sizeof first + padded(first.length)));
  const ReadBack back = drain(*TraceReader::from_bytes(bytes));
  EXPECT_EQ(back.summary.completeness, Completeness::kDamaged);
  EXPECT_EQ(back.summary.reason, "a frame is out of sequence at byte 64");
  EXPECT_TRUE(back.records.empty());
}

TEST_F(TraceFileTest, AZeroTailIsNoDamageAndOtherTailsAre) {
  const auto expected = write(40);
  const auto whole = file_bytes(path_);
  auto longer = whole;
  longer.resize(whole.size() + (1 << 20), 0);
  ReadBack back = drain(*TraceReader::from_bytes(longer));
  EXPECT_EQ(back.records, expected);
  EXPECT_EQ(back.summary.completeness, Completeness::kComplete);
  longer = whole;
  longer.resize(whole.size() + (1 << 20), 0xff);
  back = drain(*TraceReader::from_bytes(longer));
  EXPECT_EQ(back.records, expected);
  EXPECT_EQ(back.summary.completeness, Completeness::kDamaged);
  EXPECT_EQ(back.summary.valid_bytes, whole.size());
  longer = whole;
  longer.insert(longer.end(), whole.begin(), whole.end());  // two traces back to back
  back = drain(*TraceReader::from_bytes(longer));
  EXPECT_EQ(back.records, expected);
  EXPECT_EQ(back.summary.completeness, Completeness::kDamaged);
}

TEST_F(TraceFileTest, FilesThatAreNoTracesAreToldApart) {
  const auto message = [](std::vector<std::uint8_t> bytes) {
    auto reader = TraceReader::from_bytes(std::move(bytes));
    return reader ? std::string("opened") : reader.error().message;
  };
  EXPECT_EQ(message({}), "the file is empty");
  EXPECT_EQ(message({'P', 'K', 3, 4}), "is not a drgpum trace");
  EXPECT_NE(message({0x89, 'D', 'R', 'G'}).find("ends inside the file header"), std::string::npos);
  write(1);
  auto bytes = file_bytes(path_);
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.major = 2;
  header.crc = crc32c_extend(0, &header, offsetof(FileHeader, crc));
  std::memcpy(bytes.data(), &header, sizeof header);
  EXPECT_NE(message(bytes).find("format version 2"), std::string::npos);
  EXPECT_EQ(TraceReader::open(directory_).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(TraceReader::open("/dev/null").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(TraceReader::open(directory_ + "/none").error().code, ErrorCode::kNotFound);
}

TEST_F(TraceFileTest, LengthsThatLieReserveNothing) {
  write(1);
  auto bytes = file_bytes(path_);
  bytes.resize(sizeof(FileHeader));
  const FrameHeader lie{.length = 0xffffffffu, .crc = 1, .sequence = 0};
  const auto* at = reinterpret_cast<const std::uint8_t*>(&lie);
  bytes.insert(bytes.end(), at, at + sizeof lie);
  const ReadBack back = drain(*TraceReader::from_bytes(bytes));
  EXPECT_EQ(back.summary.completeness, Completeness::kDamaged);
  EXPECT_EQ(back.summary.valid_bytes, sizeof(FileHeader));
}

// Field 63 stands for a record, field 9 for a chunk field, that a later minor version brings.
TEST_F(TraceFileTest, ALaterMinorVersionIsReadAndItsAdditionsAreCounted) {
  wire::Encoder chunk;
  std::size_t record = chunk.begin_message(kChunkRecord);
  const std::size_t later = chunk.begin_message(63);
  chunk.varint_field(1, 1);
  chunk.end_message(later);
  chunk.end_message(record);
  chunk.varint_field(9, 1);
  record = chunk.begin_message(kChunkRecord);
  encode_record(EndRecord{{3}, true, 7}, {}, chunk);
  chunk.end_message(record);
  FrameHeader frame{.length = static_cast<std::uint32_t>(chunk.bytes().size())};
  frame.crc =
      crc32c_extend(crc32c_extend(0, &frame.sequence, 8), chunk.bytes().data(), frame.length);
  FileHeader header;
  header.minor = 9;
  header.crc = crc32c_extend(0, &header, offsetof(FileHeader, crc));
  wire::Encoder file;
  file.raw(&header, sizeof header);
  file.raw(&frame, sizeof frame);
  file.raw(chunk.bytes().data(), chunk.bytes().size());
  file.raw("\0\0\0\0\0\0\0", padded(frame.length) - frame.length);
  const ReadBack back = drain(*TraceReader::from_bytes({file.bytes().begin(), file.bytes().end()}));
  ASSERT_EQ(back.records.size(), 1u);
  EXPECT_EQ(std::get<EndRecord>(back.records[0]).exit_code, 7);
  EXPECT_EQ(back.summary.unknown_records, 1u);
  EXPECT_EQ(back.summary.unknown_fields, 1u);
  EXPECT_EQ(back.summary.records, 2u);
  EXPECT_EQ(back.summary.completeness, Completeness::kUnfinished);
}

TEST_F(TraceFileTest, AnExistingFileIsNotOverwrittenUnlessAsked) {
  const auto expected = write(10);
  auto second = TraceWriter::create(path_, ProcessRecord{});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, path_ + ": exists already; -f replaces it");
  EXPECT_EQ(read_file(path_).records, expected);
  const auto replaced = write(3, {.replace = true});
  EXPECT_EQ(read_file(path_).records, replaced);
  EXPECT_FALSE(TraceWriter::create("/dev/null", ProcessRecord{}, {.replace = true}));
  EXPECT_FALSE(TraceWriter::create(directory_ + "/none/a.drgp", ProcessRecord{}));
}

TEST_F(TraceFileTest, KilledAtAnyMomentItKeepsWhatWasRecorded) {
  for (int round = 0; round < 30; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {  // tells, after each append, how many records are in
      ProcessRecord process;
      auto writer = TraceWriter::create(path_, process, {.replace = true});
      RandomRecords random(static_cast<std::uint32_t>(round));
      for (std::uint64_t done = 1;; ++done) {
        if (::write(pipe_ends[1], &done, sizeof done) != sizeof done) ::_exit(1);
        if (!(*writer)->append(random.next())) ::_exit(1);
      }
    }
    ::close(pipe_ends[1]);
    std::uint64_t done = 0;
    for (std::uint64_t told = 0; done < 1u + 397u * static_cast<std::uint64_t>(round);) {
      ASSERT_EQ(::read(pipe_ends[0], &told, sizeof told), static_cast<ssize_t>(sizeof told));
      done = told;
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    for (std::uint64_t told = 0; ::read(pipe_ends[0], &told, sizeof told) == sizeof told;)
      done = told;
    ::close(pipe_ends[0]);
    const ReadBack back = read_file(path_);
    EXPECT_GE(back.records.size(), done);
    EXPECT_EQ(back.summary.completeness, Completeness::kUnfinished) << back.summary.reason;
    RandomRecords random(static_cast<std::uint32_t>(round));
    for (std::size_t k = 1; k < back.records.size(); ++k)
      ASSERT_EQ(back.records[k], random.next());
  }
}

TEST_F(TraceFileTest, BytesOfARecordThatWasNeverPublishedAreNotDamage) {
  ProcessRecord process;
  auto writer = TraceWriter::create(path_, process);
  ASSERT_TRUE((*writer)->append(ContextRecord{}));
  (*writer)->abandon();
  auto bytes = file_bytes(path_);
  FrameHeader frame;
  std::memcpy(&frame, bytes.data() + sizeof(FileHeader), sizeof frame);
  const std::size_t end = sizeof(FileHeader) + sizeof frame + frame.length;
  for (const std::size_t torn : {1u, 2u, 9u, 300u, 60000u}) {
    auto copy = bytes;
    for (std::size_t k = 0; k < torn; ++k)
      copy[end + k] = static_cast<std::uint8_t>(k * 7 + 1);
    const ReadBack back = drain(*TraceReader::from_bytes(copy));
    EXPECT_EQ(back.records.size(), 2u);
    EXPECT_EQ(back.summary.completeness, Completeness::kUnfinished) << torn;
  }
}

TEST_F(TraceFileTest, AtItsSizeLimitItStopsAndSaysSo) {
  ProcessRecord process;
  auto writer = TraceWriter::create(path_, process, {.max_bytes = 200000});
  ASSERT_TRUE(writer) << writer.error().message;
  RandomRecords random(1);
  std::size_t taken = 1;
  while ((*writer)->append(random.next()))
    ++taken;
  EXPECT_TRUE((*writer)->stopped());
  EXPECT_STREQ((*writer)->stop_reason(), "the size limit is reached");
  EXPECT_FALSE((*writer)->append(EndRecord{}));
  (*writer)->finish();
  const ReadBack back = read_file(path_);
  EXPECT_LE(back.summary.file_bytes, 200000u);
  EXPECT_GT(back.summary.file_bytes, 190000u);
  ASSERT_EQ(back.records.size(), taken + 1);
  const auto& coverage = std::get<CoverageRecord>(back.records.back());
  EXPECT_EQ(coverage.kind, CoverageKind::kSizeLimit);
  EXPECT_EQ(coverage.text, "recording stopped: the size limit is reached");
  EXPECT_EQ(back.summary.completeness, Completeness::kUnfinished);
  EXPECT_EQ(back.summary.reason, "recording stopped: the size limit is reached");
  EXPECT_FALSE(TraceWriter::create(path_, process, {.max_bytes = 1000, .replace = true}));
}

TEST_F(TraceFileTest, PastRlimitFsizeItStopsWithoutASignal) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{3 << 20, 3 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto writer = TraceWriter::create(path_, ProcessRecord{});
    KernelRecord kernel;
    kernel.name.assign(1000, 'x');
    for (int k = 0; k < 10000; ++k)
      (*writer)->append(kernel);
    ::_exit((*writer)->stopped() ? 7 : 8);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  const ReadBack back = read_file(path_);
  EXPECT_GT(back.records.size(), 3000u);
  EXPECT_EQ(back.summary.completeness, Completeness::kUnfinished);
}

TEST_F(TraceFileTest, WhenTheProgramClosesItsDescriptorItStopsAndSparesOtherFiles) {
  auto writer = TraceWriter::create(path_, ProcessRecord{});
  std::FILE* other = nullptr;
  for (int fd = 3; fd < 1024; ++fd)
    ::close(fd);
  other = std::fopen("/dev/null", "w");
  KernelRecord kernel;
  kernel.name.assign(60000, 'x');
  std::size_t taken = 1;
  while ((*writer)->append(kernel))
    ++taken;
  EXPECT_GT(taken, 10u);
  EXPECT_STREQ((*writer)->stop_reason(), "the program closed the trace's file descriptor");
  std::fclose(other);
  const ReadBack back = read_file(path_);
  EXPECT_GE(back.records.size(), taken);
  EXPECT_EQ(back.summary.completeness, Completeness::kUnfinished);
}

}  // namespace
}  // namespace drgpum::trace
