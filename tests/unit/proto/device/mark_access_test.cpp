// SPDX-License-Identifier: Apache-2.0
#include "proto/device/mark_access.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace drgpum::device {
namespace {

// Device memory that is host memory, as on the emulated device without an alias.
struct PlainMemory {
  template <typename T>
  static T* at(std::uint64_t address) {
    return reinterpret_cast<T*>(address);
  }
  template <typename T>
  static T load(const T* word) {
    return *word;
  }
  static void store(std::uint64_t* word, std::uint64_t value) { *word = value; }
  static void bit_or(std::uint32_t* word, std::uint32_t bits) { *word |= bits; }
  static void add(std::uint32_t* word, std::uint32_t value) { *word += value; }
  static void add(std::uint64_t* word, std::uint64_t value) { *word += value; }
  static std::uint32_t claim(std::uint32_t* word, std::uint32_t value) {
    const std::uint32_t found = *word;
    if (found == 0) *word = value;
    return found;
  }
  static std::uint32_t block_number() { return 0; }
  static std::uint32_t keep(std::uint32_t value) { return value; }
  static std::uint64_t keep(std::uint64_t value) { return value; }
};

template <typename T>
std::uint64_t address_of(T* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

struct Launch {
  std::vector<ObjectRange> objects;
  std::vector<std::uint32_t> marks;
  LaunchSlot slot{};

  explicit Launch(std::vector<ObjectRange> ranges)
      : objects(std::move(ranges)), marks(objects.size()) {
    slot.version = kLayoutVersion;
    slot.object_count = static_cast<std::uint32_t>(objects.size());
    slot.objects = address_of(objects.data());
    slot.marks = address_of(marks.data());
  }
  void access(std::uint64_t address, std::uint32_t size, std::uint32_t kind) {
    mark_access<PlainMemory>(&slot, address, size, kind);
  }
};

constexpr std::uint32_t width(std::uint32_t log2) {
  return 1u << (kMarkWidthShift + log2);
}

TEST(MarkAccess, AnAccessMarksTheObjectThatHoldsItsAddress) {
  Launch launch({{100, 200}, {200, 300}, {400, 500}});
  launch.access(199, 1, kReadAccess);
  launch.access(200, 4, kWriteAccess);
  launch.access(400, 16, kAtomicAccess);
  EXPECT_EQ(launch.marks[0], kMarkRead | width(0));
  EXPECT_EQ(launch.marks[1], kMarkWrite | width(2));
  EXPECT_EQ(launch.marks[2], kMarkRead | kMarkWrite | kMarkAtomic | width(4));
  EXPECT_EQ(launch.slot.unknown_accesses, 0u);
}

TEST(MarkAccess, AddressesOutsideEveryObjectAreCountedAndOneIsKept) {
  Launch launch({{100, 200}, {400, 500}});
  for (const std::uint64_t address : {99u, 200u, 399u, 500u}) {
    launch.access(address, 4, kReadAccess);
  }
  EXPECT_EQ(launch.marks, (std::vector<std::uint32_t>{0, 0}));
  EXPECT_EQ(launch.slot.unknown_accesses, 4u);
  EXPECT_EQ(launch.slot.unknown_address, 99u);
}

TEST(MarkAccess, ALaunchWithoutObjectsOnlyCounts) {
  Launch launch({});
  launch.access(100, 4, kReadAccess);
  EXPECT_EQ(launch.slot.unknown_accesses, 1u);
}

TEST(MarkAccess, WithoutUserDataOrWithAnotherLayoutNothingHappens) {
  mark_access<PlainMemory>(nullptr, 100, 4, kReadAccess);
  Launch launch({{100, 200}});
  launch.slot.version = kLayoutVersion + 1;
  launch.access(100, 4, kReadAccess);
  EXPECT_EQ(launch.marks[0], 0u);
}

TEST(MarkAccess, WidthsAreRememberedAsPowersOfTwo) {
  EXPECT_EQ(mark_bits(kReadAccess, 1), kMarkRead | width(0));
  EXPECT_EQ(mark_bits(kReadAccess, 12), kMarkRead | width(3));
  EXPECT_EQ(mark_bits(kReadAccess, 32), kMarkRead | width(5));
  EXPECT_EQ(mark_bits(kReadAccess, 1u << 20), kMarkRead | width(7));
}

TEST(MarkAccess, TheApisFlagsBecomeKinds) {
  EXPECT_EQ(access_of_flags(1), kReadAccess);
  EXPECT_EQ(access_of_flags(2), kWriteAccess);
  EXPECT_EQ(access_of_flags(3), kAtomicAccess);
  EXPECT_EQ(access_of_flags(7), kAtomicAccess);
  EXPECT_EQ(access_of_flags(8 | 1), 0u) << "a prefetch is no access";
}

TEST(FindObject, AgreesWithALinearSearchOnRandomTables) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<ObjectRange> objects;
    std::uint64_t at = 1000;
    for (auto count = random() % 40; count != 0; --count) {
      at += random() % 3;
      objects.push_back({at, at + 1 + random() % 5});
      at = objects.back().end;
    }
    for (std::uint64_t address = 995; address < at + 5; ++address) {
      const auto found = std::find_if(objects.begin(), objects.end(), [&](const ObjectRange& o) {
        return o.begin <= address && address < o.end;
      });
      const auto expected = found == objects.end()
                                ? kNoObjectIndex
                                : static_cast<std::uint32_t>(found - objects.begin());
      ASSERT_EQ(find_object(objects.data(), static_cast<std::uint32_t>(objects.size()), address),
                expected);
    }
  }
}

