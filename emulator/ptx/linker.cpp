// SPDX-License-Identifier: Apache-2.0
// Joins the PTX texts of one module into one program with one symbol table.

#include "emulator/ptx/linker.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace drgpum::emulator::ptx {
namespace {

// What a name stands for in the program being made.
struct Target {
  SymbolKind kind = SymbolKind::kUnresolved;
  std::uint32_t index = 0;
};

constexpr std::uint32_t kMissing = 0xffffffffu;  // declared, and no definition seen so far

using Targets = std::unordered_map<std::string, Target>;

// How firmly a declaration claims a name of the whole program.
enum class Claim : std::uint8_t { kNone, kDeclared, kCommon, kWeak, kStrong };

Claim claim_of(Linkage linkage, bool defined) {
  if (!defined) return Claim::kDeclared;
  switch (linkage) {
    case Linkage::kExtern:
      return Claim::kDeclared;
    case Linkage::kCommon:
      return Claim::kCommon;
    case Linkage::kWeak:
      return Claim::kWeak;
    default:
      return Claim::kStrong;
  }
}

bool is_dynamic_shared(const Variable& variable) {
  return variable.space == Space::kShared && variable.linkage == Linkage::kExtern;
}

bool is_defined(const Function& function) {
  return function.has_body;
}

bool is_defined(const Variable& variable) {
  return variable.linkage != Linkage::kExtern || is_dynamic_shared(variable);
}

Error in_unit(const Program& unit, const std::string& what) {
  return {ErrorCode::kInvalidArgument, unit.name + ": " + what};
}

// The one declaration of each name that counts within its unit, in order of first appearance.
template <typename T>
Result<std::vector<T>> collapsed(std::vector<T> all, const Program& unit) {
  std::vector<T> kept;
  std::unordered_map<std::string, std::size_t> places;
  for (T& item : all) {
    const auto [place, fresh] = places.emplace(item.name, kept.size());
    if (fresh) {
      kept.push_back(std::move(item));
      continue;
    }
    T& earlier = kept[place->second];
    const bool twice = is_defined(item) && is_defined(earlier) &&
                       item.linkage != Linkage::kCommon && item.linkage != Linkage::kExtern;
    if (twice) return in_unit(unit, "symbol '" + item.name + "' is defined twice");
    if (is_defined(item) && !is_defined(earlier)) earlier = std::move(item);
  }
  return kept;
}

class Linker {
 public:
  Result<Program> link(std::vector<Program> units) {
    for (const Program& unit : units)
      reserve_names(unit);
    for (Program& unit : units)
      RETURN_IF_ERROR(place_unit(unit));
    for (std::size_t i = 0; i < units.size(); ++i)
      place_aliases(units[i], locals_[i]);
    for (const auto& [function, unit] : function_units_) {
      RETURN_IF_ERROR(resolve(program_.functions[function], unit, units[unit]));
    }
    for (const auto& [variable, unit] : variable_units_) {
      RETURN_IF_ERROR(resolve_relocations(program_.variables[variable], unit, units[unit]));
    }
    return std::move(program_);
  }

 private:
  struct Global {
    Target target;
    Claim claim = Claim::kNone;
  };

  // Names with linkage keep their spelling, whichever unit comes first.
  void reserve_names(const Program& unit) {
    for (const Variable& variable : unit.variables) {
      if (variable.linkage != Linkage::kLocal) names_.insert(variable.name);
    }
    for (const Function& function : unit.functions) {
      if (function.linkage != Linkage::kLocal) names_.insert(function.name);
    }
  }

  Status place_unit(Program& unit) {
    const std::size_t number = locals_.size();
    locals_.emplace_back();
    if (number == 0) {
      program_.name = unit.name;
      program_.isa_major = unit.isa_major;
      program_.isa_minor = unit.isa_minor;
    }
    program_.target = std::max(program_.target, unit.target);
    const std::vector<std::uint32_t> files = place_files(unit);
    ASSIGN_OR_RETURN(std::vector<Variable> variables, collapsed(std::move(unit.variables), unit));
    ASSIGN_OR_RETURN(std::vector<Function> functions, collapsed(std::move(unit.functions), unit));
    for (Variable& variable : variables)
      RETURN_IF_ERROR(place(std::move(variable), unit, number));
    for (Function& function : functions) {
      for (SourceLocation& location : function.locations) {
        if (location.file < files.size()) location.file = files[location.file];
      }
      RETURN_IF_ERROR(place(std::move(function), unit, number));
    }
    return Ok{};
  }

  // Where each file of the unit stands in the program.
  std::vector<std::uint32_t> place_files(const Program& unit) {
    std::vector<std::uint32_t> places;
    for (const std::string& file : unit.files) {
      const auto [found, fresh] =
          files_.emplace(file, static_cast<std::uint32_t>(program_.files.size()));
      if (fresh) program_.files.push_back(file);
      places.push_back(found->second);
    }
    return places;
  }

  static SymbolKind kind_of(const Variable&) { return SymbolKind::kGlobalVariable; }
  static SymbolKind kind_of(const Function&) { return SymbolKind::kFunction; }
  std::vector<Variable>& all(const Variable&) { return program_.variables; }
  std::vector<Function>& all(const Function&) { return program_.functions; }

  void filled(const Variable&, std::uint32_t index, std::size_t unit) {
    variable_units_[index] = unit;
  }
  void filled(const Function&, std::uint32_t index, std::size_t unit) {
    function_units_[index] = unit;
  }

