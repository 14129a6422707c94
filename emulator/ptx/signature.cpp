// SPDX-License-Identifier: Apache-2.0
// Which operands an instruction takes.

#include "emulator/ptx/signature.h"

#include <algorithm>
#include <initializer_list>

#include "emulator/ptx/words.h"

namespace drgpum::emulator::ptx {
namespace {

constexpr Slot value(Type type) {
  return {Use::kValue, type};
}
constexpr Slot kPredicate{Use::kPredicate, Type::kPred};
constexpr Slot kAddress{Use::kAddress, Type::kNone};
constexpr Slot kU32 = value(Type::kU32);
constexpr Slot kPolicy = value(Type::kB64);

Signature closed(std::initializer_list<Slot> required, std::initializer_list<Slot> optional) {
  Signature signature;
  signature.open = false;
  signature.required = static_cast<std::uint8_t>(required.size());
  signature.count = static_cast<std::uint8_t>(required.size() + optional.size());
  auto* end = std::copy(required.begin(), required.end(), signature.sources.begin());
  std::copy(optional.begin(), optional.end(), end);
  return signature;
}

Signature without_result(std::initializer_list<Slot> required,
                         std::initializer_list<Slot> optional = {}) {
  Signature signature = closed(required, optional);
  signature.destination = false;
  return signature;
}

Signature with_result(Slot destination, std::initializer_list<Slot> required,
                      std::initializer_list<Slot> optional = {}) {
  Signature signature = closed(required, optional);
  signature.destination_slot = destination;
  return signature;
}

Signature with_second_result(Slot destination, std::initializer_list<Slot> required,
                             std::initializer_list<Slot> optional = {}) {
  Signature signature = with_result(destination, required, optional);
  signature.second_destination = true;
  return signature;
}

// A predicate or a word, as .pred or .b32 says.
Slot of(Type type) {
  return type == Type::kPred ? kPredicate : value(type);
}

Signature arithmetic(const Instruction& i) {
  const Slot own = of(i.type);
  const Slot first = i.source_type == Type::kNone ? own : of(i.source_type);
  const Slot wide = i.half == Half::kWide ? value(widened(i.type)) : own;
  switch (i.opcode) {
    case Opcode::kAdd:
    case Opcode::kSub:
      return with_result(own, {first, own});
    case Opcode::kMul:
      return with_result(wide, {own, own});
    case Opcode::kMin:
    case Opcode::kMax:
      return with_result(own, {own, own}, {own});
    case Opcode::kMad:
    case Opcode::kMadc:
    case Opcode::kFma:
      return with_result(wide, {first, first, wide});
    case Opcode::kMad24:
    case Opcode::kSad:
      return with_result(own, {own, own, own});
    case Opcode::kDp2a:
    case Opcode::kDp4a:
      return with_result(kU32, {kU32, kU32, kU32});
    default:
      return with_result(own, {own, own});
  }
}

Signature unary(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kPopc:
    case Opcode::kClz:
    case Opcode::kBfind:
      return with_result(kU32, {value(i.type)});
    case Opcode::kTestp:
      return with_result(kPredicate, {value(i.type)});
    case Opcode::kIsspacep:
      return with_result(kPredicate, {value(Type::kB64)});
    case Opcode::kCvta:
      return with_result(value(i.type), {value(i.type)});
    default:
      return with_result(of(i.type), {of(i.type)});
  }
}

Signature bits(const Instruction& i) {
  const Slot own = of(i.type);
  switch (i.opcode) {
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kSzext:
      return with_result(own, {own, kU32});
    case Opcode::kBfe:
      return with_result(own, {own, kU32, kU32});
    case Opcode::kBfi:
      return with_result(own, {own, own, kU32, kU32});
    case Opcode::kShf:
    case Opcode::kPrmt:
      return with_result(own, {own, own, kU32});
    case Opcode::kBmsk:
      return with_result(own, {kU32, kU32});
    case Opcode::kFns:
      return with_result(kU32, {kU32, kU32, value(Type::kS32)});
    case Opcode::kLop3:
      return with_second_result(own, {own, own, own, kU32}, {kPredicate});
    default:
      return with_result(own, {own, own});
  }
}

Signature comparison(const Instruction& i) {
  const Slot own = of(i.type);
  switch (i.opcode) {
    case Opcode::kSetp:
      return with_second_result(kPredicate, {own, own}, {kPredicate});
    case Opcode::kSet:
      return with_result(own, {value(i.source_type), value(i.source_type)}, {kPredicate});
    case Opcode::kSlct:
      return with_result(own, {own, own, value(i.source_type)});
    default:
      return with_result(own, {own, own, kPredicate});
  }
}

Signature conversion(const Instruction& i) {
  const Slot from{Use::kWider, i.source_type};
  const auto& words = i.modifiers;
  if (std::find(words.begin(), words.end(), "pack") != words.end()) {
    return with_result({Use::kWider, i.type}, {from, from}, {value(Type::kB32)});
  }
  return with_result({Use::kWider, i.type}, {from}, {from, {}, {}, {}});
}

Signature memory(const Instruction& i) {
  const Slot elements{i.type == Type::kPred ? Use::kPredicate : Use::kElements, i.type};
  switch (i.opcode) {
    case Opcode::kLd:
    case Opcode::kLdu:
      return with_result(elements, {kAddress}, {kPolicy});
    case Opcode::kSt:
      return without_result({kAddress, elements}, {kPolicy});
    case Opcode::kAtom: {
      const bool swap = i.atom_op == AtomOp::kCas;
      return swap ? with_result(elements, {kAddress, elements, elements}, {kPolicy})
                  : with_result(elements, {kAddress, elements}, {kPolicy});
    }
    case Opcode::kRed:
      return without_result({kAddress, elements}, {kPolicy});
    case Opcode::kCpAsync:
      return without_result({kAddress, kAddress, kU32}, {{}, kPolicy});
    case Opcode::kCreatepolicy: {
      const bool fraction = !i.modifiers.empty() && i.modifiers.front() == "fractional";
      return fraction ? with_result(value(Type::kB64), {}, {value(Type::kF32)}) : Signature{};
    }
    case Opcode::kDiscard:
    case Opcode::kApplypriority:
      return without_result({kAddress, kU32});
    default:
      return without_result({kAddress}, {kPolicy});
  }
}

Signature barrier(const Instruction& i) {
  const bool of_cluster =
      std::find(i.modifiers.begin(), i.modifiers.end(), "cluster") != i.modifiers.end();
  if (of_cluster) return without_result({});
  if (i.warp_sync || i.warp_mode == WarpMode::kNone) return without_result({}, {kU32, kU32});
  if (i.warp_mode == WarpMode::kRed) return with_result(of(i.type), {kU32, {}}, {kPredicate});
  if (i.warp_mode == WarpMode::kArrive) return without_result({kU32, kU32});
  return without_result({kU32}, {kU32});
}

Signature warp(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kBar:
    case Opcode::kBarrier:
      return barrier(i);
    case Opcode::kVote:
      return with_result(of(i.type), {kPredicate}, {kU32});
    case Opcode::kMatch:
      return with_second_result(kU32, {value(i.type), kU32});
    case Opcode::kShfl:
      return with_second_result(value(i.type), {value(i.type), kU32, kU32}, {kU32});
    case Opcode::kRedux:
      return with_result(value(i.type), {value(i.type), kU32});
    case Opcode::kElect:
      return with_second_result(kU32, {kU32});
    default:
      return with_result(kU32, {});
  }
}