struct MapLaunch : Launch {
  std::array<std::uint32_t, 8> read{}, write{};
  std::array<std::uint32_t, 256> counts{};
  ObjectMap map{};

  explicit MapLaunch(std::uint32_t cell_shift) : Launch({{1000, 1200}}) {
    map = {address_of(read.data()), address_of(write.data()), address_of(counts.data()), cell_shift,
           0};
    slot.maps = address_of(&map);
  }
  void access(std::uint64_t address, std::uint32_t size, std::uint32_t kind) {
    map_access<PlainMemory>(&slot, 0, address, size, kind);
  }
};

TEST(MapAccess, AnAccessMarksAndCountsTheCellsItsBytesFallInto) {
  MapLaunch launch(2);
  launch.access(1000, 4, kReadAccess);
  launch.access(1006, 8, kWriteAccess);  // bytes 6 to 14: cells 1 to 3
  EXPECT_EQ(launch.read[0], 0b0001u);
  EXPECT_EQ(launch.write[0], 0b1110u);
  EXPECT_EQ((std::vector<std::uint32_t>(launch.counts.begin(), launch.counts.begin() + 5)),
            (std::vector<std::uint32_t>{1, 1, 1, 1, 0}));
  EXPECT_EQ(launch.marks[0], kMarkRead | kMarkWrite | width(2) | width(3));
}

TEST(MapAccess, ARunOfCellsMayCrossWords) {
  MapLaunch launch(0);
  launch.access(1030, 100, kWriteAccess);  // cells 30 to 130
  EXPECT_EQ(launch.write,
            (std::array<std::uint32_t, 8>{0xc0000000u, ~0u, ~0u, ~0u, 0x3u, 0, 0, 0}));
  EXPECT_EQ(launch.read[0], 0u);
}

TEST(MapAccess, WhatReachesBeyondTheObjectIsNotMarked) {
  MapLaunch launch(0);
  launch.access(1198, 16, kReadAccess);
  EXPECT_EQ(launch.read[6], 0b11u << 6);
  EXPECT_EQ(launch.counts[200], 0u);
}

TEST(MapAccess, AbsentPartsOfAMapAreLeftAlone) {
  MapLaunch launch(2);
  launch.map.counts = 0;
  launch.map.write_bits = 0;
  launch.access(1000, 4, kAtomicAccess);
  EXPECT_EQ(launch.read[0], 1u);
  EXPECT_EQ(launch.write[0], 0u);
  EXPECT_EQ(launch.counts[0], 0u);
}

TEST(MapAccess, AFullCountStays) {
  MapLaunch launch(2);
  launch.counts[0] = kFullCount;
  launch.access(1000, 4, kReadAccess);
  EXPECT_EQ(launch.counts[0], kFullCount);
}

// Memory as the slowest thread sees it: the count was not yet full when it looked.
struct StaleMemory : PlainMemory {
  static std::uint32_t load(const std::uint32_t*) { return kFullCount - 1; }
};

// A kernel of 2^31 blocks of 1,024 threads wraps no count: threads that look after it is full add
// nothing, and those that looked before are at most as many as a device runs at once.
TEST(MapAccess, NoNumberOfThreadsMakesACountWrap) {
  constexpr std::uint32_t kThreadsAtOnce = 1 << 20;  // five times an H200's
  std::uint32_t count = kFullCount - 1;
  for (std::uint32_t thread = 0; thread < kThreadsAtOnce; ++thread)
    count_cell<StaleMemory>(&count, 1);
  EXPECT_GE(count, kFullCount);
  count_cell<PlainMemory>(&count, 1);
  EXPECT_EQ(count, kFullCount - 1 + kThreadsAtOnce);
}

struct SiteLaunch : Launch {
  std::vector<AccessSite> sites;
  SiteLaunch(std::vector<ObjectRange> ranges, std::size_t entries)
      : Launch(std::move(ranges)), sites(entries) {
    slot.sites = address_of(sites.data());
    slot.site_mask = static_cast<std::uint32_t>(entries - 1);
    slot.site_shift = site_shift(slot.object_count);
    slot.code_base = site_step(0x7f0000001000);
  }
  // Lanes at each place: (bytes from the code's base, object, what) -> lanes.
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, std::uint64_t> found() const {
    std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, std::uint64_t> all;
    for (const AccessSite& site : sites) {
      if (site.key == 0) continue;
      all[{site_offset(site.key, slot.site_shift), site_object(site.key, slot.site_shift),
           site_access(site.key)}] += site.lanes;
    }
    return all;
  }
  void access(std::uint64_t pc, std::uint64_t address, std::uint32_t kind) {
    map_access<PlainMemory>(&slot, 0x7f0000001000 + pc, address, 4, kind);
  }
};

