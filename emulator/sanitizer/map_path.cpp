// SPDX-License-Identifier: Apache-2.0
#include "emulator/sanitizer/map_path.h"

#include <algorithm>
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

// What lies in the path for the functions below.
struct Kept {
  std::uint64_t read_bits;
  std::uint64_t write_bits;
  std::uint32_t* counts;
  std::uint64_t* lanes;
  const std::uint32_t* marks;
  std::uint32_t size;
  std::uint8_t cell_shift;
  std::uint8_t cells;  // that one aligned access touches, in one word of bits; 0: it varies
};
static_assert(sizeof(Kept) <= exec::ShortPath::kStateBytes);

struct State : Kept {
  std::uint64_t begin;  // of the object
};

State state_of(const exec::ShortPath& path) {
  return {*std::launder(reinterpret_cast<const Kept*>(path.state.data())), path.range.begin};
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
constexpr bool kAlone = std::is_same_v<Memory, OfHost<OneThread>>;

void add_to_cell(std::uint32_t& cell, std::uint32_t lanes) {
  cell += cell < device::kFullCount ? lanes : 0;
}

template <typename Memory>
void count_cells(std::uint32_t* cells, std::uint32_t count, std::uint32_t lanes) {
  if constexpr (kAlone<Memory>) {
    for (; count >= kLanes; cells += kLanes, count -= kLanes)  // mostly one whole row
      for (std::uint32_t i = 0; i < kLanes; ++i)
        add_to_cell(cells[i], lanes);
    for (std::uint32_t i = 0; i < count; ++i)
      add_to_cell(cells[i], lanes);
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

// Of an object that was only read, or only written, the cells that were counted have their bits.
template <typename Memory>
bool counts_tell_bits(const State& state) {
  constexpr std::uint32_t kBoth = device::kMarkRead | device::kMarkWrite;
  return kAlone<Memory> && state.counts != nullptr && (*state.marks & kBoth) != kBoth;
}

// Each lane `count` cells of its own; N: the same where the compiler may know it, else 0.
template <typename Memory, std::uint32_t N>
void map_cells(const State& state, std::uint32_t mask, const std::uint64_t* addresses,
               std::uint32_t count = N) {
  if constexpr (N != 0) count = N;
  std::array<std::uint32_t, kLanes> cells;
  for (std::uint32_t i = 0; i < kLanes; ++i)
    cells[i] = static_cast<std::uint32_t>((addresses[i] - state.begin) >> state.cell_shift);
  const std::uint32_t bits = ~std::uint32_t{0} >> (32 - count);
  const auto mark = [&](std::uint64_t map, std::uint32_t cell) {
    if (map == 0) return;
    auto* words = Memory::template at<std::uint32_t>(map);
    device::mark_word<Memory>(&words[cell >> 5], bits << (cell & 31));
  };
  if (counts_tell_bits<Memory>(state)) {
    const std::uint64_t map = state.read_bits != 0 ? state.read_bits : state.write_bits;
    for_each_lane(mask, [&](int lane) {
      std::uint32_t* const first = &state.counts[cells[lane]];
      bool is_new = false;
      for (std::uint32_t i = 0; i < count; ++i) {
        is_new |= first[i] == 0;
        add_to_cell(first[i], 1);
      }
      if (is_new) mark(map, cells[lane]);
    });
    return;
  }
  for_each_lane(mask, [&](int lane) {
    mark(state.read_bits, cells[lane]);
    mark(state.write_bits, cells[lane]);
    if (state.counts != nullptr) count_cells<Memory>(&state.counts[cells[lane]], count, 1);
  });
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
  if (aligned && state.cells == 1) return map_cells<Memory, 1>(state, mask, addresses);
  if (aligned && state.cells == 2) return map_cells<Memory, 2>(state, mask, addresses);
  if (aligned && state.cells != 0)
    return map_cells<Memory, 0>(state, mask, addresses, state.cells);
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
  const std::uint64_t cells = std::max<std::uint64_t>(target.size / cell, 1);
  ::new (path.state.data()) Kept{target.map.read_bits,
                                 target.map.write_bits,
                                 reinterpret_cast<std::uint32_t*>(target.map.counts),
                                 reinterpret_cast<std::uint64_t*>(target.lanes),
                                 reinterpret_cast<const std::uint32_t*>(target.marks),
                                 target.size,
                                 static_cast<std::uint8_t>(target.map.cell_shift),
                                 static_cast<std::uint8_t>(lines_up && cells <= 32 ? cells : 0)};
  if (alone)
    set_functions<OfHost<OneThread>>(path);
  else
    set_functions<OfHost<AnyThread>>(path);
  return path;
}

}  // namespace drgpum::emulator::sanitizer
