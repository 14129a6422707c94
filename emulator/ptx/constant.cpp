// SPDX-License-Identifier: Apache-2.0
// Constant expressions.

#include "emulator/ptx/constant.h"

#include <bit>

#include "emulator/ptx/words.h"

namespace drgpum::emulator::ptx {
namespace {

constexpr int kDeepest = 100;  // parentheses and signs inside each other

// Binary operators by how tightly they bind; << and >> arrive as two characters.
int precedence(char op) {
  switch (op) {
    case '|':
      return 1;
    case '^':
      return 2;
    case '&':
      return 3;
    case '<':
    case '>':
      return 4;
    case '+':
    case '-':
      return 5;
    case '*':
    case '/':
    case '%':
      return 6;
    default:
      return 0;
  }
}

std::uint64_t shifted(char op, std::uint64_t a, std::uint64_t b) {
  if (b > 63) return 0;
  return op == '<' ? a << b : a >> b;
}

std::uint64_t applied(char op, std::uint64_t a, std::uint64_t b) {
  switch (op) {
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    case '&':
      return a & b;
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      return a % b;
    default:
      return shifted(op, a, b);
  }
}

class ExpressionParser {
 public:
  explicit ExpressionParser(Cursor& cursor) : cursor_(cursor) {}

  Constant binary(int weakest) {
    Constant left = unary();
    for (;;) {
      const char op = cursor_.peek().kind == TokenKind::kPunctuation ? cursor_.peek().text[0] : ' ';
      const int level = precedence(op);
      if (level == 0 || level < weakest) return left;
      const Token sign = cursor_.take();
      if (op == '<' || op == '>') cursor_.expect(op, "for a shift");
      left = joined(sign, left, binary(level + 1));
    }
  }

 private:
  Constant unary() {
    if (++depth_ > kDeepest) cursor_.fail("constant expression nested too deep");
    Constant value;
    if (cursor_.accept('-')) {
      value = negated(unary());
    } else if (cursor_.accept('+')) {
      value = unary();
    } else if (cursor_.accept('~')) {
      value = unary();
      value.bits = ~value.bits;
    } else if (cursor_.accept('!')) {
      value = unary();
      value.bits = value.bits == 0 ? 1 : 0;
    } else if (cursor_.accept('(')) {
      value = parenthesised();
    } else {
      value = literal();
    }
    --depth_;
    return value;
  }

  // After '(': an expression, or a cast (.s64) in front of one.
  Constant parenthesised() {
    if (!cursor_.at_directive()) {
      const Constant value = binary(1);
      cursor_.expect(')', "after the expression");
      return value;
    }
    cursor_.take();
    cursor_.expect(')', "after the cast");
    return unary();
  }

  Constant literal() {
    const Token token = cursor_.take();
    switch (token.kind) {
      case TokenKind::kInteger:
        return {ConstantKind::kInteger, token.bits};
      case TokenKind::kSingle:
        return {ConstantKind::kSingle, token.bits};
      case TokenKind::kDouble:
        return {ConstantKind::kDouble, token.bits};
      default:
        if (token.kind == TokenKind::kIdentifier && token.text == "WARP_SZ") {
          return {ConstantKind::kInteger, 32};
        }
        cursor_.fail(token, "expected a constant");
        return {};
    }
  }

  static Constant negated(Constant value) {
    if (value.kind == ConstantKind::kInteger) value.bits = 0 - value.bits;
    if (value.kind == ConstantKind::kSingle) value.bits ^= 0x8000'0000u;
    if (value.kind == ConstantKind::kDouble) value.bits ^= 0x8000'0000'0000'0000u;
    return value;
  }

  Constant joined(const Token& sign, const Constant& left, const Constant& right) {
    const bool integers =
        left.kind == ConstantKind::kInteger && right.kind == ConstantKind::kInteger;
    const char op = sign.text.empty() ? ' ' : sign.text[0];
    if (!integers) cursor_.fail(sign, "expected integers on both sides of the operator");
    const bool divides = op == '/' || op == '%';
    if (divides && right.bits == 0) cursor_.fail(sign, "division by zero in a constant");
    if (cursor_.failed()) return {};
    return {ConstantKind::kInteger, applied(op, left.bits, right.bits)};
  }

  Cursor& cursor_;
  int depth_ = 0;
};

std::uint64_t as_float(const Constant& constant, Type type) {
  double value = 0;
  switch (constant.kind) {
    case ConstantKind::kInteger:
      value = static_cast<double>(static_cast<std::int64_t>(constant.bits));
      break;
    case ConstantKind::kSingle:
      if (type == Type::kF32) return constant.bits;
      value = std::bit_cast<float>(static_cast<std::uint32_t>(constant.bits));
      break;
    case ConstantKind::kDouble:
      if (type == Type::kF64) return constant.bits;
      value = std::bit_cast<double>(constant.bits);
      break;
  }
  if (type == Type::kF64) return std::bit_cast<std::uint64_t>(value);
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

}  // namespace

bool at_constant(const Cursor& cursor) {
  const TokenKind kind = cursor.peek().kind;
  const bool number = kind == TokenKind::kInteger || kind == TokenKind::kSingle ||
                      kind == TokenKind::kDouble || kind == TokenKind::kBad;
  const bool warp_size = kind == TokenKind::kIdentifier && cursor.peek().text == "WARP_SZ";
  return number || warp_size || cursor.at('-') || cursor.at('+') || cursor.at('~') ||
         cursor.at('(');
}

Constant parse_constant(Cursor& cursor) {
  return ExpressionParser(cursor).binary(1);
}

std::uint64_t parse_count(Cursor& cursor, std::uint64_t limit, std::string_view what) {
  const Token token = cursor.peek();
  const Constant constant = parse_constant(cursor);
  if (constant.kind == ConstantKind::kInteger && constant.bits <= limit) return constant.bits;
  cursor.fail(token, std::string(what) + " must be an integer from 0 to " + std::to_string(limit));
  return 0;
}

std::optional<std::uint64_t> converted(const Constant& constant, Type type) {
  if (type == Type::kNone || type == Type::kOther) return constant.bits;
  if (type == Type::kPred) return constant.bits != 0 ? 1 : 0;
  if (type == Type::kF32 || type == Type::kF64) return as_float(constant, type);
  if (is_float(type) && constant.kind != ConstantKind::kInteger) return std::nullopt;
  const std::uint32_t bytes = bytes_of(type);
  return bytes >= 8 ? constant.bits : constant.bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

}  // namespace drgpum::emulator::ptx
