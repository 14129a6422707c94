// SPDX-License-Identifier: Apache-2.0
#pragma once
// The binary interface between NVTX version 3, which programs compile in, and a tool that serves
// it, in our own words: what the functions are handed, and where a tool puts its own. Source:
// NVIDIA's NVTX documentation and published headers (Apache-2.0 with LLVM exception); compared with
// those by tests/unit/profiler/nvtx_abi_test.cpp where they are installed. 64-bit Linux.

#include <cstddef>
#include <cstdint>

namespace drgpum::profiler::nvtx {

// Texts: which member of Message counts.
enum TextType : std::uint32_t { kNoText = 0, kBytes = 1, kWide = 2, kRegistered = 3 };
union Message {
  const char* bytes;
  const wchar_t* wide;
  const void* registered;  // what register_string returned
};

struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  std::uint32_t message_type;
  Message message;
};

struct ResourceAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t type;
  std::uint64_t identifier;
  std::uint32_t message_type;
  Message message;
};
inline constexpr std::uint32_t kCudaStreamResource = 4u << 16 | 3;
inline constexpr std::uint32_t kCudaRuntimeStreamResource = 5u << 16 | 1;

// A program's NVTX hands its tool a function that gives tables by number; the table kCallbacks has
// one that gives, for each module of functions, where their pointers are.
using Function = void (*)();
using ExportTable = const void* (*)(std::uint32_t id);
enum ExportTableId : std::uint32_t { kCallbacks = 1, kVersion = 3 };
struct CallbackTable {
  std::size_t struct_size;
  int (*functions_of)(int module, Function*** table, unsigned* size);
};
struct VersionTable {
  std::size_t struct_size;
  std::uint32_t version;
  std::uint32_t reserved;
  void (*set_tool_version)(std::uint32_t version);
};

enum Module : int { kCore = 1, kCuda = 2, kCudaRuntime = 4, kDomains = 5 };
enum CoreFunction : unsigned {
  kMarkEx = 1,
  kMarkA,
  kMarkW,
  kRangeStartEx,
  kRangeStartA,
  kRangeStartW,
  kRangeEnd,
  kRangePushEx,
  kRangePushA,
  kRangePushW,
  kRangePop,
};
enum DomainFunction : unsigned {
  kDomainMarkEx = 1,
  kDomainRangeStartEx,
  kDomainRangeEnd,
  kDomainRangePushEx,
  kDomainRangePop,
  kDomainResourceCreate,
  kDomainResourceDestroy,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW,
  kDomainCreateA,
  kDomainCreateW,
  kDomainDestroy,
};
enum CudaFunction : unsigned { kNameCuStreamA = 5, kNameCuStreamW };
enum CudaRuntimeFunction : unsigned { kNameCudaStreamA = 3, kNameCudaStreamW };

// Extensions: the program hands over the slots themselves.
struct ExtensionSegment {
  std::size_t id;
  std::size_t slot_count;
  std::intptr_t* slots;
};
struct ExtensionModule {
  std::uint16_t nvtx_version;
  std::uint16_t struct_size;
  std::uint16_t module;
  std::uint16_t compatibility;
  std::size_t segment_count;
  ExtensionSegment* segments;
  std::intptr_t (*get_export)(std::uint32_t id);
  const void* info;
};
inline constexpr std::uint16_t kMemoryExtension = 1;

enum MemoryFunction : std::size_t {
  kMemHeapRegister = 0,
  kMemHeapUnregister,
  kMemHeapReset,
  kMemRegionsRegister,
  kMemRegionsResize,
  kMemRegionsUnregister,
  kMemRegionsName,
};

inline constexpr std::uint32_t kVirtualAddress = 1;  // the only type of memory served
struct MemoryRange {
  std::size_t size;
  const void* address;
};
struct HeapDescription {
  std::uint16_t compatibility;
  std::uint16_t struct_size;
  std::uint32_t reserved;
  std::uint32_t usage;
  std::uint32_t type;
  std::size_t range_size;
  const void* range;  // MemoryRange
  std::uint32_t category;
  std::uint32_t message_type;
  Message message;
};
struct RegionsRegister {
  std::uint16_t compatibility;
  std::uint16_t struct_size;
  std::uint32_t type;
  const void* heap;  // null: the whole address space
  std::size_t count;
  std::size_t range_size;
  const void* ranges;    // MemoryRange, range_size apart
  const void** handles;  // out; may be null
};
struct RegionsResize {
  std::uint16_t compatibility;
  std::uint16_t struct_size;
  std::uint32_t type;
  std::size_t count;
  std::size_t range_size;
  const void* ranges;
};
// A region is named by its address or by its handle; here the two are one.
struct RegionsUnregister {
  std::uint16_t compatibility;
  std::uint16_t struct_size;
  std::uint32_t reference_type;
  std::size_t count;
  std::size_t reference_size;
  const void* references;  // addresses, reference_size apart
};
struct RegionName {
  std::uint32_t reference_type;
  std::uint32_t message_type;
  const void* region;
  Message name;
  std::uint32_t category;
  std::uint32_t reserved;
};
struct RegionsName {
  std::uint16_t compatibility;
  std::uint16_t struct_size;
  std::uint32_t reserved0;
  std::size_t count;
  std::size_t element_size;
  const void* names;  // RegionName, element_size apart
  std::size_t reserved1;
};

static_assert(sizeof(EventAttributes) == 48 && sizeof(ResourceAttributes) == 32);
static_assert(sizeof(ExtensionModule) == 40 && sizeof(ExtensionSegment) == 24);
static_assert(sizeof(HeapDescription) == 48 && sizeof(RegionsRegister) == 48);
static_assert(sizeof(RegionName) == 32 && sizeof(RegionsName) == 40);

}  // namespace drgpum::profiler::nvtx
