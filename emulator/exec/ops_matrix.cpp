// SPDX-License-Identifier: Apache-2.0
// wmma, mma, ldmatrix, stmatrix. Whole matrices are gathered from the warp's registers, multiplied
// in double precision, where every product is exact, and rounded once. Source: PTX ISA 9.0, "Warp
// Level Matrix Instructions".

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "emulator/exec/half.h"
#include "emulator/exec/memory_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::OperandKind;
using ptx::Space;

enum class Element : std::uint8_t { kF16, kBf16, kTf32, kF32, kF64, kS8, kU8, kS32 };

unsigned bytes_of(Element element) {
  switch (element) {
    case Element::kF16:
    case Element::kBf16:
      return 2;
    case Element::kF64:
      return 8;
    case Element::kS8:
    case Element::kU8:
      return 1;
    default:
      return 4;
  }
}

std::optional<Element> element_of_word(std::string_view word) {
  constexpr std::pair<std::string_view, Element> kWords[] = {
      {"f16", Element::kF16}, {"bf16", Element::kBf16}, {"tf32", Element::kTf32},
      {"f32", Element::kF32}, {"f64", Element::kF64},   {"s8", Element::kS8},
      {"u8", Element::kU8},   {"s32", Element::kS32}};
  for (const auto& [name, element] : kWords)
    if (name == word) return element;
  return std::nullopt;
}

double decode(const std::byte* from, Element element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, bytes_of(element));
  const auto word = static_cast<std::uint32_t>(bits);
  switch (element) {
    case Element::kF16:
      return static_cast<double>(f16_to_float(static_cast<std::uint16_t>(bits)));
    case Element::kBf16:
      return static_cast<double>(bf16_to_float(static_cast<std::uint16_t>(bits)));
    case Element::kTf32:  // the low 13 bits are not looked at
      return static_cast<double>(std::bit_cast<float>(word & ~0x1fffu));
    case Element::kF32:
      return static_cast<double>(std::bit_cast<float>(word));
    case Element::kF64:
      return std::bit_cast<double>(bits);
    case Element::kS8:
      return static_cast<std::int8_t>(bits);
    case Element::kU8:
      return static_cast<std::uint8_t>(bits);
    default:
      return static_cast<std::int32_t>(word);
  }
}

void encode(std::byte* to, Element element, double value, bool saturate) {
  std::uint64_t bits = 0;
  switch (element) {
    case Element::kF16:
      bits = to_f16(value);
      break;
    case Element::kF32:
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      break;
    case Element::kF64:
      bits = std::bit_cast<std::uint64_t>(value);
      break;
    default: {
      const auto whole = static_cast<std::int64_t>(value);
      bits = static_cast<std::uint64_t>(
          saturate ? std::clamp<std::int64_t>(whole, INT32_MIN, INT32_MAX) : whole);
      break;
    }
  }
  std::memcpy(to, &bits, bytes_of(element));
}

// One operand: its registers, and where element (register, part) of a lane stands in the matrix.
enum class Layout : std::uint8_t {
  kOpaque,      // wmma: element slot * 32 + lane of the matrix, row by row
  kLeft,        // mma's A
  kRight,       // mma's B
  kAccumulator  // mma's C and D
};

struct Fragment {
  Layout layout = Layout::kOpaque;
  Element element = Element::kF32;
  unsigned rows = 0, columns = 0;
  unsigned register_bytes = 4;
  std::vector<RowOffset> registers;

  [[nodiscard]] unsigned parts() const { return register_bytes / bytes_of(element); }
  [[nodiscard]] unsigned slots() const { return rows * columns / kLanes; }
  // Index of element `slot` of a lane in the matrix, row by row.
  [[nodiscard]] unsigned index(unsigned lane, unsigned slot) const {
    const unsigned group = lane / 4, in_group = lane % 4, n = parts();
    const unsigned reg = slot / n, part = slot % n;
    switch (layout) {
      case Layout::kOpaque:
        return slot * kLanes + lane;
      case Layout::kLeft: {
        const unsigned row_blocks = rows / 8;
        return (group + 8 * (reg % row_blocks)) * columns + in_group * n + part +
               4 * n * (reg / row_blocks);
      }
      case Layout::kRight:
        return (in_group * n + part + 4 * n * reg) * columns + group;
      default:
        return (group + 8 * (slot / 2)) * columns + in_group * 2 + slot % 2;
    }
  }
};

