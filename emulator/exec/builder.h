// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lowers one function: hands out rows for operands and collects ops. The families (ops_*.cpp) each
// lower their opcodes through it.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/exec/image.h"
#include "emulator/exec/lowered.h"
#include "emulator/ptx/program.h"

namespace drgpum::emulator::exec {

class Builder {
 public:
  Builder(const KernelImage& image, std::uint32_t function, LoweredFunction& out);

  // Lowers all instructions. What no family knows becomes an op that faults when it is reached.
  void lower();

  // Rows whose elements are `bytes` wide (2, 4, 8, 16). A register of another width is resized by
  // an op before (source) or after (destination) the next emitted one.
  RowOffset source(const ptx::Operand& operand, unsigned bytes);
  RowOffset destination(const ptx::Operand& operand, unsigned bytes);
  // Rows of registers and constants as they are, with the width of their elements.
  std::pair<RowOffset, unsigned> stored(const ptx::Operand& operand, unsigned immediate_bytes);
  RowOffset constant(std::uint64_t bits, unsigned bytes, std::uint64_t high = 0);
  RowOffset temporary(unsigned bytes);
  RowOffset carry_row();                             // the predicate row that is the carry flag
  RowOffset predicate(const ptx::Operand& operand);  // of a register, or a constant
  RowOffset predicate_register(std::uint32_t index) const;

  Op& emit(Handler handler);
  Op& emit(Handler handler, RowOffset dst, RowOffset a, RowOffset b = 0, RowOffset c = 0);

  [[nodiscard]] const ptx::Function& function() const { return function_; }
  [[nodiscard]] const ptx::Operand& element(const ptx::Operand& vector, unsigned i) const {
    return function_.vector_elements[vector.index + i];
  }
  [[nodiscard]] LoweredFunction& out() { return out_; }
  [[nodiscard]] const KernelImage& image() const { return image_; }
  [[nodiscard]] unsigned register_bytes(std::uint32_t index) const;
  // Where the bytes of a .param symbol lie: own parameters, returns and call parameters.
  [[nodiscard]] ParameterStorage parameter_storage(const ptx::Symbol& symbol) const;
  [[nodiscard]] bool is_entry() const { return function_.is_entry; }
  // The value of a symbol's address where lowering knows it: not for local variables.
  std::optional<std::uint64_t> symbol_address(const ptx::Symbol& symbol) const;
  std::uint32_t local_offset(std::uint32_t variable) const { return local_offsets_[variable]; }
  // The work since the last call: what a block-ending op adds to the statistics.
  BlockCost take_cost();
  // Ops find their targets when all are placed: the first op of instruction `number`.
  void set_target(Op& op, std::uint32_t instruction);
  void set_reconvergence(BranchSite& site, std::uint32_t instruction);
  void add_table_target(BranchSite& site, std::uint32_t instruction);
  // Start of the block where `instruction`'s branch reconverges; nothing: the function's end.
  [[nodiscard]] std::optional<std::uint32_t> post_dominator(std::uint32_t instruction) const;
  [[nodiscard]] std::uint32_t current() const { return current_; }
  // Makes this instruction one that faults when it is reached.
  void emit_unsupported(const std::string& why);

 private:
  struct Fixup {
    std::size_t op;
    std::uint32_t instruction;
  };
  struct SiteFixup {
    BranchSite* site;
    std::uint32_t instruction;
    bool table;
  };
  void place_registers();
  void place_passing_registers();
  RowOffset take_row(unsigned bytes);
  void give_row(RowOffset row, unsigned bytes);
  void release_temporaries();
  void place_parameters();
  void place_locals();
  void lower_instruction(std::uint32_t number);
  void lower_guarded(const ptx::Instruction& instruction);
  void lower_plain(const ptx::Instruction& instruction);
  void begin_block(std::uint32_t number);
  void copy_addressed_parameters();
  void finish();
  void tally(const ptx::Instruction& instruction);
  RowOffset allocate(std::uint32_t bytes, std::uint32_t alignment = 64);
  std::uint32_t block_of(std::uint32_t instruction) const;