Signature control(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::kBra:
      return without_result({{Use::kLabel, Type::kNone}});
    case Opcode::kBrx:
      return without_result({kU32, {Use::kLabelTable, Type::kNone}});
    case Opcode::kNanosleep:
    case Opcode::kPmevent:
    case Opcode::kCpAsyncWaitGroup:
      return without_result({kU32});
    default:
      return without_result({});
  }
}

bool first_is_result_of_open(const Instruction& i, const Operand& first, std::size_t operands) {
  const std::string_view word = i.modifiers.empty() ? "" : std::string_view(i.modifiers.front());
  switch (i.opcode) {
    case Opcode::kCall:
    case Opcode::kFence:
    case Opcode::kSust:
    case Opcode::kSured:
    case Opcode::kStmatrix:
    case Opcode::kStackrestore:
      return false;
    case Opcode::kWmma:
      return word != "store";
    case Opcode::kMbarrier:
      return operands > 0 && first.kind != OperandKind::kAddress;
    case Opcode::kOther:
      return operands > 1 &&
             (first.kind == OperandKind::kRegister || first.kind == OperandKind::kVector ||
              first.kind == OperandKind::kSink);
    default:
      return true;
  }
}

Signature move(const Instruction& i) {
  const Slot slot = i.type == Type::kPred ? kPredicate : Slot{Use::kVector, i.type};
  return with_result(slot, {slot});
}

Signature open_signature(const Instruction&) {
  return {};
}

using Maker = Signature (*)(const Instruction&);
using Makers = std::array<Maker, static_cast<std::size_t>(Opcode::kOther) + 1>;

Makers make_makers() {
  using enum Opcode;
  Makers makers;
  makers.fill(open_signature);
  const auto set = [&makers](Maker maker, std::initializer_list<Opcode> opcodes) {
    for (const Opcode opcode : opcodes)
      makers[static_cast<std::size_t>(opcode)] = maker;
  };
  set(arithmetic, {kAdd, kAddc, kCopysign, kDiv, kDp2a, kDp4a, kFma, kMad, kMad24, kMadc, kMax,
                   kMin, kMul, kMul24, kRem, kSad, kSub, kSubc});
  set(unary, {kAbs, kBfind, kBrev, kClz, kCnot, kCos, kCvta, kEx2, kIsspacep, kLg2, kNeg, kNot,
              kPopc, kRcp, kRsqrt, kSin, kSqrt, kTanh, kTestp});
  set(bits, {kAnd, kBfe, kBfi, kBmsk, kFns, kLop3, kOr, kPrmt, kShf, kShl, kShr, kSzext, kXor});
  set(comparison, {kSelp, kSet, kSetp, kSlct});
  set(conversion, {kCvt});
  set(move, {kMov});
  set(memory, {kApplypriority, kAtom, kCpAsync, kCreatepolicy, kDiscard, kLd, kLdu, kPrefetch,
               kPrefetchu, kRed, kSt});
  set(warp, {kActivemask, kBar, kBarrier, kElect, kMatch, kRedux, kShfl, kVote});
  set(control, {kBra, kBrkpt, kBrx, kCpAsyncCommitGroup, kCpAsyncWaitAll, kCpAsyncWaitGroup, kExit,
                kGriddepcontrol, kMembar, kNanosleep, kPmevent, kRet, kTrap});
  return makers;
}

}  // namespace

Signature signature_of(const Instruction& instruction) {
  static const Makers kMakers = make_makers();
  return kMakers[static_cast<std::size_t>(instruction.opcode)](instruction);
}

bool has_destination(const Instruction& instruction, const Operand& first, std::size_t operands) {
  const Signature signature = signature_of(instruction);
  if (signature.open) return first_is_result_of_open(instruction, first, operands);
  return signature.destination;
}

}  // namespace drgpum::emulator::ptx