constexpr unsigned kMostElements = 32 * 32;

void gather(const WarpContext& warp, const Fragment& f, double* matrix) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned slot = 0; slot < f.slots(); ++slot) {
      const std::byte* reg = warp.source<std::byte>(f.registers[slot / f.parts()]);
      matrix[f.index(lane, slot)] =
          decode(reg + lane * f.register_bytes + slot % f.parts() * bytes_of(f.element), f.element);
    }
}

struct Multiply {
  Fragment a, b, c, d;
  unsigned m = 0, n = 0, k = 0;
  bool saturate = false;
};

const Op* multiply(const Op* op, WarpContext& warp) {
  const auto& mul = *static_cast<const Multiply*>(op->extra);
  double a[kMostElements], b[kMostElements], c[kMostElements];
  gather(warp, mul.a, a);
  gather(warp, mul.b, b);
  gather(warp, mul.c, c);
  for (unsigned i = 0; i < mul.m; ++i)
    for (unsigned j = 0; j < mul.n; ++j) {
      double sum = c[i * mul.n + j];
      for (unsigned k = 0; k < mul.k; ++k)
        sum = __builtin_fma(a[i * mul.k + k], b[k * mul.n + j], sum);
      c[i * mul.n + j] = sum;
    }
  const Fragment& d = mul.d;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned slot = 0; slot < d.slots(); ++slot) {
      std::byte* reg = warp.target<std::byte>(d.registers[slot / d.parts()]);
      encode(reg + lane * d.register_bytes + slot % d.parts() * bytes_of(d.element), d.element,
             c[d.index(lane, slot)], mul.saturate);
    }
  return op + 1;
}

// wmma.load and wmma.store: one access of the warp per slot.
struct Transfer {
  Fragment fragment;
  MemoryAccess* access = nullptr;
  RowOffset stride = 0;
  unsigned default_stride = 0;
  bool has_stride = false;
  bool column_major = false;
  bool store = false;
};

const Op* transfer(const Op* op, WarpContext& warp) {
  const auto& t = *static_cast<const Transfer*>(op->extra);
  const Fragment& f = t.fragment;
  std::uint64_t base[kLanes], addresses[kLanes];
  std::byte* pointers[kLanes];
  fill_addresses(warp, *t.access, base);
  const unsigned bytes = bytes_of(f.element);
  for (unsigned slot = 0; slot < f.slots(); ++slot) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t stride =
          t.has_stride ? warp.source<std::uint32_t>(t.stride)[lane] : t.default_stride;
      const unsigned index = f.index(lane, slot);
      const std::uint64_t row = index / f.columns, column = index % f.columns;
      addresses[lane] =
          base[lane] + bytes * (t.column_major ? column * stride + row : row * stride + column);
    }
    notify_hook(warp, op, *t.access, addresses);
    if (!resolve_addresses(warp, op, *t.access, addresses, pointers)) return nullptr;
    std::byte* reg = warp.target<std::byte>(f.registers[slot / f.parts()]);
    for_lanes(warp.mask, [&](unsigned lane) {
      std::byte* element = reg + lane * f.register_bytes + slot % f.parts() * bytes;
      if (t.store)
        std::memcpy(pointers[lane], element, bytes);
      else
        std::memcpy(element, pointers[lane], bytes);
    });
  }
  return op + 1;
}

// ldmatrix and stmatrix: lane 8 j + r names row r of 8x8 matrix j of halves.
struct MatrixRows {
  MemoryAccess* access = nullptr;
  std::vector<RowOffset> registers;
  bool transposed = false;
  bool store = false;
};

