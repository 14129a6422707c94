// SPDX-License-Identifier: Apache-2.0
#include "profiler/unwind_rule.h"

#include <array>
#include <atomic>
#include <cstring>
#include <optional>

// Of libgcc: finds the frame description that holds an address, through the dynamic linker.
struct dwarf_eh_bases {
  void* tbase;
  void* dbase;
  void* func;  // first address of the described range
};
extern "C" const void* _Unwind_Find_FDE(void* pc, dwarf_eh_bases* bases);

namespace drgpum::profiler {
namespace {

// DWARF numbers of x86-64 registers.
constexpr std::uint64_t kRbp = 6;
constexpr std::uint64_t kRsp = 7;
constexpr std::uint64_t kReturnAddress = 16;

// A cursor over call frame information, which the linker has checked: no bounds but its end.
class Bytes {
 public:
  Bytes(const unsigned char* at, const unsigned char* end) : at_(at), end_(end) {}

  [[nodiscard]] bool at_end() const { return at_ >= end_; }
  [[nodiscard]] const unsigned char* position() const { return at_; }
  [[nodiscard]] const unsigned char* end() const { return end_; }
  void skip(std::uint64_t bytes) { at_ += bytes; }

  template <typename T>
  T read() {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const unsigned char byte = read<unsigned char>();
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    unsigned char byte = 0;
    do {
      byte = read<unsigned char>();
      value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
    } while ((byte & 0x80) != 0 && shift < 64);
    if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }

 private:
  const unsigned char* at_;
  const unsigned char* end_;
};

// The contents of an entry (CIE or FDE) after its length.
Bytes entry_at(const unsigned char* entry) {
  Bytes bytes(entry, entry + 12);
  std::uint64_t length = bytes.read<std::uint32_t>();
  if (length == 0xffffffffu) length = bytes.read<std::uint64_t>();
  return {bytes.position(), bytes.position() + length};
}

// Bytes of a pointer in a DW_EH_PE encoding; nothing for forms that no compiler emits here.
std::optional<std::uint64_t> pointer_bytes(unsigned char encoding) {
  switch (encoding & 0x0f) {
    case 0x00:  // absolute
    case 0x04:  // udata8
    case 0x0c:  // sdata8
      return 8;
    case 0x03:  // udata4
    case 0x0b:  // sdata4
      return 4;
    case 0x02:  // udata2
    case 0x0a:  // sdata2
      return 2;
    default:
      return std::nullopt;
  }
}

struct Common {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  unsigned char pointer_encoding = 0;
  bool has_augmentation = false;
  Bytes instructions{nullptr, nullptr};
};

std::optional<Common> read_common(const unsigned char* entry) {
  Bytes bytes = entry_at(entry);
  bytes.skip(4);  // marks it a CIE
  const unsigned char version = bytes.read<unsigned char>();
  const char* augmentation = reinterpret_cast<const char*>(bytes.position());
  bytes.skip(std::strlen(augmentation) + 1);
  Common common;
  common.code_alignment = bytes.uleb();
  common.data_alignment = bytes.sleb();
  version == 1 ? static_cast<void>(bytes.read<unsigned char>()) : static_cast<void>(bytes.uleb());
  common.has_augmentation = *augmentation == 'z';
  if (*augmentation != '\0' && !common.has_augmentation) return std::nullopt;
  if (common.has_augmentation) {
    const std::uint64_t length = bytes.uleb();
    const unsigned char* after = bytes.position() + length;
    for (const char* letter = augmentation + 1; *letter != '\0'; ++letter) {
      if (*letter == 'R') {
        common.pointer_encoding = bytes.read<unsigned char>();
      } else if (*letter == 'L') {
        bytes.skip(1);
      } else if (*letter == 'P') {
        const auto size = pointer_bytes(bytes.read<unsigned char>());
        if (!size) return std::nullopt;
        bytes.skip(*size);
      } else {
        return std::nullopt;  // 'S': a signal frame
      }
    }
    bytes = Bytes(after, bytes.end());
  }
  common.instructions = bytes;
  return common;
}

// The part of a call frame program's state that matters here.
struct Row {
  std::uint64_t cfa_register = kRsp;
  std::int64_t cfa_offset = 8;
  bool cfa_on_stack = false;  // the CFA is the word at cfa_register + cfa_offset
  std::int64_t rbp_offset = UnwindRule::kRbpKept;
  bool is_outermost = false;
};

// Runs call frame programs up to one address.
class Interpreter {
 public:
  Interpreter(const Common& common, std::uint64_t start, std::uint64_t target)
      : common_(common), location_(start), target_(target) {}

