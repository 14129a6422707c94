// SPDX-License-Identifier: Apache-2.0
// drgpum's patches as the PTX that a GPU gets and as native twins leave the same bytes in device
// memory, whatever a kernel does. Kernels are random, object tables have gaps and seams.
#include <bit>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "emulator/sanitizer/patch_hook.h"
#include "proto/device/mark_access.h"
#include "tests/unit/emulator/exec/ptx_machine.h"

namespace drgpum::emulator::sanitizer {
namespace {

using Random = std::mt19937;

constexpr std::uint64_t kBufferBytes = 8192;
constexpr unsigned kThreads = 96;  // per block: whole warps, so that only predicates diverge
constexpr unsigned kBlocks = 3;

unsigned pick(Random& random, unsigned count) {
  return std::uniform_int_distribution<unsigned>(0, count - 1)(random);
}

struct Shape {
  const char* text;  // with the address as %rd0 and values in %r1 ... %r4, %rd1
  unsigned bytes;
};

constexpr Shape kShapes[] = {
    {"ld.global.u8 %r1, [%rd0];", 1},
    {"st.global.u8 [%rd0], %r2;", 1},
    {"ld.global.u16 %h1, [%rd0];", 2},
    {"st.global.u32 [%rd0], %r2;", 4},
    {"ld.global.u32 %r1, [%rd0];", 4},
    {"ld.u32 %r1, [%rd0];", 4},  // generic
    {"ld.global.u64 %rd1, [%rd0];", 8},
    {"st.global.u64 [%rd0], %rd1;", 8},
    {"ld.global.v2.u32 {%r1, %r2}, [%rd0];", 8},
    {"st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};", 16},
    {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0];", 16},
    {"atom.global.add.u32 %r1, [%rd0], %r2;", 4},
    {"red.global.add.u32 [%rd0], %r2;", 4},
    {"atom.global.cas.b64 %rd1, [%rd0], %rd1, %rd1;", 8},
    {"prefetch.global.L2 [%rd0];", 1},
};

// One access at buffer + ((thread * stride + offset) mod what fits) * size, by some of the lanes;
// or with a stride within runs of 16 threads and another one between them.
std::string random_access(Random& random) {
  const Shape& shape = kShapes[pick(random, std::size(kShapes))];
  const auto cells = static_cast<unsigned>(kBufferBytes / shape.bytes);
  std::ostringstream out;
  if (pick(random, 3) == 0)
    out << "and.b32 %r5, %r0, 15; shr.u32 %r6, %r0, 4; mul.lo.u32 %r6, %r6, " << pick(random, 40)
        << "; mad.lo.u32 %r5, %r5, " << pick(random, 2) << ", %r6;\n";
  else
    out << "mad.lo.u32 %r5, %r0, " << pick(random, 9) << ", " << pick(random, cells) << ";\n";
  out << "rem.u32 %r5, %r5, " << cells << ";\n"
      << "mad.wide.u32 %rd0, %r5, " << shape.bytes << ", %buffer;\n"
      << "and.b32 %r6, %r0, " << (1U << pick(random, 6)) << ";\n"
      << "setp.ne.u32 %p0, %r6, 0;\n";
  if (pick(random, 2) == 0) out << "@%p0 ";
  out << shape.text << '\n';
  return out.str();
}

std::string random_kernel(Random& random) {
  std::ostringstream out;
  out << ".visible .entry kernel(.param .u64 buffer_param)\n{\n"
      << ".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .b64 %buffer; .reg .b16 %h<4>; .reg .pred "
         "%p<2>;\n"
      << "ld.param.u64 %buffer, [buffer_param];\n"
      << "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, " << kThreads
      << ", %r0;\n"
      << "mov.u32 %r2, 1; mov.u32 %r3, 3; mov.u32 %r4, 4; mov.u64 %rd1, 5;\n";
  const unsigned accesses = 1 + pick(random, 12);
  for (unsigned i = 0; i < accesses; ++i)
    out << random_access(random);
  out << "ret;\n}\n";
  return out.str();
}

// The launch's data in one block of device memory: slot, objects, marks, maps, then the maps'
// cells.
class LaunchData {
 public:
  LaunchData(Random& random, std::uint64_t buffer, bool with_maps)
      : LaunchData(random_objects(random, buffer), pick(random, 6), with_maps) {}

