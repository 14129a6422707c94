// SPDX-License-Identifier: Apache-2.0
// Whether a linked program keeps the rules that the executor relies on.

#include "emulator/ptx/verifier.h"

#include <string>

#include "emulator/ptx/printer.h"
#include "emulator/ptx/signature.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::ptx {
namespace {

bool is_bits(Type type) {
  return type >= Type::kB8 && type <= Type::kB128;
}

// Whether a register may hold a value of `type`; `wider`: also one with room to spare.
bool fits(Type in_register, Type type, bool wider) {
  if (type == Type::kOther) return true;
  if (in_register == Type::kPred || type == Type::kPred) return in_register == type;
  const std::uint32_t has = bytes_of(in_register);
  const std::uint32_t needs = bytes_of(type);
  if (has != needs) {
    if (!wider || has < needs || is_float(in_register)) return false;
    return is_bits(in_register) || !is_float(type);
  }
  if (is_bits(in_register) || is_bits(type)) return true;
  return is_float(type) ? in_register == type : !is_float(in_register);
}

// What is wrong with an instruction; empty when nothing is.
using Complaint = std::string;

class FunctionVerifier {
 public:
  FunctionVerifier(const Program& program, const Function& function)
      : program_(program), function_(function) {}

  Status verify() {
    for (const auto& table : function_.label_tables) {
      for (const std::uint32_t target : table) {
        if (target > function_.instructions.size()) return error("a label outside the function");
      }
    }
    for (const Instruction& instruction : function_.instructions) {
      const Complaint complaint = check(instruction);
      if (complaint.empty()) continue;
      return error("line " + std::to_string(instruction.line) + ": '" +
                   to_text(function_, instruction) + "': " + complaint);
    }
    return Ok{};
  }

 private:
  [[nodiscard]] Error error(const std::string& what) const {
    return {ErrorCode::kInvalidArgument,
            program_.name + ": function " + function_.name + ", " + what};
  }

  Complaint check(const Instruction& i) {
    if (i.guard != kNoRegister && function_.registers[i.guard].type != Type::kPred) {
      return "the guard is not a predicate";
    }
    if (i.opcode == Opcode::kCall) return check_call(i);
    const Signature signature = signature_of(i);
    return signature.open ? Complaint() : check_closed(i, signature);
  }

  Complaint check_closed(const Instruction& i, const Signature& signature) {
    const std::size_t results = signature.destination ? 1 : 0;
    const std::size_t most = results + (signature.second_destination ? 1 : 0);
    if (i.destinations.size() < results || i.destinations.size() > most) {
      return "wrong number of results";
    }
    if (i.sources.size() < signature.required || i.sources.size() > signature.count) {
      return "wrong number of operands: " + std::to_string(i.sources.size()) + " where " +
             std::to_string(signature.required) +
             (signature.count > signature.required ? " or more belong" : " belong");
    }
    for (std::size_t n = 0; n < i.destinations.size(); ++n) {
      const Slot slot = n == 0 ? signature.destination_slot : second_slot(i);
      const Complaint complaint = check_result(i, i.destinations[n], slot);
      if (!complaint.empty()) return complaint + " (result " + std::to_string(n + 1) + ')';
    }
    for (std::size_t n = 0; n < i.sources.size(); ++n) {
      const Complaint complaint = check_source(i, i.sources[n], signature.sources[n], n);
      if (!complaint.empty()) return complaint + " (operand " + std::to_string(n + 1) + ')';
    }
    return {};
  }

  static Slot second_slot(const Instruction&) { return {Use::kPredicate, Type::kPred}; }

  Complaint check_result(const Instruction& i, const Operand& operand, const Slot& slot) {
    switch (operand.kind) {
      case OperandKind::kSink:
        return {};
      case OperandKind::kRegister:
      case OperandKind::kVector:
        return check_source(i, operand, slot, 0);
      default:
        return "a result must be a register";
    }
  }

  Complaint check_source(const Instruction& i, const Operand& operand, const Slot& slot,
                         std::size_t place) {
    if (operand.negated && slot.use != Use::kPredicate && slot.use != Use::kAny) {
      return "only predicates can be negated";
    }
    switch (slot.use) {
      case Use::kAny:
        return check_any(operand);
      case Use::kAddress:
        return check_address(i, operand, space_at(i, place));
      case Use::kPredicate:
        return check_predicate(operand);
      case Use::kLabel:
        return operand.kind == OperandKind::kLabel && operand.index <= function_.instructions.size()
                   ? Complaint()
                   : "a label is missing";
      case Use::kLabelTable:
        return operand.kind == OperandKind::kLabelTable &&
                       operand.index < function_.label_tables.size()
                   ? Complaint()
                   : "a table of labels is missing";
      case Use::kValue:
        return check_value(i, operand, slot.type, false);
      case Use::kWider:
        return check_value(i, operand, slot.type, true);
      case Use::kVector:
        return operand.kind == OperandKind::kVector ? check_packed(operand, slot.type)
                                                    : check_value(i, operand, slot.type, false);
      case Use::kElements:
        return check_elements(i, operand, slot.type);
    }
    return {};
  }

