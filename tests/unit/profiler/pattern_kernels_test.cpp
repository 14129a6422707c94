// SPDX-License-Identifier: Apache-2.0
// The pattern kernels, as the PTX that a GPU would get, against the host's own reduction.
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include <gtest/gtest.h>

#include "profiler/map_reduction.h"
#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::profiler {
namespace {

using Words = std::vector<std::uint32_t>;
using emulator::exec::testing::Machine;

constexpr std::uint32_t kRunRoom = 64;

std::string kernels() {
  std::ifstream file(PATTERN_PTX);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Map {
  Words reads, writes, counts;
  std::uint64_t cells = 0;
};

// Cells accessed in runs, with counts from 1 to very many.
Map random_map(std::mt19937& random, std::uint64_t cells, bool with_counts) {
  Map map;
  map.cells = cells;
  map.reads.resize((cells + 31) / 32);
  map.writes = map.reads;
  if (with_counts) map.counts.resize(cells);
  const std::uint64_t longest = 1 + random() % (random() % 4 == 0 ? cells : 40);
  for (std::uint64_t cell = 0; cell < cells;) {
    const std::uint64_t run = 1 + random() % longest;
    const unsigned what = random() % 4;  // nothing, reads, writes, both
    for (std::uint64_t end = std::min(cell + run, cells); cell < end; ++cell) {
      if ((what & 1) != 0) map.reads[cell / 32] |= 1u << (cell % 32);
      if ((what & 2) != 0) map.writes[cell / 32] |= 1u << (cell % 32);
      if (what != 0 && with_counts) {
        map.counts[cell] = static_cast<std::uint32_t>(1 + (random() % 50 == 0 ? random() : random() % 5));
      }
    }
  }
  return map;
}

struct Reduced {
  ReducedMap map;
  std::uint64_t crossed = 0;  // bytes that a profiler would fetch
};

// The kernels over all maps at once.
std::vector<Reduced> run(const std::vector<Map>& maps) {
  Machine machine(kernels());
  std::vector<device::MapJob> jobs;
  std::uint32_t blocks = 1;
  for (const Map& map : maps) {
    const MapParts parts = parts_of(map.cells);
    device::MapJob job{};
    job.read_bits = machine.upload(map.reads);
    job.write_bits = machine.upload(map.writes);
    job.counts = map.counts.empty() ? 0 : machine.upload(map.counts);
    job.summary = machine.upload(std::vector<device::MapSummary>(1));
    job.sums = machine.upload(std::vector<std::uint64_t>(parts.parts));
    job.strip = machine.upload(Words(parts.parts));
    job.runs = machine.upload(std::vector<device::CellRun>(2 * kRunRoom));
    job.cells = static_cast<std::uint32_t>(map.cells);
    job.cells_per_part = static_cast<std::uint32_t>(parts.cells_per_part);
    job.parts = static_cast<std::uint32_t>(parts.parts);
    job.run_room = kRunRoom;
    blocks = std::max(blocks, (job.parts + 7) / 8);
    jobs.push_back(job);
  }
  const std::uint64_t address = machine.upload(jobs);
  const auto count = static_cast<std::uint32_t>(jobs.size());
  const auto summed = machine.run(device::kSumCellsKernel, {std::min(blocks, 5u), count, 1},
                                  {device::kPatternThreads, 1, 1}, address);
  EXPECT_FALSE(summed.fault) << summed.fault->text;
  const auto found = machine.run(device::kFindRunsKernel, {count, 1, 1},
                                 {device::kPatternThreads, 1, 1}, address);
  EXPECT_FALSE(found.fault) << found.fault->text;

  std::vector<Reduced> results;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const device::MapJob& job = jobs[i];
    const std::uint64_t bytes = maps[i].cells;  // cells of one byte
    Reduced result;
    result.map.summary = machine.download<device::MapSummary>(job.summary, 1)[0];
    result.map.strip = machine.download<std::uint32_t>(job.strip, job.parts);
    const auto runs = machine.download<device::CellRun>(job.runs, std::size_t{2} * kRunRoom);
    const std::span<const device::CellRun> all(runs);
    const auto listed = [&](std::uint32_t number) { return std::min(number, kRunRoom); };
    result.map.read_ranges =
        ranges_of(all.first(listed(result.map.summary.read_runs)), 0, bytes);
    result.map.written_ranges = ranges_of(
        all.subspan(kRunRoom).first(listed(result.map.summary.written_runs)), 0, bytes);
    results.push_back(std::move(result));
  }
  return results;
}

ReducedMap on_host(const Map& map) {
  RawMap raw;
  raw.read_bits = map.reads;
  raw.write_bits = map.writes;
  raw.counts = map.counts;
  raw.object_bytes = map.cells;
  return reduce_map(raw);
}

void expect_same(const ReducedMap& device, ReducedMap host, const std::string& what) {
  EXPECT_EQ(std::memcmp(&device.summary, &host.summary, sizeof host.summary), 0) << what;
  EXPECT_EQ(device.summary.read_runs, host.summary.read_runs) << what;
  EXPECT_EQ(device.summary.largest_unaccessed, host.summary.largest_unaccessed) << what;
  EXPECT_EQ(device.strip, host.strip) << what;
  if (host.read_ranges.size() > kRunRoom) host.read_ranges.resize(kRunRoom);
  if (host.written_ranges.size() > kRunRoom) host.written_ranges.resize(kRunRoom);
  EXPECT_EQ(device.read_ranges, host.read_ranges) << what;
  EXPECT_EQ(device.written_ranges, host.written_ranges) << what;
}

TEST(PatternKernels, FindWhatTheHostFinds) {
  std::mt19937 random(11);
  std::vector<Map> maps;
  for (const std::uint64_t cells : {1, 31, 32, 33, 64, 511, 512, 513, 5000, 8192, 20'001}) {
    for (const bool with_counts : {true, false})
      maps.push_back(random_map(random, cells, with_counts));
  }
  const std::vector<Reduced> reduced = run(maps);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    expect_same(reduced[i].map, on_host(maps[i]),
                "map " + std::to_string(i) + ", " + std::to_string(maps[i].cells) + " cells");
  }
}

TEST(PatternKernels, WholeEmptyAndStripedMapsAreNoSpecialCase) {
  std::vector<Map> maps;
  for (const std::uint32_t word : {0u, ~0u, 0x55555555u, 0xffff0000u, 1u, 0x80000000u}) {
    Map map;
    map.cells = 9000;
    map.reads.assign((map.cells + 31) / 32, word);
    map.reads.back() &= (1u << (map.cells % 32)) - 1;
    map.writes.assign(map.reads.size(), 0);
    map.counts.resize(map.cells);
    for (std::uint64_t cell = 0; cell < map.cells; ++cell)
      map.counts[cell] = (map.reads[cell / 32] >> (cell % 32) & 1) * 3;
    maps.push_back(std::move(map));
  }
  const std::vector<Reduced> reduced = run(maps);
  for (std::size_t i = 0; i < maps.size(); ++i)
    expect_same(reduced[i].map, on_host(maps[i]), "map " + std::to_string(i));
  EXPECT_EQ(reduced[0].map.summary.largest_unaccessed, 9000u);
  EXPECT_EQ(reduced[1].map.summary.accessed_cells, 9000u);
}

}  // namespace
}  // namespace drgpum::profiler
