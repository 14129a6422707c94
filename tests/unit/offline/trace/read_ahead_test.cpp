// SPDX-License-Identifier: Apache-2.0
// Reading on another thread gives what reading here gives.
#include "offline/trace/read_ahead.h"

#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "proto/trace/trace_text.h"
#include "proto/trace/trace_writer.h"
#include "tests/support/large_trace.h"

namespace drgpum {
namespace {

using namespace trace;

class ReadAheadTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    auto writer = TraceWriter::create(path_, {}, {0, true});
    ASSERT_TRUE(writer) << writer.error().message;
    make_large_trace({GetParam(), 4, 1, 200}, [&](const Record& record) { (*writer)->append(record); });
    (*writer)->finish();
  }
  void TearDown() override { ::unlink(path_.c_str()); }

  TraceReader reader() {
    auto reader = TraceReader::open(path_);
    EXPECT_TRUE(reader) << reader.error().message;
    return *std::move(reader);
  }

  std::string path_ = ::testing::TempDir() + "read_ahead." + std::to_string(::getpid()) + ".drgp";
};

TEST_P(ReadAheadTest, GivesEveryRecordInItsPlace) {
  TraceReader here = reader();
  ReadAhead ahead(reader());
  Record expected;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  for (auto batch = ahead.next(); !batch.empty(); batch = ahead.next()) {
    for (const Record& record : batch) {
      ASSERT_TRUE(here.next(expected));
      ASSERT_EQ(record, expected) << count;
      ++count;
    }
    EXPECT_GE(ahead.bytes_read(), bytes);
    bytes = ahead.bytes_read();
  }
  EXPECT_FALSE(here.next(expected));
  EXPECT_EQ(ahead.summary().records, here.summary().records);
  EXPECT_EQ(ahead.summary().completeness, Completeness::kComplete);
  EXPECT_TRUE(ahead.next().empty());
}

TEST_P(ReadAheadTest, MayStopAnywhere) {
  for (int batches = 0; batches < 4; ++batches) {
    ReadAhead ahead(reader());
    for (int i = 0; i < batches; ++i)
      (void)ahead.next();
  }
}

// A file that is read here, and one that is worth a thread.
INSTANTIATE_TEST_SUITE_P(SmallAndLarge, ReadAheadTest, ::testing::Values(200, 40'000));

}  // namespace
}  // namespace drgpum