  // cp.async goes from global memory to shared memory; elsewhere every address is in one space.
  static Space space_at(const Instruction& i, std::size_t place) {
    return i.opcode == Opcode::kCpAsync && place == 0 ? Space::kShared : i.space;
  }

  static Complaint check_any(const Operand& operand) {
    return operand.kind == OperandKind::kNone ? "an operand is missing" : "";
  }

  // `space`: where the instruction looks.
  Complaint check_address(const Instruction& i, const Operand& operand, Space space) {
    if (operand.kind != OperandKind::kAddress) return "an address in brackets is missing";
    if (operand.count != 0) return "more than an address in the brackets";
    if (operand.address_base == AddressBase::kAbsolute) return {};
    if (operand.address_base == AddressBase::kSymbol) return check_place(i, operand, space);
    const Type type = function_.registers[operand.index].type;
    const std::uint32_t bytes = bytes_of(type);
    return (bytes == 4 || bytes == 8) && !is_float(type) ? Complaint()
                                                         : "the register cannot hold an address";
  }

  Complaint check_place(const Instruction& i, const Operand& operand, Space space) {
    const Symbol& symbol = function_.symbols[operand.index];
    if (symbol.kind == SymbolKind::kFunction) return "a function is no place in memory";
    if (space_of(symbol) != space) return "'" + symbol.name + "' is in another state space";
    if (symbol.kind == SymbolKind::kReturn && i.opcode != Opcode::kSt) {
      return "a result of the function can only be written";
    }
    if (symbol.kind == SymbolKind::kParameter && i.opcode == Opcode::kSt) {
      return "a parameter of the function can only be read";
    }
    return {};
  }

  [[nodiscard]] Space space_of(const Symbol& symbol) const {
    switch (symbol.kind) {
      case SymbolKind::kGlobalVariable:
        return program_.variables[symbol.index].space;
      case SymbolKind::kLocalVariable:
        return function_.variables[symbol.index].space;
      case SymbolKind::kParameter:
      case SymbolKind::kReturn:
        return Space::kParam;
      case SymbolKind::kFunction:
      case SymbolKind::kUnresolved:
        return Space::kGeneric;
    }
    return Space::kGeneric;
  }

  // An address as a value: only mov and cvta take one, and not of what only calls use.
  Complaint check_symbol(const Instruction& i, const Operand& operand, Type type) {
    const Symbol& symbol = function_.symbols[operand.index];
    if (i.opcode != Opcode::kMov && i.opcode != Opcode::kCvta) return "a register is missing";
    if (bytes_of(type) != 4 && bytes_of(type) != 8) return "an address does not fit the type";
    const bool of_call =
        symbol.kind == SymbolKind::kReturn ||
        (symbol.kind == SymbolKind::kLocalVariable && space_of(symbol) == Space::kParam);
    if (of_call) return "'" + symbol.name + "' has no address";
    if (i.opcode == Opcode::kCvta && space_of(symbol) != i.space) {
      return "'" + symbol.name + "' is in another state space";
    }
    return {};
  }

  Complaint check_predicate(const Operand& operand) {
    if (operand.kind == OperandKind::kImmediate) return {};
    if (operand.kind == OperandKind::kSpecial && operand.special == Special::kIsExplicitCluster) {
      return {};
    }
    const bool good = operand.kind == OperandKind::kRegister &&
                      function_.registers[operand.index].type == Type::kPred;
    return good ? Complaint() : "a predicate is missing";
  }

  Complaint check_value(const Instruction& i, const Operand& operand, Type type, bool wider) {
    if (type == Type::kNone) return "the opcode needs a type";
    switch (operand.kind) {
      case OperandKind::kImmediate:
      case OperandKind::kSpecial:
        return {};
      case OperandKind::kSymbol:
        return check_symbol(i, operand, type);
      case OperandKind::kRegister:
        return check_register(operand, type, wider);
      default:
        return "a value is missing";
    }
  }

  Complaint check_register(const Operand& operand, Type type, bool wider) {
    if (operand.offset != 0) return "a register plus a number stands outside of brackets";
    if (operand.bits != 0) return "only video instructions take a part of a register";
    const Register& r = function_.registers[operand.index];
    if (fits(r.type, type, wider)) return {};
    return "register " + r.name + " is ." + std::string(word_of(r.type)) + ", the instruction ." +
           std::string(word_of(type));
  }

