// SPDX-License-Identifier: Apache-2.0
// A Program back to PTX text.

#include "emulator/ptx/printer.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <set>

#include "emulator/ptx/instruction_printer.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::ptx {
namespace {

std::string_view word_of(Linkage linkage) {
  switch (linkage) {
    case Linkage::kVisible:
      return ".visible ";
    case Linkage::kExtern:
      return ".extern ";
    case Linkage::kWeak:
      return ".weak ";
    case Linkage::kCommon:
      return ".common ";
    case Linkage::kLocal:
      return "";
  }
  return "";
}

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

// ".align 8 .b8 name[24]"; the length and the alignment only where they are not the type's own.
std::string declarator(Type type, std::uint32_t alignment, const std::string& name,
                       std::uint64_t size) {
  const std::uint32_t bytes = std::max(bytes_of(type), 1u);
  std::string text;
  if (alignment != bytes) text += ".align " + number(alignment) + ' ';
  text += '.' + std::string(ptx::word_of(type)) + ' ' + name;
  if (size == bytes) return text;
  return text + (size == 0 ? "[]" : '[' + number(size / bytes) + ']');
}

std::uint64_t read_bits(const std::vector<std::byte>& bytes, std::size_t offset, std::size_t size) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < size && i < 8; ++i) {
    bits |= std::to_integer<std::uint64_t>(bytes[offset + i]) << (8 * i);
  }
  return bits;
}

std::string address_text(const Relocation& relocation) {
  std::string text = relocation.symbol;
  if (relocation.generic) text = "generic(" + text + ')';
  if (relocation.addend > 0) text += '+';
  if (relocation.addend != 0) text += std::to_string(relocation.addend);
  if (relocation.mask == ~std::uint64_t{0}) return text;
  return number(relocation.mask) + '(' + text + ')';
}

std::string initialiser(const Variable& variable) {
  std::map<std::uint64_t, const Relocation*> addresses;
  for (const Relocation& relocation : variable.relocations) {
    addresses.emplace(relocation.offset, &relocation);
  }
  const std::size_t step = std::max(bytes_of(variable.type), 1u);
  std::string text;
  for (std::size_t offset = 0; offset + step <= variable.initial.size(); offset += step) {
    if (offset > 0) text += ", ";
    const auto address = addresses.find(offset);
    text += address != addresses.end()
                ? address_text(*address->second)
                : constant_text(read_bits(variable.initial, offset, step), variable.type);
  }
  return variable.size == step ? " = " + text : " = {" + text + '}';
}

std::string variable_text(const Variable& variable) {
  std::string text(word_of(variable.linkage));
  text += '.' + std::string(ptx::word_of(variable.space)) + ' ';
  if (variable.managed) text += ".attribute(.managed) ";
  if (variable.is_texture_or_surface) return text + ".texref " + variable.name + ";\n";
  text += declarator(variable.type, variable.alignment, variable.name, variable.size);
  if (!variable.initial.empty()) text += initialiser(variable);
  return text + ";\n";
}

std::string parameter_list(const std::vector<Parameter>& parameters) {
  std::string text = "(";
  for (const Parameter& p : parameters) {
    if (text.size() > 1) text += ", ";
    text += ".param " + declarator(p.type, p.alignment, p.name, p.size);
  }
  return text + ')';
}

std::string thread_text(const char* word, const std::uint32_t (&threads)[3]) {
  if (threads[0] == 0) return {};
  return std::string(".") + word + ' ' + number(threads[0]) + ", " + number(threads[1]) + ", " +
         number(threads[2]) + '\n';
}

std::string signature_text(const Function& function) {
  std::string text(word_of(function.linkage));
  text += function.is_entry ? ".entry " : ".func ";
  if (!function.returns.empty()) text += parameter_list(function.returns) + ' ';
  text += function.name;
  if (!function.parameters.empty()) text += parameter_list(function.parameters);
  text += '\n' + thread_text("maxntid", function.max_threads) +
          thread_text("reqntid", function.required_threads) +
          thread_text("reqnctapercluster", function.required_cluster);
  return text + (function.no_return ? ".noreturn\n" : "");
}

using InlinedNames = std::map<std::string, std::size_t>;

InlinedNames inlined_names(const Program& program) {
  InlinedNames names;
  for (const Function& function : program.functions) {
    for (const SourceLocation& location : function.locations) {
      if (!location.inlined_function.empty()) names.emplace(location.inlined_function, 0);
    }
  }
  std::size_t next = 0;
  for (auto& [name, place] : names)
    place = next++;
  return names;
}

