// SPDX-License-Identifier: Apache-2.0
// The tool's side of NVTX, driven as a program's NVTX drives it: tables in, calls through them.
#include "profiler/nvtx_hooks.h"

#include <gtest/gtest.h>

#include "profiler/told.h"

namespace drgpum::profiler::nvtx {
namespace {

std::vector<Told> heard;

std::string text_of(const Told& told) {
  const char* kinds[] = {"pool",    "pool-end",  "pool-reset", "block", "block-end",
                         "label",   "name",      "stream",     "begin", "end",
                         "instant", "iteration", "start",      "stop"};
  std::string text = kinds[static_cast<int>(told.kind)];
  if (told.address != 0) text += " " + std::to_string(told.address);
  if (told.size != 0) text += "+" + std::to_string(told.size);
  if (!told.name.empty()) text += " '" + told.name + "'";
  if (told.may_be_whole) text += " may be whole";
  return text;
}

std::string said() {
  std::string lines;
  for (const Told& told : heard)
    lines += text_of(told) + "\n";
  heard.clear();
  return lines;
}

struct Listening : testing::Test {
  Listening() {
    heard.clear();
    listen([](Told told) { heard.push_back(std::move(told)); });
  }
  ~Listening() override { listen(nullptr); }
};

// What NVTX keeps for a program: a pointer for each function, and tables of where these are.
struct Client {
  static constexpr unsigned kSize = 16;
  static inline Function functions[7][kSize];
  static inline Function* places[7][kSize];
  static inline std::uint32_t version = 0;
  Client() {
    for (int module = 0; module < 7; ++module) {
      for (unsigned i = 0; i < kSize; ++i) {
        functions[module][i] = nullptr;
        places[module][i] = i == 0 ? nullptr : &functions[module][i];
      }
    }
  }
  static int functions_of(int module, Function*** table, unsigned* size) {
    if (module < 1 || module > 6) return 0;
    *table = places[module];
    *size = kSize;
    return 1;
  }
  static void set_version(std::uint32_t to) { version = to; }
  static const void* export_table(std::uint32_t id) {
    static const CallbackTable callbacks{sizeof callbacks, functions_of};
    static const VersionTable versions{sizeof versions, 3, 0, set_version};
    if (id == kCallbacks) return &callbacks;
    return id == kVersion ? static_cast<const void*>(&versions) : nullptr;
  }
  template <typename Result, typename... Arguments>
  static Result call(int module, unsigned function, Arguments... arguments) {
    return reinterpret_cast<Result (*)(Arguments...)>(functions[module][function])(arguments...);
  }
};

struct NvtxCore : Listening {
  NvtxCore() { EXPECT_EQ(serve_core(Client::export_table), 1); }
  Client client;
};

EventAttributes event(const char* text) {
  EventAttributes attributes{};
  attributes.version = 3;
  attributes.size = sizeof attributes;
  attributes.message_type = kBytes;
  attributes.message.bytes = text;
  return attributes;
}

TEST_F(NvtxCore, RangesNestPerThread) {
  EXPECT_EQ(Client::version, 3u);
  EXPECT_EQ((Client::call<int, const char*>(kCore, kRangePushA, "outer")), 0);
  EXPECT_EQ((Client::call<int, const wchar_t*>(kCore, kRangePushW, L"h\u00fclle \u20ac")), 1);
  EXPECT_EQ((Client::call<int>(kCore, kRangePop)), 1);
  EXPECT_EQ((Client::call<int>(kCore, kRangePop)), 0);
  EXPECT_EQ((Client::call<int>(kCore, kRangePop)), -1);
  EXPECT_EQ(said(),
            "begin 'outer'\nbegin 'h\xc3\xbclle \xe2\x82\xac'\n"
            "end 'h\xc3\xbclle \xe2\x82\xac'\nend 'outer'\n");
}

TEST_F(NvtxCore, DomainsHaveStacksOfTheirOwn) {
  const void* layers = Client::call<const void*, const char*>(kDomains, kDomainCreateA, "layers");
  const EventAttributes conv = event("conv");
  Client::call<int, const void*, const EventAttributes*>(kDomains, kDomainRangePushEx, layers,
                                                         &conv);
  Client::call<int, const char*>(kCore, kRangePushA, "inner");
  Client::call<int, const void*>(kDomains, kDomainRangePop, layers);
  Client::call<int>(kCore, kRangePop);
  EXPECT_EQ(said(), "begin 'conv@layers'\nbegin 'inner'\nend 'conv@layers'\nend 'inner'\n");
}

TEST_F(NvtxCore, StartedRangesEndByTheirNumber) {
  const auto first = Client::call<std::uint64_t, const char*>(kCore, kRangeStartA, "first");
  const auto second = Client::call<std::uint64_t, const char*>(kCore, kRangeStartA, "second");
  EXPECT_NE(first, second);
  Client::call<void, std::uint64_t>(kCore, kRangeEnd, first);
  Client::call<void, std::uint64_t>(kCore, kRangeEnd, first);
  Client::call<void, std::uint64_t>(kCore, kRangeEnd, second);
  EXPECT_EQ(said(), "begin 'first'\nbegin 'second'\nend 'first'\nend 'second'\n");
}

TEST_F(NvtxCore, MarksRegisteredStringsAndStreams) {
  const void* text = Client::call<const void*, const void*, const char*>(
      kDomains, kDomainRegisterStringA, nullptr, "said often");
  EventAttributes attributes = event("");
  attributes.message_type = kRegistered;
  attributes.message.registered = text;
  Client::call<void, const EventAttributes*>(kCore, kMarkEx, &attributes);
  Client::call<void, std::uint64_t, const char*>(kCudaRuntime, kNameCudaStreamA, 32, "uploads");
  ResourceAttributes stream{};
  stream.type = kCudaStreamResource;
  stream.identifier = 48;
  stream.message_type = kBytes;
  stream.message.bytes = "downloads";
  Client::call<const void*, const void*, const ResourceAttributes*>(kDomains, kDomainResourceCreate,
                                                                    nullptr, &stream);
  EXPECT_EQ(said(), "instant 'said often'\nstream 32 'uploads'\nstream 48 'downloads'\n");
}

TEST(Nvtx, TablesThatAreTooShortAreRefused) {
  EXPECT_EQ(serve_core(nullptr), 0);
  EXPECT_EQ(serve_core([](std::uint32_t) -> const void* { return nullptr; }), 0);
  EXPECT_EQ(serve_core([](std::uint32_t id) -> const void* {
              static const CallbackTable old{8, nullptr};
              return id == kCallbacks ? &old : nullptr;
            }),
            0);
}

struct NvtxMemory : Listening {
  NvtxMemory() {
    ExtensionSegment segment{1, 63, slots};
    ExtensionModule module{3, sizeof module, kMemoryExtension, 0x0102,
                           1, &segment,      nullptr,          nullptr};
    EXPECT_EQ(serve_extension(&module), 1);
  }
  template <typename Result, typename... Arguments>
  Result call(MemoryFunction function, Arguments... arguments) {
    return reinterpret_cast<Result (*)(const void*, Arguments...)>(slots[function])(nullptr,
                                                                                    arguments...);
  }
  const void* heap(std::uint64_t address, std::size_t size, const char* name) {
    const MemoryRange range{size, at(address)};
    HeapDescription description{};
    description.type = kVirtualAddress;
    description.range_size = sizeof range;
    description.range = &range;
    description.message_type = kBytes;
    description.message.bytes = name;
    return call<const void*, const HeapDescription*>(kMemHeapRegister, &description);
  }
  void regions(const void* heap, std::vector<MemoryRange> ranges, const void** handles = nullptr) {
    const RegionsRegister batch{0x0102,        sizeof batch,        kVirtualAddress, heap,
                                ranges.size(), sizeof(MemoryRange), ranges.data(),   handles};
    call<void, const RegionsRegister*>(kMemRegionsRegister, &batch);
  }
  void name(const void* region, const char* text) {
    const RegionName named{1, kBytes, region, {text}, 0, 0};
    const RegionsName batch{0x0102, sizeof batch, 0, 1, sizeof named, &named, 0};
    call<void, const RegionsName*>(kMemRegionsName, &batch);
  }
  static const void* at(std::uint64_t address) { return reinterpret_cast<const void*>(address); }
  std::intptr_t slots[63] = {};
};

TEST_F(NvtxMemory, HeapsArePoolsAndRegionsBlocks) {
  const void* pool = heap(0x1000, 0x1000, "pool");
  const void* handles[2] = {};
  regions(pool, {{256, at(0x1000)}, {512, at(0x1200)}}, handles);
  name(handles[1], "second");
  const RegionsUnregister gone{0x0102, sizeof gone, 2, 1, sizeof handles[0], &handles[0]};
  call<void, const RegionsUnregister*>(kMemRegionsUnregister, &gone);
  call<void, const void*>(kMemHeapReset, pool);
  call<void, const void*>(kMemHeapUnregister, pool);
  EXPECT_EQ(said(),
            "pool 4096+4096 'pool'\nblock 4096+256\nblock 4608+512\nname 4608 'second'\n"
            "block-end 4096\npool-reset 4096\npool-end 4096\n");
}

TEST_F(NvtxMemory, AResizedRegionKeepsItsName) {
  regions(heap(0x1000, 0x1000, ""), {{256, at(0x1000)}});
  name(at(0x1000), "grows");
  said();
  const MemoryRange range{512, at(0x1000)};
  const RegionsResize batch{0x0102, sizeof batch, kVirtualAddress, 1, sizeof range, &range};
  call<void, const RegionsResize*>(kMemRegionsResize, &batch);
  EXPECT_EQ(said(), "block-end 4096\nblock 4096+512 'grows'\n");
}

TEST_F(NvtxMemory, RegionsOfTheAddressSpaceMayBeAllocations) {
  regions(nullptr, {{256, at(0x5000)}});
  call<void, const void*>(kMemHeapReset, nullptr);
  EXPECT_EQ(said(), "block 20480+256 may be whole\nblock-end 20480\n");
}

TEST_F(NvtxMemory, PermissionsAndOtherExtensionsAreLeftAlone) {
  constexpr std::size_t kPermissionsCreate = 8;
  EXPECT_EQ(slots[kPermissionsCreate], 0);
  std::intptr_t others[4] = {};
  ExtensionSegment segment{1, 4, others};
  ExtensionModule payload{3, sizeof payload, 2, 1, 1, &segment, nullptr, nullptr};
  EXPECT_EQ(serve_extension(&payload), 1);
  for (const std::intptr_t slot : others)
    EXPECT_EQ(slot, 0);
}

}  // namespace
}  // namespace drgpum::profiler::nvtx