const Op* move_rows(const Op* op, WarpContext& warp) {
  const auto& rows = *static_cast<const MatrixRows*>(op->extra);
  const auto count = static_cast<unsigned>(rows.registers.size());
  const std::uint32_t all = warp.mask;
  if (count < 4) warp.mask &= (1u << (8 * count)) - 1;
  const bool reached = resolve_access(warp, op, *rows.access);
  warp.mask = all;
  if (!reached) return nullptr;
  for (unsigned j = 0; j < count; ++j) {
    auto* reg = warp.target<std::uint32_t>(rows.registers[j]);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned i = 0; i < 2; ++i) {
        const unsigned first = lane / 4, second = lane % 4 * 2 + i;
        const unsigned row = rows.transposed ? second : first;
        const unsigned column = rows.transposed ? first : second;
        std::byte* in_memory = warp.pointers[8 * j + row] + column * 2;
        std::byte* in_register = reinterpret_cast<std::byte*>(reg + lane) + 2 * i;
        if (rows.store)
          std::memcpy(in_memory, in_register, 2);
        else
          std::memcpy(in_register, in_memory, 2);
      }
  }
  return op + 1;
}

// Lowering ----------------------------------------------------------------------------------------

struct Words {
  unsigned m = 0, n = 0, k = 0;
  std::vector<Element> elements;
  std::vector<bool> column_major;  // .row and .col in order
  bool saturate = false;
  bool transposed = false;
  std::string action;  // wmma: load, store, mma
  char operand = 0;    // wmma.load.a, .b, .c; wmma.store.d
};

void parse_shape(std::string_view word, Words& words) {
  const auto number = [&](char key, unsigned& value) {
    const std::size_t at = word.find(key);
    if (at == std::string_view::npos) return;
    std::from_chars(word.data() + at + 1, word.data() + word.size(), value);
  };
  number('m', words.m);
  number('n', words.n);
  number('k', words.k);
}

std::optional<Words> words_of(const ptx::Instruction& in) {
  Words words;
  for (const std::string& word : in.modifiers) {
    if (word.size() > 3 && word[0] == 'm' && word[1] >= '0' && word[1] <= '9')
      parse_shape(word, words);
    else if (word == "row" || word == "col")
      words.column_major.push_back(word == "col");
    else if (word == "satfinite")
      words.saturate = true;
    else if (word == "trans")
      words.transposed = true;
    else if (word == "load" || word == "store" || word == "mma")
      words.action = word;
    else if (word == "a" || word == "b" || word == "c" || word == "d")
      words.operand = word[0];
    else if (word == "sp" || word == "b1" || word == "s4" || word == "u4" || word == "e4m3" ||
             word == "e5m2" || word == "xor" || word == "block_scale")
      return std::nullopt;
    else if (const auto element = element_of_word(word))
      words.elements.push_back(*element);
  }
  return words;
}

Fragment fragment_of(Builder& builder, const ptx::Operand& operand, Element element, unsigned rows,
                     unsigned columns, Layout layout) {
  Fragment fragment;
  fragment.layout = layout;
  fragment.element = element;
  fragment.rows = rows;
  fragment.columns = columns;
  fragment.register_bytes = element == Element::kF64 ? 8 : 4;
  const bool vector = operand.kind == OperandKind::kVector;
  for (unsigned i = 0; i < (vector ? operand.count : 1u); ++i)
    fragment.registers.push_back(
        builder.source(vector ? builder.element(operand, i) : operand, fragment.register_bytes));
  return fragment;
}

bool is_enough(const Fragment& f) {
  return f.slots() > 0 && f.rows * f.columns <= kMostElements &&
         f.registers.size() * f.parts() >= f.slots();
}

