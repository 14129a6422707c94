// SPDX-License-Identifier: Apache-2.0
// What drgpum.h and the Python module call. Names carry the version of this interface: a later one
// gets names of its own, so that programs compiled today go on working.

#include <cstdint>
#include <string>

#include "profiler/told.h"

namespace {

using drgpum::profiler::Told;
using drgpum::profiler::ToldKind;

constexpr char kRanges = 0;  // its address names the stack of ranges

void say(ToldKind kind, const char* call, const void* address, std::uint64_t bytes,
         const char* name) noexcept {
  try {
    Told told;
    told.kind = kind;
    told.call = call;
    told.address = reinterpret_cast<std::uint64_t>(address);
    told.size = bytes;
    if (name != nullptr) told.name = name;
    drgpum::profiler::tell(std::move(told));
  } catch (...) {
    return;  // out of memory: it is not recorded
  }
}

}  // namespace

#define DRGPUM_CALL extern "C" __attribute__((visibility("default"))) void

DRGPUM_CALL drgpum_v1_pool(const void* address, std::uint64_t bytes, const char* name) {
  say(ToldKind::kPool, "drgpum_pool", address, bytes, name);
}
DRGPUM_CALL drgpum_v1_pool_end(const void* address) {
  say(ToldKind::kPoolEnd, "drgpum_pool_end", address, 0, nullptr);
}
DRGPUM_CALL drgpum_v1_pool_reset(const void* address) {
  say(ToldKind::kPoolReset, "drgpum_pool_reset", address, 0, nullptr);
}
DRGPUM_CALL drgpum_v1_alloc(const void* address, std::uint64_t bytes, const char* name) {
  say(ToldKind::kBlock, "drgpum_alloc", address, bytes, name);
}
DRGPUM_CALL drgpum_v1_free(const void* address) {
  say(ToldKind::kBlockEnd, "drgpum_free", address, 0, nullptr);
}
DRGPUM_CALL drgpum_v1_name(const void* address, const char* name) {
  say(ToldKind::kName, "drgpum_name", address, 0, name);
}
DRGPUM_CALL drgpum_v1_name_stream(const void* stream, const char* name) {
  say(ToldKind::kStreamName, "drgpum_name_stream", stream, 0, name);
}
DRGPUM_CALL drgpum_v1_push(const char* name) {
  try {
    drgpum::profiler::push_range(&kRanges, "drgpum_push", name == nullptr ? "" : name);
  } catch (...) {
    return;
  }
}
DRGPUM_CALL drgpum_v1_pop() {
  drgpum::profiler::pop_range(&kRanges, "drgpum_pop");
}
DRGPUM_CALL drgpum_v1_mark(const char* name) {
  say(ToldKind::kInstant, "drgpum_mark", nullptr, 0, name);
}
DRGPUM_CALL drgpum_v1_iteration(const char* name) {
  say(ToldKind::kIteration, "drgpum_iteration", nullptr, 0, name);
}
DRGPUM_CALL drgpum_v1_start() {
  say(ToldKind::kStart, "drgpum_start", nullptr, 0, nullptr);
}
DRGPUM_CALL drgpum_v1_stop() {
  say(ToldKind::kStop, "drgpum_stop", nullptr, 0, nullptr);
}