  // False: something that Row cannot say.
  bool run(Bytes bytes) {
    while (!bytes.at_end() && location_ <= target_) {
      if (!step(bytes)) return false;
    }
    return true;
  }
  void keep_as_initial() { initial_ = row; }

  Row row;

 private:
  void advance(std::uint64_t units) { location_ += units * common_.code_alignment; }
  void set_offset(std::uint64_t which, std::int64_t factored) {
    if (which == kRbp) row.rbp_offset = factored * common_.data_alignment;
  }
  void restore(std::uint64_t which) {
    if (which == kRbp) row.rbp_offset = initial_.rbp_offset;
  }

  bool step(Bytes& bytes) {
    const unsigned char code = bytes.read<unsigned char>();
    const unsigned char operand = code & 0x3f;
    switch (code & 0xc0) {
      case 0x40:
        return advance(operand), true;
      case 0x80:
        return set_offset(operand, static_cast<std::int64_t>(bytes.uleb())), true;
      case 0xc0:
        return restore(operand), true;
      default:
        return step_extended(code, bytes);
    }
  }

  bool step_extended(unsigned char code, Bytes& bytes) {
    switch (code) {
      case 0x00:  // nop
        return true;
      case 0x02:
        return advance(bytes.read<std::uint8_t>()), true;
      case 0x03:
        return advance(bytes.read<std::uint16_t>()), true;
      case 0x04:
        return advance(bytes.read<std::uint32_t>()), true;
      case 0x05: {  // offset_extended
        const std::uint64_t which = bytes.uleb();
        return set_offset(which, static_cast<std::int64_t>(bytes.uleb())), true;
      }
      case 0x06:
        return restore(bytes.uleb()), true;
      case 0x07:  // undefined
        row.is_outermost |= bytes.uleb() == kReturnAddress;
        return true;
      case 0x08: {  // same_value
        if (bytes.uleb() == kRbp) row.rbp_offset = UnwindRule::kRbpKept;
        return true;
      }
      case 0x0a:
        return push();
      case 0x0b:
        return pop();
      case 0x0c:
        row.cfa_register = bytes.uleb();
        return set_cfa(static_cast<std::int64_t>(bytes.uleb()));
      case 0x0d:
        row.cfa_register = bytes.uleb();
        return set_cfa(row.cfa_offset);
      case 0x0e:
        return set_cfa(static_cast<std::int64_t>(bytes.uleb()));
      case 0x0f:
        return set_cfa_expression(bytes);
      case 0x10:    // expression
      case 0x16: {  // val_expression
        const std::uint64_t which = bytes.uleb();
        return which != kReturnAddress && skip_or_read_expression(which, bytes);
      }
      case 0x11: {  // offset_extended_sf
        const std::uint64_t which = bytes.uleb();
        return set_offset(which, bytes.sleb()), true;
      }
      case 0x12:
        row.cfa_register = bytes.uleb();
        return set_cfa(bytes.sleb() * common_.data_alignment);
      case 0x13:
        return set_cfa(bytes.sleb() * common_.data_alignment);
      case 0x2e:  // GNU_args_size
        return bytes.uleb(), true;
      default:
        return false;
    }
  }

  bool set_cfa(std::int64_t offset) {
    row.cfa_offset = offset;
    row.cfa_on_stack = false;
    return true;
  }

  // breg6 N; deref: the CFA was stored on the stack by a function that realigns it.
  bool set_cfa_expression(Bytes& bytes) {
    const std::uint64_t length = bytes.uleb();
    Bytes expression(bytes.position(), bytes.position() + length);
    bytes.skip(length);
    if (length < 3 || expression.read<unsigned char>() != 0x76) return false;
    row.cfa_register = kRbp;
    row.cfa_offset = expression.sleb();
    row.cfa_on_stack = true;
    return !expression.at_end() && expression.read<unsigned char>() == 0x06 && expression.at_end();
  }

  // Those functions also say "rbp lies at rbp + 0": the word that rbp points at.
  bool skip_or_read_expression(std::uint64_t which, Bytes& bytes) {
    const std::uint64_t length = bytes.uleb();
    const unsigned char* expression = bytes.position();
    bytes.skip(length);
    if (which != kRbp) return true;
    rbp_at_rbp = length == 2 && expression[0] == 0x76 && expression[1] == 0x00;
    return rbp_at_rbp;
  }

