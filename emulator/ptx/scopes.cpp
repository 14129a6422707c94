// SPDX-License-Identifier: Apache-2.0
// The names that a function's body declares, block by block, and the labels of each block.

#include "emulator/ptx/scopes.h"

#include <charconv>

namespace drgpum::emulator::ptx {
namespace {

constexpr std::size_t kDeepestScope = 1000;

// Whether `name` is prefix<count>'s: prefix and a number below count without leading zeros.
bool in_range(std::string_view name, std::string_view prefix, std::uint64_t count) {
  if (!name.starts_with(prefix)) return false;
  const std::string_view digits = name.substr(prefix.size());
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return false;
  std::uint64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return read.ec == std::errc() && read.ptr == digits.data() + digits.size() && number < count;
}

}  // namespace

void Scopes::open() {
  if (scopes_.size() >= kDeepestScope) return cursor_.fail("blocks nested too deep");
  scopes_.emplace_back();
}

void Scopes::close() {
  Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  for (const LabelReference& reference : closed.pending) {
    const auto found = closed.labels.find(reference.name.text);
    if (found != closed.labels.end()) {
      resolve(reference, found->second);
    } else if (scopes_.empty()) {
      cursor_.fail(reference.name, "label that function " + function_.name + " does not have");
    } else {
      scopes_.back().pending.push_back(reference);
    }
  }
}

void Scopes::declare_register(const Token& name, Type type, std::uint8_t elements) {
  const Name declared{NameKind::kDeclaredRegister, 0, type, elements};
  if (!scopes_.back().names.emplace(name.text, declared).second) {
    cursor_.fail(name, "name declared twice");
  }
}

void Scopes::declare_range(const Token& prefix, Type type, std::uint64_t count) {
  scopes_.back().ranges.push_back({prefix.text, type, count});
}

void Scopes::declare_symbol(std::string_view name, Symbol symbol) {
  const auto index = static_cast<std::uint32_t>(function_.symbols.size());
  function_.symbols.push_back(std::move(symbol));
  scopes_.back().names[kept_.emplace_back(name)] = {NameKind::kSymbol, index, Type::kNone, 1};
}

void Scopes::define_label(const Token& name, Label label) {
  if (!scopes_.back().labels.emplace(name.text, label).second) {
    cursor_.fail(name, "label defined twice");
  }
}

Name Scopes::find(std::string_view name) {
  if (const auto declared = find_declared(name)) return *declared;
  const auto fresh = static_cast<std::uint32_t>(function_.symbols.size());
  const auto [found, inserted] = module_symbols_.emplace(name, fresh);
  if (inserted) function_.symbols.push_back({SymbolKind::kUnresolved, 0, std::string(name)});
  return {NameKind::kSymbol, found->second, Type::kNone, 1};
}

std::optional<Name> Scopes::find_register(std::string_view name) {
  auto declared = find_declared(name);
  if (declared && declared->kind == NameKind::kSymbol) return std::nullopt;
  return declared;
}

std::optional<Name> Scopes::find_declared(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return use_register(found->second, name);
    for (const Range& range : scope->ranges) {
      if (!in_range(name, range.prefix, range.count)) continue;
      Name& fresh = scope->names[name];
      fresh = {NameKind::kDeclaredRegister, 0, range.type, 1};
      return use_register(fresh, name);
    }
  }
  return std::nullopt;
}

// The first use of a declared register gives it its number.
Name Scopes::use_register(Name& name, std::string_view text) {
  if (name.kind != NameKind::kDeclaredRegister) return name;
  if (name.elements == 1) {
    name.kind = NameKind::kRegister;
    name.index = add_register(text, name.type);
    return name;
  }
  name.kind = NameKind::kVectorRegister;
  name.index = static_cast<std::uint32_t>(function_.registers.size());
  for (std::size_t i = 0; i < name.elements; ++i) {
    add_register(std::string(text) + "_" + "xyzw"[i], name.type);
  }
  return name;
}

std::uint32_t Scopes::add_register(std::string_view name, Type type) {
  function_.registers.push_back({type, unique_name(name)});
  return static_cast<std::uint32_t>(function_.registers.size() - 1);
}

std::string Scopes::unique_name(std::string_view wanted) {
  std::string name(wanted);
  for (std::size_t i = used_.size(); !used_.insert(name).second; ++i) {
    name = std::string(wanted) + '$' + std::to_string(i);
  }
  return name;
}

void Scopes::resolve(const LabelReference& reference, const Label& label) {
  const bool table = reference.use == LabelUse::kTable;
  const bool prototype = reference.use == LabelUse::kPrototype;
  const LabelKind wanted = table       ? LabelKind::kTable
                           : prototype ? LabelKind::kPrototype
                                       : LabelKind::kInstruction;
  if (label.kind != wanted) return cursor_.fail(reference.name, "label of the wrong kind");
  switch (reference.use) {
    case LabelUse::kBranch:
      function_.instructions[reference.owner].sources[0].index = label.index;
      return;
    case LabelUse::kTable:
      function_.instructions[reference.owner].sources[1].index = label.index;
      return;
    case LabelUse::kPrototype:
      function_.instructions[reference.owner].prototype = label.index;
      return;
    case LabelUse::kTableItem:
      function_.label_tables[reference.owner][reference.item] = label.index;
      return;
  }
}

}  // namespace drgpum::emulator::ptx