std::string debug_strings(const InlinedNames& names) {
  if (names.empty()) return {};
  std::string text = ".section .debug_str\n{\n";
  for (const auto& [name, place] : names) {
    text += "$INF_" + number(place) + ":\n.b8 ";
    for (const char c : name)
      text += number(static_cast<unsigned char>(c)) + ',';
    text += "0\n";
  }
  return text + "}\n";
}

class BodyPrinter {
 public:
  BodyPrinter(const Function& function, const InlinedNames& names)
      : function_(function), names_(names) {}

  std::string text() {
    declarations();
    find_targets();
    for (std::size_t i = 0; i < function_.instructions.size(); ++i) {
      const Instruction& instruction = function_.instructions[i];
      locations_up_to(instruction.location);
      label(i);
      text_ += '\t' + to_text(function_, instruction) + '\n';
    }
    locations_up_to(function_.locations.size() - 1);
    label(function_.instructions.size());
    return "{\n" + text_ + "}\n";
  }

 private:
  void declarations() {
    for (const Register& r : function_.registers) {
      text_ += "\t.reg ." + std::string(ptx::word_of(r.type)) + ' ' + r.name + ";\n";
    }
    for (const Variable& variable : function_.variables)
      text_ += '\t' + variable_text(variable);
    for (const Prototype& prototype : function_.prototypes)
      prototype_text(prototype);
    for (std::size_t i = 0; i < function_.label_tables.size(); ++i) {
      text_ += "\t$TBL_" + number(i) + ": .branchtargets ";
      const auto& table = function_.label_tables[i];
      for (std::size_t j = 0; j < table.size(); ++j) {
        text_ += (j > 0 ? ", $LBL_" : "$LBL_") + number(table[j]);
      }
      text_ += ";\n";
    }
  }

  void prototype_text(const Prototype& prototype) {
    text_ += '\t' + prototype.name;
    if (!prototype.targets.empty()) {
      text_ += ": .calltargets ";
      for (const std::uint32_t& target : prototype.targets) {
        if (&target != &prototype.targets.front()) text_ += ", ";
        text_ += function_.symbols[target].name;
      }
      text_ += ";\n";
      return;
    }
    text_ += ": .callprototype ";
    if (!prototype.returns.empty()) text_ += parameter_list(prototype.returns) + ' ';
    text_ += '_' + parameter_list(prototype.parameters) + ";\n";
  }

  void find_targets() {
    for (const auto& table : function_.label_tables)
      targets_.insert(table.begin(), table.end());
    for (const Instruction& instruction : function_.instructions) {
      if (instruction.opcode == Opcode::kBra) targets_.insert(instruction.sources[0].index);
    }
  }

  void label(std::size_t place) {
    if (targets_.contains(static_cast<std::uint32_t>(place))) {
      text_ += "$LBL_" + number(place) + ":\n";
    }
  }

  void locations_up_to(std::size_t last) {
    for (; next_location_ <= last; ++next_location_) {
      const SourceLocation& location = function_.locations[next_location_];
      text_ += "\t.loc " + place(location);
      if (location.inlined_at != 0) {
        const auto name = names_.find(location.inlined_function);
        text_ += ", function_name ";
        text_ += name == names_.end() ? "$INF_none" : "$INF_" + number(name->second);
        text_ += ", inlined_at " + place(function_.locations[location.inlined_at]);
      }
      text_ += '\n';
    }
  }

  static std::string place(const SourceLocation& location) {
    return number(location.file + 1) + ' ' + number(location.line) + ' ' + number(location.column);
  }

  const Function& function_;
  const InlinedNames& names_;
  std::string text_;
  std::set<std::uint32_t> targets_;
  std::size_t next_location_ = 1;
};

std::string function_text(const Function& function, const InlinedNames& names) {
  if (!function.has_body) return signature_text(function) + ";\n";
  return signature_text(function) + BodyPrinter(function, names).text();
}

}  // namespace

std::string to_text(const Program& program) {
  std::string text = ".version " + number(program.isa_major) + '.' + number(program.isa_minor) +
                     "\n.target sm_" + number(program.target) + "\n.address_size 64\n";
  for (std::size_t i = 0; i < program.files.size(); ++i) {
    text += ".file " + number(i + 1) + " \"" + program.files[i] + "\"\n";
  }
  const InlinedNames names = inlined_names(program);
  for (const bool bodies : {false, true}) {
    for (const Function& function : program.functions) {
      if (function.has_body == bodies) text += function_text(function, names);
    }
    if (bodies) break;
    for (const Variable& variable : program.variables)
      text += variable_text(variable);
  }
  for (const Alias& alias : program.aliases) {
    text += ".alias " + alias.name + ", " + alias.target + ";\n";
  }
  return text + debug_strings(names);
}

std::string to_text(const Program& program, const Function& function) {
  return function_text(function, inlined_names(program));
}

}  // namespace drgpum::emulator::ptx
