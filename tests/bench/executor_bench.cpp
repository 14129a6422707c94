// SPDX-License-Identifier: Apache-2.0
// Lane instructions per second and core of the emulated device's executor, from PTX that nvcc made;
// and gemm compiled natively, one thread after the other, for comparison in the same run.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::emulator::exec::testing {
namespace {

Machine& machine() {
  static Machine instance = [] {
    std::ifstream file(DRGPUM_BENCH_PTX);
    return Machine(std::string(std::istreambuf_iterator<char>(file), {}));
  }();
  return instance;
}

// Counters are per second of CPU time.
void report(benchmark::State& state, std::uint64_t lanes, std::uint64_t warps) {
  state.counters["lane_instructions"] =
      benchmark::Counter(static_cast<double>(lanes), benchmark::Counter::kIsRate);
  state.counters["warp_instructions"] =
      benchmark::Counter(static_cast<double>(warps), benchmark::Counter::kIsRate);
}

template <typename... T>
void run(benchmark::State& state, const char* kernel, Dim3 grid, Dim3 block, T... arguments) {
  std::uint64_t lanes = 0, warps = 0;
  for (auto _ : state) {
    const LaunchResult result = machine().run(kernel, grid, block, arguments...);
    if (result.fault) state.SkipWithError(result.fault->text.c_str());
    lanes += result.stats.lane_instructions;
    warps += result.stats.warp_instructions;
  }
  report(state, lanes, warps);
}

std::uint64_t floats(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i % 17) * 0.25f;
  return machine().upload(values);
}

void saxpy(benchmark::State& state) {
  constexpr std::uint32_t n = 1 << 18;
  const auto x = floats(n), y = floats(n);
  run(state, "saxpy", {n / 256}, {256}, static_cast<int>(n), 0.5f, x, y);
}

constexpr std::uint32_t kSize = 256;

void gemm(benchmark::State& state) {
  const auto a = floats(kSize * kSize), b = floats(kSize * kSize), c = floats(kSize * kSize);
  run(state, "gemm", {kSize / 32, kSize / 8}, {32, 8}, static_cast<int>(kSize), a, b, c);
}

// A hook that only counts: what observation itself costs.
struct CountingHook : AccessHook {
  void on_access(WarpContext&, const WarpAccess& access) override { lanes += access.mask & 1; }
  void on_block_enter(WarpContext&, std::uint64_t, std::uint32_t) override {}
  void on_block_exit(WarpContext&, std::uint64_t, std::uint32_t) override {}
  void on_device_malloc(WarpContext&, std::uint64_t, std::uint32_t, const std::uint64_t*,
                        const std::uint64_t*) override {}
  void on_device_free(WarpContext&, std::uint64_t, std::uint32_t, const std::uint64_t*) override {}
  [[nodiscard]] std::uint32_t wanted_spaces() const override {
    return 1u << static_cast<unsigned>(ptx::Space::kGlobal);
  }
  [[nodiscard]] bool wants_blocks() const override { return false; }
  std::uint64_t lanes = 0;
};

// The same over a short path.
struct PathHook final : CountingHook {
  void on_access(WarpContext& warp, const WarpAccess& access) override {
    CountingHook::on_access(warp, access);
    if (access.short_path == nullptr) return;
    access.short_path->range = {0, UINT64_MAX};
    access.short_path->contiguous = access.short_path->uniform = count_row;
    access.short_path->scattered = count_lanes;
    ::new (access.short_path->state.data()) CountingHook*(this);
  }
  static CountingHook& hook_of(const ShortPath& path) {
    return **std::launder(reinterpret_cast<CountingHook* const*>(path.state.data()));
  }
  static void count_row(const ShortPath& path, std::uint64_t) { ++hook_of(path).lanes; }
  static void count_lanes(const ShortPath& path, std::uint32_t mask, const std::uint64_t*) {
    hook_of(path).lanes += mask & 1;
  }
};

template <typename Hook>
void gemm_with(benchmark::State& state) {
  Hook hook;
  machine().config.hook = &hook;
  gemm(state);
  machine().config.hook = nullptr;
}

void gemm_hooked(benchmark::State& state) {
  gemm_with<CountingHook>(state);
}

void gemm_short_path(benchmark::State& state) {
  gemm_with<PathHook>(state);
}

void tiled_gemm(benchmark::State& state) {
  const auto a = floats(kSize * kSize), b = floats(kSize * kSize), c = floats(kSize * kSize);
  run(state, "tiled_gemm", {kSize / 16, kSize / 16}, {16, 16}, static_cast<int>(kSize), a, b, c);
}

void stencil(benchmark::State& state) {
  constexpr std::uint32_t n = 1024;
  const auto in = floats(n * n), out = floats(n * n);
  run(state, "stencil", {n / 32, n / 8}, {32, 8}, static_cast<int>(n), in, out);
}

void collatz(benchmark::State& state) {
  constexpr std::uint32_t n = 1 << 14;
  run(state, "collatz", {n / 256}, {256}, static_cast<int>(n), floats(n));
}

void reduce(benchmark::State& state) {
  constexpr std::uint32_t n = 1 << 20;
  run(state, "reduce", {64}, {256}, static_cast<int>(n), floats(n), floats(1));
}

// One call is one thread of the kernel: what a translator of PTX to scalar code would reach.
[[gnu::noinline, gnu::optimize("no-tree-vectorize")]] void native_thread(int n, const float* a,
                                                                         const float* b, float* c,
                                                                         int i, int j) {
  float sum = 0.0f;
#pragma GCC unroll 4
  for (int k = 0; k < n; ++k)
    sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}

// Counted in the instructions that the PTX of the same work executes.
void gemm_native(benchmark::State& state) {
  constexpr auto n = static_cast<int>(kSize);
  std::vector<float> a(kSize * kSize, 0.5f), b(kSize * kSize, 0.25f), c(kSize * kSize);
  const auto pa = floats(kSize * kSize), pb = floats(kSize * kSize), pc = floats(kSize * kSize);
  const LaunchResult counted =
      machine().run("gemm", {kSize / 32, kSize / 8}, {32, 8}, n, pa, pb, pc);
  std::uint64_t lanes = 0, warps = 0;
  for (auto _ : state) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        native_thread(n, a.data(), b.data(), c.data(), i, j);
    benchmark::DoNotOptimize(c.data());
    lanes += counted.stats.lane_instructions;
    warps += counted.stats.warp_instructions;
  }
  report(state, lanes, warps);
}

BENCHMARK(saxpy);
BENCHMARK(gemm);
BENCHMARK(gemm_hooked);
BENCHMARK(gemm_short_path);
BENCHMARK(gemm_native);
BENCHMARK(tiled_gemm);
BENCHMARK(stencil);
BENCHMARK(collatz);
BENCHMARK(reduce);

}  // namespace
}  // namespace drgpum::emulator::exec::testing

BENCHMARK_MAIN();
