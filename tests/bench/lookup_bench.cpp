// SPDX-License-Identifier: Apache-2.0
// What it costs to find the object of an address, by the number of live objects.

#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "proto/device/mark_access.h"

namespace {

using namespace drgpum::device;

void find(benchmark::State& state) {
  const auto count = static_cast<std::uint64_t>(state.range(0));
  std::vector<ObjectRange> objects;
  for (std::uint64_t i = 0; i < count; ++i)
    objects.push_back({0x7000'0000'0000 + i * 512, 0x7000'0000'0000 + i * 512 + 500});
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> addresses(1 << 14);
  for (std::uint64_t& address : addresses)
    address = 0x7000'0000'0000 + random() % (count * 512);
  std::size_t at = 0;
  for (auto step : state) {
    benchmark::DoNotOptimize(find_object(objects.data(), static_cast<std::uint32_t>(count),
                                         addresses[at++ % addresses.size()]));
  }
}
// Powers of two, whose steps share sets of the caches, and others.
BENCHMARK(find)
    ->RangeMultiplier(16)
    ->Range(1, 1 << 20)
    ->Arg(3'000)
    ->Arg(50'000)
    ->Arg(200'000)
    ->Arg(1'000'000);

}  // namespace

BENCHMARK_MAIN();
