// SPDX-License-Identifier: Apache-2.0
#include "proto/device/mark_access.h"

#include <algorithm>
#include <array>
#include <random>
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
    map_access<PlainMemory>(&slot, address, size, kind);
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
