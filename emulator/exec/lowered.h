// SPDX-License-Identifier: Apache-2.0
#pragma once
// What lowering makes of one function: its ops, its constant rows and the layout of its frame.

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "emulator/exec/op.h"
#include "emulator/ptx/program.h"

namespace drgpum::emulator::exec {

// Storage of a parameter of a device function, or of a call's .param variable: 32 times `stride`
// bytes at `offset` of the frame, lane after lane; so a scalar parameter is a register row.
struct ParameterStorage {
  RowOffset offset = 0;
  std::uint32_t stride = 0;
};

// Work of one basic block, per lane and per warp, added where the block ends.
struct BlockCost {
  std::uint64_t lane[4] = {0, 0, 0, 0};  // instructions, fp32, fp64, integer operations
  std::uint64_t instructions = 0;
};

struct BranchSite {
  const Op* reconverge = nullptr;  // nullptr: at the function's end
  BlockCost cost;
  std::vector<const Op*> table;  // brx.idx
};

enum class Where : std::uint8_t {
  kGeneric,  // global or const address, or a window
  kShared,
  kLocal,
  kEntryParameter,  // uniform, in the launch's parameter buffer
  kLaneParameter,   // ParameterStorage of this frame
};

// One ld, st, atom, red, prefetch or cp.async: where the address comes from and the rows moved.
struct MemoryAccess {
  Where where = Where::kGeneric;
  std::uint8_t element_bytes = 4;
  std::uint8_t count = 1;      // elements per lane: .v2, .v4, .v8
  bool base_is_wide = true;    // 64-bit base row; else 32-bit
  bool synchronising = false;  // volatile, relaxed, acquire: a spin loop may look here
  RowOffset base = 0;
  std::int64_t offset = 0;
  std::uint32_t stride = 0;  // kLaneParameter: bytes per lane
  std::uint32_t flags = 0;   // AccessFlags
  ptx::Space space = ptx::Space::kGlobal;
  std::array<RowOffset, 8> rows{};
};

enum class Builtin : std::uint8_t { kNone, kPrint, kAssertFail, kMalloc, kFree, kUnresolved };

struct LoweredFunction;

struct CallSite {
  Builtin builtin = Builtin::kNone;
  std::uint32_t function = 0;  // number in Program::functions; direct calls
  bool indirect = false;
  RowOffset callee = 0;                     // indirect: row of u64 code addresses
  std::vector<ParameterStorage> arguments;  // in the caller's frame; stride 0 after a constant row
  std::vector<ParameterStorage> results;
  BlockCost cost;
  std::string name;
};

class KernelImage;

struct LoweredFunction {
  const KernelImage* image = nullptr;
  const ptx::Function* source = nullptr;
  std::uint64_t code_base = 0;  // Executable::pc_base
  std::uint32_t index = 0;
  std::vector<Op> ops;
  std::vector<std::byte> constant_storage;
  const std::byte* constants = nullptr;  // end of the constant rows: offsets are negative
  std::uint32_t frame_bytes = 0;
  std::uint32_t local_bytes = 0;  // per lane
  std::vector<ParameterStorage> parameters;
  std::vector<ParameterStorage> returns;
  std::vector<std::uint32_t> first_op;  // per instruction, and one past the last
  // Side tables that ops point into; deques keep their elements in place.
  std::deque<BranchSite> branches;
  std::deque<MemoryAccess> accesses;
  std::deque<CallSite> calls;
  std::deque<std::vector<std::int32_t>> lists;
  std::deque<std::string> texts;
  std::deque<std::shared_ptr<void>> others;  // what only one family knows
};

}  // namespace drgpum::emulator::exec
