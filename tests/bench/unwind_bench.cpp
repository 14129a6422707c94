// SPDX-License-Identifier: Apache-2.0
// What a call path costs in the program, at 25 frames: captured, captured with the program's part
// interned, and glibc's backtrace() beside it, in turns. Prints the medians of single calls, less
// what the clock itself takes.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <execinfo.h>

#include "profiler/call_path.h"

namespace {

using drgpum::profiler::CallPaths;
using drgpum::profiler::HostModules;
using drgpum::profiler::RawCallPath;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kFrames = 25;
constexpr int kRounds = 20'001;

enum Kind : std::size_t { kNothing, kCapture, kIntern, kBacktrace, kKinds };

HostModules modules;
CallPaths paths;
std::array<std::vector<std::int64_t>, kKinds> times;
std::size_t depth = 0;        // frames that capture_call_path() gives
std::size_t glibc_depth = 0;  // that backtrace() gives

template <typename Work>
void measure(Kind kind, const Work& work) {
  const auto begin = Clock::now();
  work();
  times[kind].push_back((Clock::now() - begin).count());
}

void measure_all() {
  static RawCallPath path;
  static std::array<void*, 64> frames;
  measure(kNothing, [] {});
  measure(kCapture, [] { drgpum::profiler::capture_call_path(&path); });
  measure(kIntern, [] {
    drgpum::profiler::capture_call_path(&path);
    modules.refresh();
    paths.intern(drgpum::profiler::program_part({path.frames.data(), path.count}, modules));
  });
  measure(kBacktrace, [] {
    glibc_depth = static_cast<std::size_t>(::backtrace(frames.data(), static_cast<int>(kFrames)));
  });
  depth = path.count;
}

// Each has a return address and a frame size of its own.
template <int left>
__attribute__((noinline)) std::uint64_t call_deeper(std::uint64_t x) {
  volatile std::uint64_t kept[1 + left % 5] = {x};
  if constexpr (left == 0) {
    measure_all();
  } else {
    kept[0] = kept[0] + call_deeper<left - 1>(x + left);
  }
  return kept[0];
}

double median_of(Kind kind) {
  std::vector<std::int64_t>& all = times[kind];
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return static_cast<double>(*middle);
}

}  // namespace

int main() {
  for (auto& all : times)
    all.reserve(kRounds);
  for (int k = 0; k < kRounds; ++k)
    call_deeper<20>(static_cast<std::uint64_t>(k));
  const double clock = median_of(kNothing);
  std::printf("%zu frames (backtrace: %zu), %d rounds, medians:\n", depth, glibc_depth, kRounds);
  std::printf("capture_call_path    %8.0f ns\n", median_of(kCapture) - clock);
  std::printf("captured, interned   %8.0f ns\n", median_of(kIntern) - clock);
  std::printf("glibc backtrace      %8.0f ns\n", median_of(kBacktrace) - clock);
  return 0;
}