  bool push() {
    if (depth_ == stack_.size()) return false;
    stack_[depth_++] = row;
    return true;
  }
  bool pop() {
    if (depth_ == 0) return false;
    row = stack_[--depth_];
    return true;
  }

 public:
  bool rbp_at_rbp = false;

 private:
  const Common& common_;
  std::uint64_t location_;
  std::uint64_t target_;
  Row initial_;
  std::array<Row, 8> stack_;
  std::size_t depth_ = 0;
};

UnwindRule other() {
  UnwindRule rule;
  rule.kind = UnwindRule::kOther;
  return rule;
}

UnwindRule rule_of(const Row& row, bool rbp_at_rbp) {
  if (row.is_outermost) return {};
  UnwindRule rule;
  rule.cfa_offset = static_cast<std::int32_t>(row.cfa_offset);
  rule.rbp_offset = static_cast<std::int16_t>(row.rbp_offset);
  if (rule.cfa_offset != row.cfa_offset || rule.rbp_offset != row.rbp_offset) return other();
  if (row.cfa_on_stack != rbp_at_rbp) return other();
  if (row.cfa_on_stack) {
    rule.kind = UnwindRule::kFromStackRbp;
  } else if (row.cfa_register == kRsp) {
    rule.kind = UnwindRule::kFromRsp;
  } else if (row.cfa_register == kRbp) {
    rule.kind = UnwindRule::kFromRbp;
  } else {
    return other();
  }
  return rule;
}

// One remembered rule, packed. `check` is the address mixed with the rule, so that a half-written
// entry fits no address.
struct Remembered {
  std::atomic<std::uint64_t> check;
  std::atomic<std::uint64_t> rule;
};
constexpr std::size_t kRemembered = 8192;
std::array<Remembered, kRemembered> remembered;

constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15ull;  // 2^64 / golden ratio

std::uint64_t pack(const UnwindRule& rule) {
  return std::uint64_t{static_cast<std::uint32_t>(rule.cfa_offset)} << 32 |
         std::uint64_t{static_cast<std::uint16_t>(rule.rbp_offset)} << 16 | rule.kind;
}

UnwindRule unpack(std::uint64_t packed) {
  UnwindRule rule;
  rule.kind = static_cast<UnwindRule::Kind>(packed & 0xff);
  rule.rbp_offset = static_cast<std::int16_t>(packed >> 16);
  rule.cfa_offset = static_cast<std::int32_t>(packed >> 32);
  return rule;
}

}  // namespace

UnwindRule read_unwind_rule(std::uint64_t return_address) noexcept {
  dwarf_eh_bases bases{};
  const std::uint64_t call = return_address - 1;  // the call may be the last instruction
  const void* found = _Unwind_Find_FDE(reinterpret_cast<void*>(call), &bases);
  if (found == nullptr) return {};
  Bytes bytes = entry_at(static_cast<const unsigned char*>(found));
  const unsigned char* delta_at = bytes.position();
  const auto common = read_common(delta_at - bytes.read<std::int32_t>());
  if (!common) return other();
  const auto size = pointer_bytes(common->pointer_encoding);
  if (!size) return other();
  bytes.skip(2 * *size);  // first address and length
  if (common->has_augmentation) {
    const std::uint64_t length = bytes.uleb();
    bytes.skip(length);
  }
  Interpreter interpreter(*common, reinterpret_cast<std::uint64_t>(bases.func), call);
  if (!interpreter.run(common->instructions)) return other();
  interpreter.keep_as_initial();
  if (!interpreter.run(bytes)) return other();
  return rule_of(interpreter.row, interpreter.rbp_at_rbp);
}

UnwindRule unwind_rule_at(std::uint64_t return_address) noexcept {
  Remembered& entry = remembered[(return_address * kMix) >> 51];  // 13 bits
  const std::uint64_t packed = entry.rule.load(std::memory_order_relaxed);
  const std::uint64_t check = return_address ^ packed * kMix;
  if (entry.check.load(std::memory_order_relaxed) == check) return unpack(packed);
  const UnwindRule rule = read_unwind_rule(return_address);
  const std::uint64_t fresh = pack(rule);
  entry.rule.store(fresh, std::memory_order_relaxed);
  entry.check.store(return_address ^ fresh * kMix, std::memory_order_relaxed);
  return rule;
}

void forget_unwind_rules() noexcept {
  for (Remembered& entry : remembered) {
    entry.check.store(0, std::memory_order_relaxed);
    entry.rule.store(0, std::memory_order_relaxed);
  }
}

}  // namespace drgpum::profiler
