// SPDX-License-Identifier: Apache-2.0
#pragma once
// The names that a function's body declares, block by block, and the labels of each block.

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emulator/ptx/cursor.h"
#include "emulator/ptx/program.h"

namespace drgpum::emulator::ptx {

inline constexpr std::uint32_t kNoSymbol = 0xffffffffu;

enum class NameKind : std::uint8_t {
  kRegister,          // index: Function::registers
  kVectorRegister,    // index: Function::registers of the first element; they follow each other
  kSymbol,            // index: Function::symbols
  kDeclaredRegister,  // not used so far
};

struct Name {
  NameKind kind = NameKind::kRegister;
  std::uint32_t index = 0;
  Type type = Type::kNone;
  std::uint8_t elements = 1;
};

enum class LabelKind : std::uint8_t { kInstruction, kTable, kPrototype };

struct Label {
  LabelKind kind = LabelKind::kInstruction;
  std::uint32_t index = 0;
};

// Where a label is used: the number to fill in once the label is known.
enum class LabelUse : std::uint8_t {
  kBranch,     // sources[0] of instruction `owner`
  kTable,      // sources[1] of instruction `owner`
  kPrototype,  // Instruction::prototype of `owner`
  kTableItem,  // item `item` of label table `owner`
};

struct LabelReference {
  Token name;
  LabelUse use = LabelUse::kBranch;
  std::uint32_t owner = 0;
  std::uint32_t item = 0;
};

class Scopes {
 public:
  Scopes(Cursor& cursor, Function& function) : cursor_(cursor), function_(function) { open(); }

  void open();
  void close();  // resolves what it can; the rest is left to the scope around it
  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

  void declare_register(const Token& name, Type type, std::uint8_t elements);
  void declare_range(const Token& prefix, Type type, std::uint64_t count);
  void declare_symbol(std::string_view name, Symbol symbol);
  void define_label(const Token& name, Label label);
  void refer(const LabelReference& reference) { scopes_.back().pending.push_back(reference); }

  // What `name` stands for here; a name that nothing declares is a symbol of the module.
  Name find(std::string_view name);
  [[nodiscard]] std::optional<Name> find_register(std::string_view name);

  // `wanted`, or with a suffix if the function has that name already.
  std::string unique_name(std::string_view wanted);

 private:
  struct Range {
    std::string_view prefix;
    Type type = Type::kNone;
    std::uint64_t count = 0;
  };
  struct Scope {
    std::unordered_map<std::string_view, Name> names;
    std::vector<Range> ranges;
    std::unordered_map<std::string_view, Label> labels;
    std::vector<LabelReference> pending;
  };

  std::optional<Name> find_declared(std::string_view name);
  Name use_register(Name& name, std::string_view text);
  std::uint32_t add_register(std::string_view name, Type type);
  void resolve(const LabelReference& reference, const Label& label);

  Cursor& cursor_;
  Function& function_;
  std::vector<Scope> scopes_;
  std::deque<std::string> kept_;  // names that are not pieces of the text
  std::unordered_map<std::string_view, std::uint32_t> module_symbols_;
  std::unordered_set<std::string> used_;
};

}  // namespace drgpum::emulator::ptx