TEST(AccessSites, InstructionObjectAndKindTellThemApart) {
  SiteLaunch launch({{100, 200}, {200, 300}, {300, 400}}, 16);
  launch.access(0x20, 100, kReadAccess);
  launch.access(0x20, 104, kReadAccess);
  launch.access(0x20, 300, kReadAccess);
  launch.access(0x30, 100, kWriteAccess);
  launch.access(0x40, 100, kAtomicAccess);
  EXPECT_EQ(launch.found(), (decltype(launch.found()){{{0x20, 0, 1}, 2},
                                                      {{0x20, 2, 1}, 1},
                                                      {{0x30, 0, 2}, 1},
                                                      {{0x40, 0, 3}, 1}}));
  EXPECT_EQ(launch.slot.lost_sites, 0u);
}

TEST(AccessSites, LanesOfTheLargestGridFit) {
  SiteLaunch launch({{100, 200}}, 4);
  const std::uint32_t key = site_key(1, 0, kReadAccess, launch.slot.site_shift);
  for (int i = 0; i < 6; ++i)
    count_site<PlainMemory>(&launch.slot, key, 1u << 31);
  EXPECT_EQ(launch.found().begin()->second, std::uint64_t{6} << 31);
}

TEST(AccessSites, OnesWithoutRoomAreCountedAndNothingElseChanges) {
  SiteLaunch launch({{100, 200}}, 4);
  for (std::uint64_t i = 0; i < 6; ++i)
    launch.access(16 * i, 100, kReadAccess);
  launch.access(0, 100, kReadAccess);
  EXPECT_EQ(launch.found().size(), 4u);
  EXPECT_EQ(launch.slot.lost_sites, 2u);
}

// Code before the base, and code so far behind it that the objects leave no room for its number.
TEST(AccessSites, CodeOutOfReachHasNoSite) {
  std::vector<ObjectRange> many;
  for (std::uint64_t i = 0; i < 5000; ++i)
    many.push_back({i * 8, i * 8 + 8});
  SiteLaunch launch(many, 16);
  launch.access(static_cast<std::uint64_t>(-16), 0, kReadAccess);
  launch.access(16ull << (32 - launch.slot.site_shift), 0, kReadAccess);
  EXPECT_TRUE(launch.found().empty());
  EXPECT_EQ(launch.slot.lost_sites, 2u);
  launch.access((16ull << (32 - launch.slot.site_shift)) - 16, 39992, kReadAccess);
  EXPECT_EQ(launch.found().size(), 1u);
}

TEST(AccessSites, KeysComeBackAsTheyWere) {
  for (const std::uint32_t objects : {1u, 2u, 3u, 4u, 1000u, 200'000u, 1u << 29}) {
    const std::uint32_t shift = site_shift(objects);
    ASSERT_LE(shift, 31u) << objects;
    const std::uint32_t last = (1u << (32 - shift)) - 1;
    const std::uint32_t key = site_key(last, objects - 1, kAtomicAccess, shift);
    EXPECT_EQ(site_offset(key, shift), std::uint64_t{last} * 16) << objects;
    EXPECT_EQ(site_object(key, shift), objects - 1);
    EXPECT_EQ(site_access(key), 3u);
  }
}

struct SecondBlock : PlainMemory {
  static std::uint32_t block_number() { return device::block_number(1, 0, 0); }
};

TEST(BlockSampling, OtherBlocksMarkTheObjectOnly) {
  MapLaunch launch(2);
  launch.slot.block_every = 2;
  map_access<SecondBlock>(&launch.slot, 0, 1000, 4, kReadAccess);
  EXPECT_EQ(launch.marks[0], kMarkRead | width(2));
  EXPECT_EQ(launch.read[0], 0u);
  launch.access(1000, 4, kReadAccess);
  EXPECT_EQ(launch.read[0], 1u);
}

TEST(DeviceHeap, CallsAreCountedUnlessTheyGaveNothing) {
  Launch launch({});
  note_heap_allocation<PlainMemory>(&launch.slot, 64, 24);
  note_heap_allocation<PlainMemory>(&launch.slot, 0, 1000);
  note_heap_free<PlainMemory>(&launch.slot, 64);
  note_heap_free<PlainMemory>(&launch.slot, 0);
  EXPECT_EQ(launch.slot.heap_allocations, 1u);
  EXPECT_EQ(launch.slot.heap_bytes, 24u);
  EXPECT_EQ(launch.slot.heap_frees, 1u);
}

}  // namespace
}  // namespace drgpum::device