  const KernelImage& image_;
  const ptx::Function& function_;
  LoweredFunction& out_;
  std::vector<RowOffset> registers_;
  std::vector<ParameterStorage> variables_;                  // .param variables of the body
  std::vector<std::uint32_t> local_offsets_;                 // per Function::variables
  std::map<std::uint32_t, std::uint32_t> parameter_copies_;  // parameter to local offset
  struct Constant {
    std::uint64_t bits, high;
    unsigned bytes;
    auto operator<=>(const Constant&) const = default;
  };
  std::map<Constant, RowOffset> constants_;
  RowOffset constant_end_ = 0;
  RowOffset carry_row_ = -1;
  std::set<RowOffset> passing_;                           // rows whose inactive lanes nobody needs
  std::map<unsigned, std::vector<RowOffset>> free_rows_;  // of those, by element width
  std::vector<std::pair<RowOffset, unsigned>> temporaries_;  // of this instruction
  std::vector<Op> after_;  // resizing ops to place after the next emitted one
  std::vector<Fixup> fixups_;
  std::vector<SiteFixup> site_fixups_;
  std::vector<std::pair<Op*, std::uint32_t>> pending_;
  std::vector<bool> converges_;  // per block: some branch reconverges there
  BlockCost cost_;
  std::uint32_t current_ = 0;
};

// Families. Each returns false for what it does not know, having emitted nothing.
bool lower_integer(Builder& builder, const ptx::Instruction& instruction);
bool lower_packed(Builder& builder, const ptx::Instruction& instruction);
bool lower_division(Builder& builder, const ptx::Instruction& instruction);
bool lower_carry(Builder& builder, const ptx::Instruction& instruction);
bool lower_logic(Builder& builder, const ptx::Instruction& instruction);
bool lower_bitfield(Builder& builder, const ptx::Instruction& instruction);
bool lower_float(Builder& builder, const ptx::Instruction& instruction);
bool lower_approximate(Builder& builder, const ptx::Instruction& instruction);
bool lower_half(Builder& builder, const ptx::Instruction& instruction);
bool lower_compare(Builder& builder, const ptx::Instruction& instruction);
bool lower_select(Builder& builder, const ptx::Instruction& instruction);
bool lower_convert(Builder& builder, const ptx::Instruction& instruction);
bool lower_move(Builder& builder, const ptx::Instruction& instruction);
bool lower_load(Builder& builder, const ptx::Instruction& instruction);
bool lower_store(Builder& builder, const ptx::Instruction& instruction);
bool lower_atomic(Builder& builder, const ptx::Instruction& instruction);
bool lower_async(Builder& builder, const ptx::Instruction& instruction);
bool lower_shuffle(Builder& builder, const ptx::Instruction& instruction);
bool lower_vote(Builder& builder, const ptx::Instruction& instruction);
bool lower_barrier(Builder& builder, const ptx::Instruction& instruction);
bool lower_control(Builder& builder, const ptx::Instruction& instruction);
bool lower_call(Builder& builder, const ptx::Instruction& instruction);
bool lower_matrix(Builder& builder, const ptx::Instruction& instruction);
bool lower_video(Builder& builder, const ptx::Instruction& instruction);
bool lower_cluster(Builder& builder, const ptx::Instruction& instruction);
bool lower_texture(Builder& builder, const ptx::Instruction& instruction);
bool lower_surface(Builder& builder, const ptx::Instruction& instruction);

// The address operand of a memory instruction in a form that its handler can use.
MemoryAccess& lower_address(Builder& builder, const ptx::Instruction& instruction,
                            const ptx::Operand& address, ptx::Space space);
// All operands of an instruction, destinations first, that are no addresses; and those that are.
std::vector<const ptx::Operand*> values_of(const ptx::Instruction& instruction);
std::vector<const ptx::Operand*> addresses_of(const ptx::Instruction& instruction);
// Whether a dotted word stands in the opcode.
bool has_word(const ptx::Instruction& instruction, std::string_view word);

// Handlers that lowering itself needs.
extern const Handler kGuardOne;    // detail: 1 when negated; a: predicate
extern const Handler kGuardBegin;  // target: past the guarded ops
extern const Handler kGuardEnd;
extern const Handler kConverge;     // first op of a block where some branch reconverges
extern const Handler kCount;        // extra: BranchSite, for its cost
extern const Handler kUnsupported;  // extra: std::string
extern const Handler kBranch;       // target; extra: BranchSite
extern const Handler kBranchIf;     // a: predicate; target; extra: BranchSite
extern const Handler kBranchIfNot;
extern const Handler kCopyParameter;  // to local memory: a, b: storage; immediate: local offset
extern const Handler kFlushRow;       // f32 subnormals of row a to zeros of their sign
Handler resize_handler(unsigned from, unsigned to);  // zero-extends
Handler special_handler(ptx::Special special, unsigned bytes);
extern const Handler kLocalAddress;  // dst; immediate: offset in the frame's locals; detail: bytes

}  // namespace drgpum::emulator::exec