  // Gives `item` a place in the program, or finds the one its name has.
  template <typename T>
  Status place(T item, const Program& unit, std::size_t number) {
    const std::string name = item.name;
    if (item.linkage == Linkage::kLocal) {
      item.name = free_name(name, number);
      locals_[number][name] = append(std::move(item), number);
      return Ok{};
    }
    const Claim claim = claim_of(item.linkage, is_defined(item));
    Global& global = globals_[name];
    if (global.claim == Claim::kNone) {
      const bool waits = kind_of(item) == SymbolKind::kGlobalVariable &&
                         claim == Claim::kDeclared && !is_defined(item);
      global.target = waits ? Target{kind_of(item), kMissing} : append(std::move(item), number);
      global.claim = claim;
      return Ok{};
    }
    if (global.target.kind != kind_of(item)) {
      return in_unit(unit,
                     "symbol '" + name + "' is a variable in one place, a function in another");
    }
    if (claim == Claim::kStrong && global.claim == Claim::kStrong) {
      return in_unit(unit, "symbol '" + name + "' is defined in more than one unit");
    }
    merge(std::move(item), claim, number, global);
    return Ok{};
  }

  template <typename T>
  void merge(T item, Claim claim, std::size_t unit, Global& global) {
    if (global.target.index == kMissing) {
      if (claim == Claim::kDeclared) return;
      global.target = append(std::move(item), unit);
      global.claim = claim;
      return;
    }
    T& standing = all(item)[global.target.index];
    if (claim > global.claim || is_larger(item, standing, claim)) {
      standing = std::move(item);
      filled(standing, global.target.index, unit);
      global.claim = claim;
    }
  }

  static bool is_larger(const Function&, const Function&, Claim) { return false; }
  static bool is_larger(Variable& item, const Variable& standing, Claim claim) {
    if (is_dynamic_shared(item)) return item.alignment > standing.alignment;
    return claim == Claim::kCommon && standing.linkage == Linkage::kCommon &&
           item.size > standing.size;
  }

  template <typename T>
  Target append(T item, std::size_t unit) {
    auto& list = all(item);
    const Target target{kind_of(item), static_cast<std::uint32_t>(list.size())};
    list.push_back(std::move(item));
    filled(list.back(), target.index, unit);
    return target;
  }

  std::string free_name(const std::string& wanted, std::size_t unit) {
    std::string name = wanted;
    while (!names_.insert(name).second)
      name += '$' + std::to_string(unit);
    return name;
  }

  void place_aliases(const Program& unit, Targets& locals) {
    for (const Alias& alias : unit.aliases) {
      const auto target = find(alias.target, locals);
      if (!target) continue;
      locals[alias.name] = *target;
      const auto global = globals_.find(alias.name);
      if (global != globals_.end()) global->second.target = *target;
    }
  }

  [[nodiscard]] std::optional<Target> find(const std::string& name, const Targets& locals) const {
    const auto local = locals.find(name);
    if (local != locals.end()) return local->second;
    const auto global = globals_.find(name);
    if (global != globals_.end()) return global->second.target;
    return std::nullopt;
  }

  // `user` is "function f" or "variable v".
  Result<Target> require(const std::string& name, const std::string& user, std::size_t number,
                         const Program& unit) {
    const auto target = find(name, locals_[number]);
    if (!target) {
      return in_unit(unit, user + " uses '" + name + "', which nothing declares");
    }
    if (target->index == kMissing) {
      return in_unit(unit, user + " uses the variable '" + name + "', which no unit defines");
    }
    return *target;
  }

  [[nodiscard]] std::string name_of(const Target& target) const {
    return target.kind == SymbolKind::kFunction ? program_.functions[target.index].name
                                                : program_.variables[target.index].name;
  }

  Status resolve(Function& function, std::size_t number, const Program& unit) {
    for (Symbol& symbol : function.symbols) {
      if (symbol.kind != SymbolKind::kUnresolved) continue;
      ASSIGN_OR_RETURN(const Target target,
                       require(symbol.name, "function " + function.name, number, unit));
      symbol = {target.kind, target.index, name_of(target)};
    }
    settle_spaces(function);
    return Ok{};
  }

  // ld.u32 [x] without a space looks where x is: ptxas takes the variable's space too.
  void settle_spaces(Function& function) {
    for (Instruction& instruction : function.instructions) {
      if (instruction.space != Space::kGeneric) continue;
      for (const Operand& operand : instruction.sources) {
        const bool named =
            operand.kind == OperandKind::kAddress && operand.address_base == AddressBase::kSymbol;
        if (named) instruction.space = space_of(function, function.symbols[operand.index]);
      }
    }
  }

  // kGeneric for what an access without a space cannot reach by name: constants, parameters.
  [[nodiscard]] Space space_of(const Function& function, const Symbol& symbol) const {
    Space space = Space::kGeneric;
    if (symbol.kind == SymbolKind::kGlobalVariable) space = program_.variables[symbol.index].space;
    if (symbol.kind == SymbolKind::kLocalVariable) space = function.variables[symbol.index].space;
    return space == Space::kConst || space == Space::kParam ? Space::kGeneric : space;
  }

  Status resolve_relocations(Variable& variable, std::size_t number, const Program& unit) {
    for (Relocation& relocation : variable.relocations) {
      ASSIGN_OR_RETURN(const Target target,
                       require(relocation.symbol, "variable " + variable.name, number, unit));
      relocation.symbol = name_of(target);
    }
    return Ok{};
  }

  Program program_;
  std::vector<Targets> locals_;  // of each unit, its names without linkage
  std::unordered_map<std::string, Global> globals_;
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> files_;
  std::map<std::uint32_t, std::size_t> function_units_;
  std::map<std::uint32_t, std::size_t> variable_units_;
};

}  // namespace

Result<Program> link(std::vector<Program> units) {
  if (units.empty()) return Error{ErrorCode::kInvalidArgument, "no PTX to link"};
  return Linker().link(std::move(units));
}

}  // namespace drgpum::emulator::ptx