  LaunchData(std::vector<device::ObjectRange> objects, std::uint32_t cell_shift, bool with_maps)
      : objects_(std::move(objects)), cell_shift_(cell_shift) {
    bytes_ = sizeof(device::LaunchSlot) +
             objects_.size() * (sizeof(device::ObjectRange) + sizeof(std::uint64_t));
    sites_at_ = (bytes_ + 15) / 16 * 16;
    bytes_ = sites_at_ + (with_maps ? kSites * sizeof(device::AccessSite) : 0);
    maps_at_ = bytes_;
    if (with_maps) bytes_ += objects_.size() * sizeof(device::ObjectMap);
    for (const auto& object : objects_)
      if (with_maps) bytes_ += map_bytes(object);
    with_maps_ = with_maps;
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  void sample_blocks(std::uint32_t every) { block_every_ = every; }

  // Takes the sites out of the data and gives them in order: lanes that run one after the other may
  // claim other entries than lanes that run side by side.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint64_t>> take_sites(
      std::vector<std::byte>& data) const {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> found;
    for (std::size_t i = 0; with_maps_ && i < kSites; ++i) {
      device::AccessSite site{};
      std::byte* const from = data.data() + sites_at_ + i * sizeof site;
      std::memcpy(&site, from, sizeof site);
      std::memset(from, 0, sizeof site);
      if (site.key != 0) found.emplace_back(site.key, site.lanes);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  void write(std::uint64_t address, std::byte* host) const {
    std::memset(host, 0, bytes_);
    device::LaunchSlot slot{};
    slot.version = device::kLayoutVersion;
    slot.object_count = static_cast<std::uint32_t>(objects_.size());
    slot.objects = address + sizeof slot;
    slot.marks = slot.objects + objects_.size() * sizeof(device::ObjectRange);
    slot.maps = with_maps_ ? address + maps_at_ : 0;
    slot.sites = with_maps_ ? address + sites_at_ : 0;
    slot.site_mask = kSites - 1;
    slot.site_shift = device::site_shift(slot.object_count);
    slot.code_base = 0;
    slot.block_every = block_every_;
    std::memcpy(host, &slot, sizeof slot);
    std::memcpy(host + sizeof slot, objects_.data(), objects_.size() * sizeof(device::ObjectRange));
    if (with_maps_) write_maps(address, host);
  }

 private:
  static std::vector<device::ObjectRange> random_objects(Random& random, std::uint64_t buffer) {
    std::vector<device::ObjectRange> objects;
    std::uint64_t at = buffer + pick(random, 3) * 100;
    const unsigned most = 1 + pick(random, 12);
    while (objects.size() < most && at + 8 < buffer + kBufferBytes) {
      const std::uint64_t end =
          std::min(buffer + kBufferBytes, at + 8 + pick(random, kBufferBytes / most));
      objects.push_back({at, end});
      at = end + (pick(random, 2) == 0 ? 0 : pick(random, 64));  // some objects touch
    }
    return objects;
  }

  [[nodiscard]] std::uint64_t cells(const device::ObjectRange& object) const {
    return ((object.end - object.begin - 1) >> cell_shift_) + 1;
  }
  [[nodiscard]] std::uint64_t bit_bytes(const device::ObjectRange& object) const {
    return (cells(object) + 31) / 32 * 4;
  }
  [[nodiscard]] std::uint64_t map_bytes(const device::ObjectRange& object) const {
    return 2 * bit_bytes(object) + 4 * cells(object) + 8;
  }

  void write_maps(std::uint64_t address, std::byte* host) const {
    std::uint64_t next = maps_at_ + objects_.size() * sizeof(device::ObjectMap);
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      device::ObjectMap map{};
      map.cell_shift = cell_shift_;
      map.read_bits = address + next;
      map.write_bits = map.read_bits + bit_bytes(objects_[i]);
      map.counts = i % 3 == 2 ? 0 : map.write_bits + bit_bytes(objects_[i]);
      std::memcpy(host + maps_at_ + i * sizeof map, &map, sizeof map);
      next += map_bytes(objects_[i]);
    }
  }

  std::vector<device::ObjectRange> objects_;
  std::uint32_t cell_shift_ = 0;
  static constexpr std::size_t kSites = 1024;
  std::uint32_t block_every_ = 0;
  std::uint64_t sites_at_ = 0;
  std::uint64_t maps_at_ = 0;
  std::uint64_t bytes_ = 0;
  bool with_maps_ = false;
};

std::string patch_ptx() {
  std::ifstream file(DRGPUM_PATCH_PTX);
  return {std::istreambuf_iterator<char>(file), {}};
}

const exec::Executable& patches() {
  static exec::testing::Machine machine(patch_ptx());
  return *machine.executable;
}

struct Outcome {
  std::vector<std::byte> data;  // the launch's data afterwards
  std::vector<std::pair<std::uint32_t, std::uint64_t>> sites;
  std::uint64_t unknown_address = 0;
};

Outcome launch(exec::testing::Machine& machine, std::uint64_t buffer, const LaunchData& data,
               const char* patch, bool native, unsigned workers) {
  const std::uint64_t address = machine.memory.allocate(data.bytes());
  data.write(address, machine.memory.host(address));
  PatchSet set{};
  set[static_cast<std::size_t>(Instruction::kGlobalAccess)] = {
      &patches(), patches().find(patch).value(), twin_of(patch)};
  PatchHook hook(set, address, native, workers);
  machine.config.hook = &hook;
  machine.config.workers = workers;
  const auto result = machine.run("kernel", {kBlocks, 1, 1}, {kThreads, 1, 1}, buffer);
  EXPECT_FALSE(result.fault) << result.fault->text;

  Outcome after;
  after.data = machine.download<std::byte>(address, data.bytes());
  after.sites = data.take_sites(after.data);
  // Any one of the addresses that hit no object may stand there.
  std::byte* unknown = after.data.data() + offsetof(device::LaunchSlot, unknown_address);
  std::memcpy(&after.unknown_address, unknown, sizeof after.unknown_address);
  std::memset(unknown, 0, sizeof after.unknown_address);
  return after;
}

Outcome run(unsigned seed, bool with_maps, bool native, unsigned workers) {
  Random random(seed);
  exec::testing::Machine machine(random_kernel(random));
  const std::uint64_t buffer = machine.memory.allocate(kBufferBytes);
  LaunchData data(random, buffer, with_maps);
  data.sample_blocks(seed % 4);
  const char* patch = with_maps ? "drgpum_map_global" : "drgpum_mark_global";
  return launch(machine, buffer, data, patch, native, workers);
}

void expect_equal(unsigned seed, bool with_maps, unsigned workers) {
  const Outcome patch = run(seed, with_maps, false, workers);
  const Outcome twin = run(seed, with_maps, true, workers);
  EXPECT_EQ(patch.data, twin.data) << "seed " << seed;
  EXPECT_EQ(patch.sites, twin.sites) << "seed " << seed;
  EXPECT_EQ(patch.unknown_address != 0, twin.unknown_address != 0) << "seed " << seed;
}

TEST(Twin, LeavesTheMarksThatThePatchLeaves) {
  for (unsigned seed = 0; seed < 60; ++seed)
    expect_equal(seed, false, 1);
}

TEST(Twin, LeavesTheMapsThatThePatchLeaves) {
  for (unsigned seed = 0; seed < 60; ++seed)
    expect_equal(seed, true, 1);
}

TEST(Twin, LosesNoCountWhenBlocksRunSideBySide) {
  for (unsigned seed = 100; seed < 110; ++seed)
    expect_equal(seed, true, 3);
}

// Threads write u32s in a row; the object ends within the bytes of a warp's last lane.
Outcome run_over_the_end(std::uint64_t object_bytes, std::uint32_t cell_shift, bool native) {
  exec::testing::Machine machine(R"(
.visible .entry kernel(.param .u64 buffer_param)
{
.reg .b32 %r<4>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [buffer_param];
mov.u32 %r0, %tid.x;
mad.wide.u32 %rd1, %r0, 4, %rd0;
st.global.u32 [%rd1], %r0;
ret;
})");
  const std::uint64_t buffer = machine.memory.allocate(kBufferBytes);
  const LaunchData data({{buffer, buffer + object_bytes}}, cell_shift, true);
  return launch(machine, buffer, data, "drgpum_map_global", native, 1);
}

TEST(Twin, MarksNothingBeyondAnObjectsEnd) {
  for (const std::uint64_t bytes : {125U, 126U, 127U, 128U, 253U, 4U * kThreads})
    for (std::uint32_t cell_shift = 0; cell_shift < 4; ++cell_shift)
      EXPECT_EQ(run_over_the_end(bytes, cell_shift, false).data,
                run_over_the_end(bytes, cell_shift, true).data)
          << bytes << " bytes, cells of " << (1U << cell_shift);
}

// The two runs would also be equal if neither marked anything.
TEST(Twin, MarksWhatKernelsTouch) {
  unsigned touched = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Outcome twin = run(seed, true, true, 1);
    unsigned bits = 0;
    for (std::size_t i = sizeof(device::LaunchSlot); i < twin.data.size(); ++i)
      bits += static_cast<unsigned>(std::popcount(std::to_integer<std::uint8_t>(twin.data[i])));
    touched += bits > 100 && !twin.sites.empty() ? 1 : 0;
  }
  EXPECT_GE(touched, 15U);
}

}  // namespace
}  // namespace drgpum::emulator::sanitizer
