// SPDX-License-Identifier: Apache-2.0
#include "emulator/sanitizer/map_path.h"

#include <array>
#include <bit>
#include <new>
#include <type_traits>

#include "emulator/sanitizer/twin_memory.h"
#include "proto/device/mark_access.h"

namespace drgpum::emulator::sanitizer {
namespace {

constexpr std::uint32_t kLanes = 32;
constexpr std::uint32_t kAllLanes = ~std::uint32_t{0};

// What the functions below find in the path.
struct State {
  std::uint64_t begin;  // of the object
  std::uint64_t read_bits;
  std::uint64_t write_bits;
  std::uint32_t* counts;
  std::uint64_t* lanes;
  std::uint32_t size;
  std::uint8_t cell_shift;
  bool one_cell;  // is what an access that is aligned touches
};
static_assert(sizeof(State) <= exec::ShortPath::kStateBytes);

State state_of(const exec::ShortPath& path) {
  return *std::launder(reinterpret_cast<const State*>(path.state.data()));
}

template <typename Memory>
void mark_bits(const State& state, std::uint32_t first, std::uint32_t last) {
  if (state.read_bits != 0) device::mark_cell_bits<Memory>(state.read_bits, first, last);
  if (state.write_bits != 0) device::mark_cell_bits<Memory>(state.write_bits, first, last);
}

template <typename Memory>
void count_lanes(const State& state, std::uint32_t lanes) {
  if (state.lanes != nullptr) Memory::add(state.lanes, std::uint64_t{lanes});
}

template <typename Memory>
void count_cells(std::uint32_t* cells, std::uint32_t count, std::uint32_t lanes) {
  if constexpr (std::is_same_v<Memory, OfHost<OneThread>>) {
    const auto add = [=](std::uint32_t& cell) {
      cell += cell < device::kFullCount ? lanes : 0;
    };
    if (count == kLanes) {  // the usual row, without a loop's ends
      for (std::uint32_t i = 0; i < kLanes; ++i)
        add(cells[i]);
      return;
    }
    for (std::uint32_t i = 0; i < count; ++i)
      add(cells[i]);
  } else {
    for (std::uint32_t i = 0; i < count; ++i)
      device::count_cell<Memory>(&cells[i], lanes);
  }
}

// Bytes [first, first + bytes) by `lanes` lanes each.
template <typename Memory>
void map_run(const State& state, std::uint64_t first, std::uint32_t bytes, std::uint32_t lanes) {
  const std::uint64_t offset = first - state.begin;
  const auto begin = static_cast<std::uint32_t>(offset >> state.cell_shift);
  const auto last = static_cast<std::uint32_t>((offset + bytes - 1) >> state.cell_shift);
  mark_bits<Memory>(state, begin, last);
  if (state.counts != nullptr) {
    count_cells<Memory>(state.counts + begin, last - begin + 1, lanes);
  }
}

template <typename Memory>
void map_contiguous(const exec::ShortPath& path, std::uint64_t first) {
  const State state = state_of(path);
  map_run<Memory>(state, first, state.size * kLanes, 1);
  count_lanes<Memory>(state, kLanes);
}

template <typename Memory>
void map_uniform(const exec::ShortPath& path, std::uint64_t first) {
  const State state = state_of(path);
  map_run<Memory>(state, first, state.size, kLanes);
  count_lanes<Memory>(state, kLanes);
}

// The step within both halves of a warp, as in blocks 16 threads wide, if it is `size` or 0.
std::optional<std::uint64_t> step_of_halves(const std::uint64_t* addresses, std::uint64_t size) {
  constexpr std::uint32_t kHalf = kLanes / 2;
  const std::uint64_t step = addresses[1] - addresses[0];
  if ((step != 0 && step != size) || addresses[kHalf + 1] - addresses[kHalf] != step)
    return std::nullopt;
  std::uint64_t differs = 0;
  for (std::uint32_t i = 0; i < kHalf; ++i)
    differs |= ((addresses[i] - addresses[0]) ^ (step * i)) |
               ((addresses[kHalf + i] - addresses[kHalf]) ^ (step * i));
  return differs == 0 ? std::optional(step) : std::nullopt;
}

// A kernel with an access that is not aligned fails; until then, it may touch two cells.
bool is_aligned(std::uint32_t mask, const std::uint64_t* addresses, std::uint32_t size) {
  std::uint64_t low = 0;
  for (std::uint32_t i = 0; i < kLanes; ++i)
    low |= (mask >> i & 1) != 0 ? addresses[i] : 0;
  return (low & (size - 1)) == 0;
}

// Each lane one cell.
template <typename Memory>
void map_cells(const State& state, std::uint32_t mask, const std::uint64_t* addresses) {
  std::array<std::uint32_t, kLanes> cells;
  for (std::uint32_t i = 0; i < kLanes; ++i)
    cells[i] = static_cast<std::uint32_t>((addresses[i] - state.begin) >> state.cell_shift);
  const auto mark = [&](std::uint64_t bits) {
    auto* words = Memory::template at<std::uint32_t>(bits);
    for_each_lane(mask, [&](int lane) {
      device::mark_word<Memory>(&words[cells[lane] >> 5], 1U << (cells[lane] & 31));
    });
  };
  if (state.read_bits != 0) mark(state.read_bits);
  if (state.write_bits != 0) mark(state.write_bits);
  if (state.counts == nullptr) return;
  for_each_lane(mask,
                [&](int lane) { device::count_cell<Memory>(&state.counts[cells[lane]], 1U); });
}

template <typename Memory>
void map_scattered(const exec::ShortPath& path, std::uint32_t mask,
                   const std::uint64_t* addresses) {
  const State state = state_of(path);
  count_lanes<Memory>(state, static_cast<std::uint32_t>(std::popcount(mask)));
  const bool aligned = is_aligned(mask, addresses, state.size);
  if (const auto step = mask == kAllLanes && aligned ? step_of_halves(addresses, state.size)
                                                     : std::nullopt) {
    const std::uint32_t bytes = *step == 0 ? state.size : state.size * kLanes / 2;
    for (const std::uint32_t lane : {0U, kLanes / 2})
      map_run<Memory>(state, addresses[lane], bytes, *step == 0 ? kLanes / 2 : 1);
    return;
  }
  if (aligned && state.one_cell) return map_cells<Memory>(state, mask, addresses);
  for_each_lane(mask, [&](int lane) { map_run<Memory>(state, addresses[lane], state.size, 1); });
}

template <typename Memory>
void set_functions(exec::ShortPath& path) {
  path.contiguous = map_contiguous<Memory>;
  path.uniform = map_uniform<Memory>;
  path.scattered = map_scattered<Memory>;
}

}  // namespace

std::optional<exec::ShortPath> map_path(const MapTarget& target, bool alone) {
  const std::uint64_t cell = std::uint64_t{1} << target.map.cell_shift;
  if (!std::has_single_bit(target.size)) return std::nullopt;
  const bool lines_up = target.object.begin % target.size == 0;
  // Lanes of a run have cells of their own.
  if (target.map.counts != 0 && (!lines_up || target.size < cell)) return std::nullopt;
  exec::ShortPath path;
  path.range = {target.object.begin, target.object.end};
  const bool has_bits = target.map.read_bits != 0 || target.map.write_bits != 0;
  if (!has_bits && target.map.counts == 0 && target.lanes == 0) return path;
  ::new (path.state.data()) State{target.object.begin,
                                  target.map.read_bits,
                                  target.map.write_bits,
                                  reinterpret_cast<std::uint32_t*>(target.map.counts),
                                  reinterpret_cast<std::uint64_t*>(target.lanes),
                                  target.size,
                                  static_cast<std::uint8_t>(target.map.cell_shift),
                                  lines_up && target.size <= cell};
  if (alone)
    set_functions<OfHost<OneThread>>(path);
  else
    set_functions<OfHost<AnyThread>>(path);
  return path;
}

}  // namespace drgpum::emulator::sanitizer
