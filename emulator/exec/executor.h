// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs kernels: a warp-vectorised interpreter over code lowered from ptx::Program.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "emulator/exec/access_hook.h"
#include "emulator/exec/texture.h"
#include "emulator/memory/address_space.h"
#include "emulator/ptx/program.h"
#include "proto/base/result.h"

namespace drgpum::emulator::exec {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

struct LoweredFunction;  // private to exec

// A linked program, lowered and bound to the addresses of its variables. Immutable; any number of
// launches may use it at once.
class Executable {
 public:
  virtual ~Executable() = default;
  [[nodiscard]] virtual const ptx::Program& program() const = 0;
  // Number in Program::functions of the named function with a body, if there is one.
  [[nodiscard]] virtual std::optional<std::uint32_t> find(std::string_view name) const = 0;
  // Code addresses: function f has [pc_base(f), pc_base(f) + 16 * instructions).
  [[nodiscard]] virtual std::uint64_t pc_base(std::uint32_t function) const = 0;
  // Static facts for cudaFuncGetAttributes.
  [[nodiscard]] virtual std::uint32_t static_shared_bytes(std::uint32_t function) const = 0;
  [[nodiscard]] virtual std::uint32_t local_bytes(std::uint32_t function) const = 0;
  [[nodiscard]] virtual std::uint32_t registers(std::uint32_t function) const = 0;  // an estimate
};

// variable_addresses[i] is the device address of program.variables[i] (global and const spaces; 0
// for shared). pc_base: where the program's code starts in the emulated address space; multiple
// of 16. Lowering of a function happens at its first launch, so an unsupported instruction in a
// kernel that never runs does no harm; then launch() reports it as a Fault of kind kUnsupported.
Result<std::unique_ptr<Executable>> make_executable(std::shared_ptr<const ptx::Program> program,
                                                    std::vector<std::uint64_t> variable_addresses,
                                                    std::uint64_t pc_base);

enum class FaultKind : std::uint8_t {
  kIllegalAddress,
  kMisalignedAddress,
  kReadOnly,
  kSharedOutOfRange,
  kLocalOutOfRange,
  kAssert,
  kTrap,
  kUnsupported,
  kBarrierDeadlock,
  kIllegalInstruction,
  kStackOverflow,
  kTimeout,
};

// Why a kernel stopped. `text` is one line for a person: what, which kernel, block, thread, pc and
// source line when known, and for addresses the nearest allocation and by how much it was missed.
struct Fault {
  FaultKind kind = FaultKind::kTrap;
  std::string kernel;
  std::string text;
  std::uint64_t pc = 0;
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
};

// Work done, for the cost model and benchmarks. Lane counts only active lanes.
struct LaunchStats {
  std::uint64_t warp_instructions = 0;
  std::uint64_t lane_instructions = 0;
  std::uint64_t fp32_lane_ops = 0;
  std::uint64_t fp64_lane_ops = 0;
  std::uint64_t integer_lane_ops = 0;
  std::uint64_t global_sectors = 0;  // 32-byte sectors of global accesses, per warp access
  std::uint64_t global_bytes = 0;    // bytes that lanes asked for
  std::uint64_t shared_wavefronts = 0;
  std::uint64_t warps = 0;
  std::uint64_t blocks = 0;
};

struct LaunchConfig {
  std::uint32_t function = 0;  // number in Program::functions
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;  // blocks in a cluster; divides the grid
  std::uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;               // grid-wide barriers allowed
  std::span<const std::byte> parameters;  // packed as ptx::Parameter::offset says
  std::uint64_t grid_id = 0;              // %gridid
  std::uint64_t schedule_seed = 0;        // 0: blocks and warps in order
  std::uint32_t workers = 1;              // threads; 1 is deterministic
  std::uint64_t start_ns = 0;             // %globaltimer at the start, virtual
  AccessHook* hook = nullptr;
  const TextureTable* textures = nullptr;  // absent: every handle is one of nothing
  // Device printf: called with whole formatted chunks, in order of execution.
  std::function<void(std::string_view)> print;
  // Device-side malloc and free (device heap); absent: malloc returns null.
  std::function<std::uint64_t(std::uint64_t size)> device_malloc;
  std::function<bool(std::uint64_t pointer)> device_free;
  // Looked at now and then; true stops the launch with kTimeout (used at process end).
  const std::atomic<bool>* cancel = nullptr;
};

struct LaunchResult {
  std::optional<Fault> fault;
  LaunchStats stats;
};

LaunchResult launch(const Executable& executable, const LaunchConfig& config, AddressSpace& memory);

// Runs a device function of another executable in a stopped warp, for the lanes of `mask`, with one
// u64 per lane and argument (narrower parameters take the low bits). Returns the lanes' b32 results
// (0 for functions without one). Used to run a tool's patch code at an access.
std::array<std::uint32_t, 32> call_device_function(
    WarpContext& warp, const Executable& executable, std::uint32_t function, std::uint32_t mask,
    std::span<const std::array<std::uint64_t, 32>> arguments);

// The launch that the warp belongs to, and its place in it.
struct WarpPlace {
  std::uint64_t grid_id = 0;
  Dim3 block;
  std::uint32_t warp = 0;  // within the block
};
WarpPlace place_of(const WarpContext& warp);
AddressSpace& memory_of(const WarpContext& warp);

}  // namespace drgpum::emulator::exec
