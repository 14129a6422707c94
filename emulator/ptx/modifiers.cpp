// SPDX-License-Identifier: Apache-2.0
// What each dotted word after an opcode sets in an Instruction.

#include <unordered_map>

#include "emulator/ptx/words.h"

namespace drgpum::emulator::ptx {
namespace {

enum class Kind : std::uint8_t {
  kRounding,
  kCompare,
  kLogic,  // and or xor: BoolOp of setp, set, lop3, bar.red; AtomOp of atom, red, redux
  kAtomOp,
  kHalf,
  kWarpMode,
  kSync,
  kVector,
  kFlag,
};

struct Meaning {
  Kind kind;
  std::uint8_t value;
  bool Instruction::*flag = nullptr;
};

template <typename T>
constexpr Meaning means(Kind kind, T value) {
  return {kind, static_cast<std::uint8_t>(value)};
}

constexpr Meaning sets(bool Instruction::*flag) {
  return {Kind::kFlag, 0, flag};
}

// Words with one meaning wherever they stand, or whose meaning apply() settles by opcode.
const std::unordered_map<std::string_view, Meaning>& meanings() {
  // Never destroyed: modules are loaded while a program ends.
  static const auto& kMeanings = *new std::unordered_map<std::string_view, Meaning>{
      {"rn", means(Kind::kRounding, Rounding::kRn)},
      {"rz", means(Kind::kRounding, Rounding::kRz)},
      {"rm", means(Kind::kRounding, Rounding::kRm)},
      {"rp", means(Kind::kRounding, Rounding::kRp)},
      {"rna", means(Kind::kRounding, Rounding::kRna)},
      {"rni", means(Kind::kRounding, Rounding::kRni)},
      {"rzi", means(Kind::kRounding, Rounding::kRzi)},
      {"rmi", means(Kind::kRounding, Rounding::kRmi)},
      {"rpi", means(Kind::kRounding, Rounding::kRpi)},
      {"eq", means(Kind::kCompare, Compare::kEq)},
      {"ne", means(Kind::kCompare, Compare::kNe)},
      {"lt", means(Kind::kCompare, Compare::kLt)},
      {"le", means(Kind::kCompare, Compare::kLe)},
      {"gt", means(Kind::kCompare, Compare::kGt)},
      {"ge", means(Kind::kCompare, Compare::kGe)},
      {"ls", means(Kind::kCompare, Compare::kLs)},
      {"hs", means(Kind::kCompare, Compare::kHs)},
      {"equ", means(Kind::kCompare, Compare::kEqu)},
      {"neu", means(Kind::kCompare, Compare::kNeu)},
      {"ltu", means(Kind::kCompare, Compare::kLtu)},
      {"leu", means(Kind::kCompare, Compare::kLeu)},
      {"gtu", means(Kind::kCompare, Compare::kGtu)},
      {"geu", means(Kind::kCompare, Compare::kGeu)},
      {"num", means(Kind::kCompare, Compare::kNum)},
      {"nan", means(Kind::kCompare, Compare::kNan)},
      {"and", means(Kind::kLogic, BoolOp::kAnd)},
      {"or", means(Kind::kLogic, BoolOp::kOr)},
      {"xor", means(Kind::kLogic, BoolOp::kXor)},
      {"add", means(Kind::kAtomOp, AtomOp::kAdd)},
      {"min", means(Kind::kAtomOp, AtomOp::kMin)},
      {"max", means(Kind::kAtomOp, AtomOp::kMax)},
      {"inc", means(Kind::kAtomOp, AtomOp::kInc)},
      {"dec", means(Kind::kAtomOp, AtomOp::kDec)},
      {"exch", means(Kind::kAtomOp, AtomOp::kExch)},
      {"cas", means(Kind::kAtomOp, AtomOp::kCas)},
      {"lo", means(Kind::kHalf, Half::kLo)},
      {"hi", means(Kind::kHalf, Half::kHi)},
      {"wide", means(Kind::kHalf, Half::kWide)},
      {"up", means(Kind::kWarpMode, WarpMode::kUp)},
      {"down", means(Kind::kWarpMode, WarpMode::kDown)},
      {"bfly", means(Kind::kWarpMode, WarpMode::kBfly)},
      {"idx", means(Kind::kWarpMode, WarpMode::kIdx)},
      {"all", means(Kind::kWarpMode, WarpMode::kAll)},
      {"any", means(Kind::kWarpMode, WarpMode::kAny)},
      {"uni", means(Kind::kWarpMode, WarpMode::kUni)},
      {"ballot", means(Kind::kWarpMode, WarpMode::kBallot)},
      {"arrive", means(Kind::kWarpMode, WarpMode::kArrive)},
      {"red", means(Kind::kWarpMode, WarpMode::kRed)},
      {"sync", means(Kind::kSync, 0)},
      {"v2", means(Kind::kVector, 2)},
      {"v4", means(Kind::kVector, 4)},
      {"v8", means(Kind::kVector, 8)},
      {"ftz", sets(&Instruction::ftz)},
      {"sat", sets(&Instruction::sat)},
      {"approx", sets(&Instruction::approx)},
      {"full", sets(&Instruction::full)},
      {"cc", sets(&Instruction::carry_out)},
      {"volatile", sets(&Instruction::is_volatile)},
      {"nc", sets(&Instruction::non_coherent)},
      {"clamp", sets(&Instruction::clamp)},
      {"shiftamt", sets(&Instruction::shift_amount)},
      {"r", sets(&Instruction::right)},
  };
  return kMeanings;
}

bool is_atomic(Opcode opcode) {
  return opcode == Opcode::kAtom || opcode == Opcode::kRed || opcode == Opcode::kRedux;
}

bool compares(Opcode opcode) {
  return opcode == Opcode::kSetp || opcode == Opcode::kSet;
}

AtomOp atomic(BoolOp op) {
  if (op == BoolOp::kAnd) return AtomOp::kAnd;
  return op == BoolOp::kOr ? AtomOp::kOr : AtomOp::kXor;
}

void apply_half(Half half, Instruction& instruction) {
  if (compares(instruction.opcode)) {
    instruction.compare = half == Half::kLo ? Compare::kLo : Compare::kHi;
  } else {
    instruction.half = half;
  }
}

void apply_warp_mode(WarpMode mode, Instruction& instruction) {
  const bool jump = instruction.opcode == Opcode::kBra || instruction.opcode == Opcode::kCall ||
                    instruction.opcode == Opcode::kRet || instruction.opcode == Opcode::kBrx;
  if (jump) {
    instruction.uniform |= mode == WarpMode::kUni;
  } else {
    instruction.warp_mode = mode;
  }
}

// bar.sync and barrier.sync name a mode; elsewhere .sync says that a mask of lanes takes part.
void apply_sync(Instruction& instruction) {
  const bool is_bar = instruction.opcode == Opcode::kBar || instruction.opcode == Opcode::kBarrier;
  if (is_bar) instruction.warp_mode = WarpMode::kSync;
  const auto& words = instruction.modifiers;
  instruction.warp_sync = !is_bar || (!words.empty() && words.front() == "warp");
}

void apply_type(Type type, Instruction& instruction) {
  if (instruction.type == Type::kNone) {
    instruction.type = type;
  } else if (instruction.source_type == Type::kNone) {
    instruction.source_type = type;
  }
}

void apply(const Meaning& meaning, Instruction& instruction) {
  switch (meaning.kind) {
    case Kind::kRounding:
      instruction.rounding = static_cast<Rounding>(meaning.value);
      return;
    case Kind::kCompare:
      instruction.compare = static_cast<Compare>(meaning.value);
      return;
    case Kind::kLogic:
      if (is_atomic(instruction.opcode)) {
        instruction.atom_op = atomic(static_cast<BoolOp>(meaning.value));
      } else {
        instruction.bool_op = static_cast<BoolOp>(meaning.value);
      }
      return;
    case Kind::kAtomOp:
      if (is_atomic(instruction.opcode)) instruction.atom_op = static_cast<AtomOp>(meaning.value);
      return;
    case Kind::kHalf:
      return apply_half(static_cast<Half>(meaning.value), instruction);
    case Kind::kWarpMode:
      return apply_warp_mode(static_cast<WarpMode>(meaning.value), instruction);
    case Kind::kSync:
      return apply_sync(instruction);
    case Kind::kVector:
      instruction.vector = meaning.value;
      return;
    case Kind::kFlag:
      instruction.*meaning.flag = true;
      return;
  }
}

}  // namespace

void apply_modifier(std::string_view word, Instruction& instruction) {
  instruction.modifiers.emplace_back(word);
  if (const auto type = type_of_word(word)) return apply_type(*type, instruction);
  if (const auto space = space_of_word(word)) {
    instruction.space = *space;
    return;
  }
  const auto found = meanings().find(word);
  if (found != meanings().end()) apply(found->second, instruction);
}

}  // namespace drgpum::emulator::ptx