  // mov.b64 {a, b}: the elements fill the type.
  Complaint check_packed(const Operand& vector, Type type) {
    if (vector.count == 0) return "an empty vector";
    const std::uint32_t each = bytes_of(type) / vector.count;
    if (each * vector.count != bytes_of(type)) return "the vector does not fill the type";
    for (std::uint32_t n = 0; n < vector.count; ++n) {
      const Operand& element = function_.vector_elements[vector.index + n];
      if (element.kind != OperandKind::kRegister) continue;
      const Register& r = function_.registers[element.index];
      if (bytes_of(r.type) != each) return "register " + r.name + " does not fill its place";
    }
    return {};
  }

  Complaint check_elements(const Instruction& i, const Operand& operand, Type type) {
    if (operand.kind != OperandKind::kVector) {
      return i.vector == 1 ? check_value(i, operand, type, true) : "a vector is missing";
    }
    if (operand.count != i.vector) return "the vector has another length than the instruction";
    for (std::uint32_t n = 0; n < operand.count; ++n) {
      const Operand& element = function_.vector_elements[operand.index + n];
      if (element.kind == OperandKind::kSink) continue;
      const Complaint complaint = check_value(i, element, type, true);
      if (!complaint.empty()) return complaint;
    }
    return {};
  }

  Complaint check_call(const Instruction& i) {
    if (i.sources.empty()) return "the called function is missing";
    const Operand& callee = i.sources.front();
    if (callee.kind == OperandKind::kSymbol) return check_direct_call(i, callee);
    if (callee.kind != OperandKind::kRegister) return "a function or a register is missing";
    if (bytes_of(function_.registers[callee.index].type) != 8) {
      return "the register cannot hold a function's address";
    }
    if (i.prototype == kNoRegister) return "an indirect call needs a prototype";
    const Prototype& prototype = function_.prototypes[i.prototype];
    if (!prototype.targets.empty()) return {};
    return check_arguments(i, prototype.returns, prototype.parameters);
  }

  Complaint check_direct_call(const Instruction& i, const Operand& callee) {
    const Symbol& symbol = function_.symbols[callee.index];
    if (symbol.kind != SymbolKind::kFunction) return "what is called is not a function";
    const Function& called = program_.functions[symbol.index];
    if (called.is_entry) return "a kernel cannot be called";
    return check_arguments(i, called.returns, called.parameters);
  }

  Complaint check_arguments(const Instruction& i, const std::vector<Parameter>& returns,
                            const std::vector<Parameter>& parameters) {
    if (i.destinations.size() != returns.size()) return "wrong number of results of a call";
    const std::size_t given = i.sources.size() - 1;
    const bool open = !parameters.empty() && parameters.back().size == 0;  // .b8 name[]
    const std::size_t needed = parameters.size() - (open ? 1 : 0);
    if (given < needed || (given > needed && !open)) {
      return "a call with " + std::to_string(given) + " arguments where " + std::to_string(needed) +
             " belong";
    }
    for (std::size_t n = 0; n < needed; ++n) {
      const Complaint complaint = check_argument(i.sources[n + 1], parameters[n]);
      if (!complaint.empty()) return complaint + " (argument " + std::to_string(n + 1) + ')';
    }
    for (std::size_t n = 0; n < returns.size(); ++n) {
      const Complaint complaint = check_argument(i.destinations[n], returns[n]);
      if (!complaint.empty()) return complaint + " (result " + std::to_string(n + 1) + ')';
    }
    return {};
  }

  // A .param variable with room for the parameter, or a plain value.
  Complaint check_argument(const Operand& operand, const Parameter& parameter) {
    if (operand.kind == OperandKind::kImmediate || operand.kind == OperandKind::kSink) return {};
    if (operand.kind == OperandKind::kRegister) {
      return check_register(operand, parameter.type, false);
    }
    if (operand.kind != OperandKind::kSymbol) return "an argument of an unknown kind";
    const Symbol& symbol = function_.symbols[operand.index];
    if (symbol.kind == SymbolKind::kParameter || symbol.kind == SymbolKind::kReturn) return {};
    if (symbol.kind != SymbolKind::kLocalVariable) return "an argument that is not .param";
    const Variable& variable = function_.variables[symbol.index];
    if (variable.space != Space::kParam) return "an argument that is not .param";
    return variable.size >= parameter.size ? Complaint() : "the argument is too small";
  }

  const Program& program_;
  const Function& function_;
};

}  // namespace

Status verify(const Program& program) {
  for (const Function& function : program.functions) {
    RETURN_IF_ERROR(FunctionVerifier(program, function).verify());
  }
  return Ok{};
}

}  // namespace drgpum::emulator::ptx