bool lower_multiply(Builder& builder, const ptx::Instruction& in, const Words& words, bool opaque) {
  if (in.sources.size() < 3 || in.destinations.empty()) return false;
  // d, a, b, c types; wmma on f16 names only d's and c's.
  std::vector<Element> types = words.elements;
  if (types.size() == 2) types = {types[0], Element::kF16, Element::kF16, types[1]};
  if (types.size() < 4) return false;
  const auto layout = [&](Layout exact) { return opaque ? Layout::kOpaque : exact; };
  auto mul = std::make_shared<Multiply>();
  mul->m = words.m;
  mul->n = words.n;
  mul->k = words.k;
  mul->saturate = words.saturate;
  mul->d = fragment_of(builder, in.destinations[0], types[0], words.m, words.n,
                       layout(Layout::kAccumulator));
  mul->a = fragment_of(builder, in.sources[0], types[1], words.m, words.k, layout(Layout::kLeft));
  mul->b = fragment_of(builder, in.sources[1], types[2], words.k, words.n, layout(Layout::kRight));
  mul->c =
      fragment_of(builder, in.sources[2], types[3], words.m, words.n, layout(Layout::kAccumulator));
  // m8n8k4 on halves multiplies four pairs of matrices at once: not handled.
  const bool quads = !opaque && words.m == 8 && types[1] == Element::kF16;
  for (const Fragment* f : {&mul->a, &mul->b, &mul->c, &mul->d})
    if (quads || !is_enough(*f)) return false;
  builder.out().others.push_back(mul);
  builder.emit(multiply).extra = mul.get();
  return true;
}

bool lower_transfer(Builder& builder, const ptx::Instruction& in, const Words& words) {
  const auto addresses = addresses_of(in);
  const auto values = values_of(in);
  if (addresses.empty() || values.empty() || words.elements.empty() || words.column_major.empty())
    return false;
  const unsigned rows = words.operand == 'b' ? words.k : words.m;
  const unsigned columns = words.operand == 'a' ? words.k : words.n;
  auto t = std::make_shared<Transfer>();
  t->store = words.action == "store";
  t->column_major = words.column_major[0];
  t->fragment =
      fragment_of(builder, *values[0], words.elements.back(), rows, columns, Layout::kOpaque);
  t->default_stride = t->column_major ? rows : columns;
  t->has_stride = values.size() > 1;
  if (t->has_stride) t->stride = builder.source(*values[1], 4);
  if (!is_enough(t->fragment)) return false;
  t->access = &lower_address(builder, in, *addresses[0], in.space);
  t->access->element_bytes = static_cast<std::uint8_t>(bytes_of(t->fragment.element));
  t->access->flags = t->store ? kWrite : kRead;
  builder.out().others.push_back(t);
  builder.emit(transfer).extra = t.get();
  return true;
}

bool lower_rows(Builder& builder, const ptx::Instruction& in, const Words& words) {
  const auto addresses = addresses_of(in);
  const auto values = values_of(in);
  if (addresses.empty() || values.empty() || words.m != 8 || words.n != 8) return false;
  auto rows = std::make_shared<MatrixRows>();
  rows->store = in.opcode == Opcode::kStmatrix;
  rows->transposed = words.transposed;
  const ptx::Operand& value = *values[0];
  for (unsigned i = 0; i < (value.kind == OperandKind::kVector ? value.count : 1u); ++i)
    rows->registers.push_back(
        builder.source(value.kind == OperandKind::kVector ? builder.element(value, i) : value, 4));
  rows->access = &lower_address(builder, in, *addresses[0], Space::kShared);
  rows->access->element_bytes = 16;
  rows->access->flags = rows->store ? kWrite : kRead;
  builder.out().others.push_back(rows);
  builder.emit(move_rows).extra = rows.get();
  return true;
}

}  // namespace

bool lower_matrix(Builder& builder, const ptx::Instruction& in) {
  const bool known = in.opcode == Opcode::kWmma || in.opcode == Opcode::kMma ||
                     in.opcode == Opcode::kLdmatrix || in.opcode == Opcode::kStmatrix;
  if (!known) return false;
  const std::optional<Words> words = words_of(in);
  if (!words) return false;
  if (in.opcode == Opcode::kMma) return lower_multiply(builder, in, *words, false);
  if (in.opcode != Opcode::kWmma) return lower_rows(builder, in, *words);
  return words->action == "mma" ? lower_multiply(builder, in, *words, true)
                                : lower_transfer(builder, in, *words);
}

}  // namespace drgpum::emulator::exec
