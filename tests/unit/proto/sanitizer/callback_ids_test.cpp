// SPDX-License-Identifier: Apache-2.0
// Renumbered callback ids. The numbers of 11.8 are those measured with its library.
#include "proto/sanitizer/callback_ids.h"

#include <gtest/gtest.h>

namespace drgpum::sanitizer {
namespace {

TEST(CallbackIds, ModulesAndMemoryMovedByOneSince11_8) {
  EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kResource, kModuleLoaded), 8U);
  EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kResource, kDeviceMemoryAlloc), 10U);
  EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kResource, kFunctionsLazyLoaded), 23U);
  EXPECT_EQ(canonical_id(Generation::kCuda11_8, Domain::kResource, 11U),
            std::uint32_t{kDeviceMemoryFree});
  EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kResource, kStreamDestroyStarting), 7U);
}

TEST(CallbackIds, GraphsWereRenumberedSince11_8) {
  EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kGraphs, kGraphExecCreated), 1U);
  EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kGraphs, kGraphNodeLaunchBegin), 2U);
  EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kGraphs, kGraphLaunchEnd), 5U);
}

TEST(CallbackIds, WhatAReleaseLacksHasNoNumber) {
  EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kResource, kStreamDestroyFinished), 0U);
  EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kResource, kVirtualReserve), 0U);
  EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kGraphs, kGraphExecDestroying), 0U);
  EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kExternalMemory, kExternalImport), 0U);
}

TEST(CallbackIds, EveryNumberOf11_8GoesThereAndBack) {
  for (std::uint32_t id = 1; id <= 23; ++id) {
    const auto canonical = canonical_id(Generation::kCuda11_8, Domain::kResource, id);
    EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kResource, canonical), id);
  }
  for (std::uint32_t id = 1; id <= 5; ++id) {
    const auto canonical = canonical_id(Generation::kCuda11_8, Domain::kGraphs, id);
    EXPECT_EQ(native_id(Generation::kCuda11_8, Domain::kGraphs, canonical), id);
  }
}

TEST(CallbackIds, LaterReleasesUseTheCanonicalNumbers) {
  EXPECT_EQ(native_id(Generation::kCuda12_4, Domain::kResource, kModuleLoaded), 9U);
  EXPECT_EQ(canonical_id(Generation::kNewer, Domain::kGraphs, 6U),
            std::uint32_t{kGraphLaunchBegin});
}

}  // namespace
}  // namespace drgpum::sanitizer
