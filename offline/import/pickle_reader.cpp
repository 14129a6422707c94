// SPDX-License-Identifier: Apache-2.0
// One opcode after another, on a stack of values.
#include "offline/import/pickle_reader.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>

#include "offline/import/pickle_opcodes.h"
#include "offline/import/pickle_text.h"

namespace drgpum {
namespace {

using namespace pickle;

constexpr std::size_t kMaxMarks = 256;       // open at once; writers have about ten
constexpr std::size_t kMaxLine = 1 << 20;    // of protocol 0's numbers and texts
constexpr std::uint64_t kProgressStep = 4 << 20;
constexpr std::size_t kLongestAhead = 16;  // bytes that run_ahead() may look at for one opcode

constexpr SnapshotValue kNeverPut{7};  // no value has these bits

template <typename T>
T little_endian(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

class PickleMachine {
 public:
  PickleMachine(ByteStream& bytes, SnapshotValues& values, const ReadProgress& progress)
      : in_(bytes), values_(values), progress_(progress) {}

  Result<SnapshotValue> run() {
    while (!stopped_) {
      at_ = in_.offset();
      if (progress_ && at_ >= next_tell_) tell();
      if (!in_.need(kLongestAhead) && !in_.need(1)) return ended();
      run_ahead();
      at_ = in_.offset();
      if (!in_.need(1)) return ended();
      const std::uint8_t opcode = *in_.data();
      in_.advance(1);
      if (!step(opcode)) return failure();
    }
    return stack_.back();
  }

 private:
  // --- errors ---
  Error failure() {
    if (wrong_.empty()) return ended();
    return {code_, "byte " + std::to_string(at_) + ": " + wrong_};
  }
  Error ended() const {
    if (in_.problem()) return {in_.problem()->code, "byte " + std::to_string(at_) + ": " +
                                                        in_.problem()->message};
    return {ErrorCode::kCorrupt, "byte " + std::to_string(at_) + ": the pickle is cut off here"};
  }
  bool fail(std::string what, ErrorCode code = ErrorCode::kCorrupt) {
    wrong_ = std::move(what);
    code_ = code;
    return false;
  }
  bool check(const char* wrong) { return wrong == nullptr || fail(std::string("the pickle ") + wrong); }
  bool refuse(std::uint8_t opcode) {
    const char* name = refused_name(opcode);
    if (name == nullptr) {
      char text[64];
      std::snprintf(text, sizeof text, "0x%02x is no opcode of a pickle", opcode);
      return fail(text);
    }
    return fail(std::string("the opcode ") + name +
                    " makes or calls something; a snapshot holds plain data only",
                ErrorCode::kUnsupported);
  }
  void tell() {
    progress_(in_.bytes_read(), in_.file_bytes());
    next_tell_ = at_ + kProgressStep;
  }

  // --- the stack ---
  bool push(SnapshotValue value) {
    stack_.push_back(value);
    return true;
  }
  // Values above the last mark, or all.
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  bool has(std::size_t count) {
    return stack_.size() >= floor() + count || fail("the pickle takes from an empty stack");
  }
  bool mark() {
    if (marks_.size() >= kMaxMarks) return fail("the pickle has more than 256 open marks");
    marks_.push_back(static_cast<std::uint32_t>(stack_.size()));
    return true;
  }
  bool pop_mark(std::size_t& begin) {
    if (marks_.empty()) return fail("the pickle takes to a mark that is not there");
    begin = marks_.back();
    marks_.pop_back();
    return true;
  }

  // --- lengths ---
  const std::uint8_t* take(std::size_t bytes) {
    if (!in_.need(bytes)) return nullptr;
    const std::uint8_t* data = in_.data();
    in_.advance(bytes);
    return data;
  }
  template <typename T>
  bool number(T& value) {
    const std::uint8_t* data = take(sizeof(T));
    if (data != nullptr) value = little_endian<T>(data);
    return data != nullptr;
  }
  bool fits(std::uint64_t length) {
    return in_.may_hold(length) || fail("a length of " + std::to_string(length) +
                                        " bytes, more than the file has left");
  }
  template <typename Length>
  bool text() {
    Length length = 0;
    if (!number(length) || !fits(length)) return false;
    if (length > ByteStream::kMaxRun)
      return fail("a text of " + std::to_string(length) + " bytes; at most 16 MiB are taken");
    const std::uint8_t* data = take(static_cast<std::size_t>(length));
    if (data == nullptr) return false;
    return push(values_.text({reinterpret_cast<const char*>(data), static_cast<std::size_t>(length)}));
  }
  // Without its end; an empty view with data() == nullptr when there is none.
  std::string_view line() {
    for (std::size_t have = 0;;) {
      const void* end =
          std::memchr(in_.data() + have, '\n', std::min(in_.available(), kMaxLine) - have);
      if (end != nullptr) {
        const auto* begin = reinterpret_cast<const char*>(in_.data());
        const auto length = static_cast<std::size_t>(static_cast<const char*>(end) - begin);
        in_.advance(length + 1);
        return {begin, length};
      }
      have = std::min(in_.available(), kMaxLine);
      if (have == kMaxLine) {
        fail("a line of more than 1 MiB");
        return {};
      }
      if (!in_.need(have + 1)) return {};
    }
  }

  void run_ahead();
  bool step(std::uint8_t opcode);
  bool long_of(std::uint64_t length);
  bool decimal(std::string_view text, bool is_int);
  bool real_line();
  bool quoted_line();
  bool unicode_line();
  bool get(std::uint64_t index);
  bool put(std::uint64_t index);
  bool line_index(std::uint64_t& index);
  bool collect_list(bool tuple_to_mark, std::size_t count);
  bool collect_dict();
  bool stop();

  ByteStream& in_;
  SnapshotValues& values_;
  const ReadProgress& progress_;
  PodArray<SnapshotValue> stack_;
  PodArray<std::uint32_t> marks_;
  PodArray<SnapshotValue> memo_;
  std::uint64_t puts_ = 0;
  std::uint64_t at_ = 0;  // where the opcode stands
  std::uint64_t next_tell_ = 0;
  std::string wrong_;
  ErrorCode code_ = ErrorCode::kCorrupt;
  bool stopped_ = false;
};

// Two's complement, little-endian.
bool PickleMachine::long_of(std::uint64_t length) {
  if (!fits(length)) return false;
  if (length > 9) {
    if (!in_.skip(length)) return false;
    return push(values_.huge());
  }
  const std::uint8_t* data = take(static_cast<std::size_t>(length));
  if (data == nullptr) return false;
  if (length == 0) return push(values_.integer(0));
  std::uint64_t value = (data[length - 1] & 0x80) != 0 ? ~std::uint64_t{0} : 0;
  if (length == 9 && data[8] != 0 && data[8] != 0xff) return push(values_.huge());
  const std::size_t low = std::min<std::size_t>(static_cast<std::size_t>(length), 8);
  std::memcpy(&value, data, low);
  if (length < 9) return push(values_.integer(static_cast<std::int64_t>(value)));
  if (data[8] == 0) return push(values_.unsigned_integer(value));
  const auto negative = static_cast<std::int64_t>(value);
  return push(negative < 0 ? values_.integer(negative) : values_.huge());
}

bool PickleMachine::decimal(std::string_view text, bool is_int) {
  if (text.data() == nullptr) return false;
  if (is_int && text == "00") return push(values_.boolean(false));
  if (is_int && text == "01") return push(values_.boolean(true));
  if (text.ends_with('L')) text.remove_suffix(1);
  std::int64_t small = 0;
  std::uint64_t large = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, small);
  if (error == std::errc() && end == last) return push(values_.integer(small));
  const auto [end2, error2] = std::from_chars(text.data(), last, large);
  if (error2 == std::errc() && end2 == last) return push(values_.unsigned_integer(large));
  if (error == std::errc::result_out_of_range && end == last) return push(values_.huge());
  return fail("a number that is none");
}

bool PickleMachine::real_line() {
  const std::string_view text = line();
  if (text.data() == nullptr) return false;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fail("a number that is none");
  return push(values_.real(value));
}

bool PickleMachine::quoted_line() {
  const std::string_view text = line();
  if (text.data() == nullptr) return false;
  std::string plain;
  return unquoted(text, plain) ? push(values_.text(plain)) : fail("a text without its quotes");
}

bool PickleMachine::unicode_line() {
  const std::string_view text = line();
  if (text.data() == nullptr) return false;
  std::string plain;
  return unescaped(text, plain) ? push(values_.text(plain))
                                : fail("a text with an escape that is none");
}

bool PickleMachine::get(std::uint64_t index) {
  if (index >= memo_.size() || memo_[index].bits == kNeverPut.bits)
    return fail("memo " + std::to_string(index) + " is asked for before it is made");
  return push(memo_[index]);
}

bool PickleMachine::put(std::uint64_t index) {
  if (!has(1)) return false;
  ++puts_;
  // Writers count up; a table with large holes is there to fill memory.
  if (index > 2 * puts_ + 1024)
    return fail("memo " + std::to_string(index) + " is made after only " +
                std::to_string(puts_ - 1) + " others");
  if (index >= memo_.size()) memo_.resize(index + 1, kNeverPut);
  memo_[index] = stack_.back();
  return true;
}

bool PickleMachine::line_index(std::uint64_t& index) {
  const std::string_view text = line();
  if (text.data() == nullptr) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return (error == std::errc() && end == text.data() + text.size()) ||
         fail("a memo's number that is none");
}

// Tuples are lists here. Takes what lies above the mark, or `count` values.
bool PickleMachine::collect_list(bool to_mark, std::size_t count) {
  std::size_t begin = stack_.size() - std::min(count, stack_.size());
  if (to_mark ? !pop_mark(begin) : !has(count)) return false;
  const SnapshotValue list = values_.new_list();
  if (!check(values_.append(list, stack_.data() + begin, stack_.size() - begin))) return false;
  stack_.shrink(begin);
  return push(list);
}

bool PickleMachine::collect_dict() {
  std::size_t begin = 0;
  if (!pop_mark(begin)) return false;
  if ((stack_.size() - begin) % 2 != 0) return fail("a dictionary with a key that has no value");
  const SnapshotValue dict = values_.new_dict();
  if (!check(values_.set_items(dict, stack_.data() + begin, stack_.size() - begin))) return false;
  stack_.shrink(begin);
  return push(dict);
}

bool PickleMachine::stop() {
  if (!marks_.empty() || stack_.size() != 1)
    return fail("the pickle stops with " + std::to_string(stack_.size()) +
                " values on the stack, not one");
  stopped_ = true;
  return true;
}

// Takes the short opcodes that events are made of for as long as whole ones are at hand. All others,
// and all that is wrong, are left to step().
void PickleMachine::run_ahead() {
  if (in_.available() < kLongestAhead) return;
  const std::uint8_t* const begin = in_.data();
  const std::uint8_t* const end = begin + in_.available() - kLongestAhead;
  const std::uint8_t* at = begin;
  for (bool going = true; going && at <= end;) {
    switch (*at) {
      case kBinGet:
      case kLongBinGet: {
        const bool is_long = *at == kLongBinGet;
        const std::size_t index = is_long ? little_endian<std::uint32_t>(at + 1) : at[1];
        going = index < memo_.size() && memo_[index].bits != kNeverPut.bits;
        if (!going) break;
        stack_.push_back(memo_[index]);
        at += is_long ? 5 : 2;
        break;
      }
      case kBinInt1:
        stack_.push_back(values_.integer(at[1]));
        at += 2;
        break;
      case kBinInt2:
        stack_.push_back(values_.integer(little_endian<std::uint16_t>(at + 1)));
        at += 3;
        break;
      case kBinInt:
        stack_.push_back(values_.integer(little_endian<std::int32_t>(at + 1)));
        at += 5;
        break;
      case kLong1: {
        going = at[1] > 0 && at[1] <= 8;
        if (!going) break;
        const int unused = 64 - 8 * at[1];
        const std::uint64_t high = little_endian<std::uint64_t>(at + 2) << unused;
        stack_.push_back(values_.integer(static_cast<std::int64_t>(high) >> unused));
        at += 2 + at[1];
        break;
      }
      case kMark:
        going = marks_.size() < kMaxMarks;
        if (!going) break;
        marks_.push_back(static_cast<std::uint32_t>(stack_.size()));
        ++at;
        break;
      case kEmptyDict:
        stack_.push_back(values_.new_dict());
        ++at;
        break;
      case kEmptyList:
        stack_.push_back(values_.new_list());
        ++at;
        break;
      case kMemoize:
        going = stack_.size() > floor();
        if (!going) break;
        ++puts_;
        memo_.push_back(stack_.back());
        ++at;
        break;
      default:
        going = false;
        break;
    }
  }
  in_.advance(static_cast<std::size_t>(at - begin));
}

bool PickleMachine::step(std::uint8_t opcode) {
  std::uint8_t byte = 0;
  std::uint64_t wide = 0;
  std::size_t begin = 0;
  switch (opcode) {
    case kProto:
      if (!number(byte)) return false;
      return byte <= 5 || fail("pickle protocol " + std::to_string(byte) +
                                   ", which is not known; 0 to 5 are",
                               ErrorCode::kUnsupported);
    case pickle::kFrame:
      return number(wide) && fits(wide);
    case kStop:
      return stop();
    case kMark:
      return mark();
    case kPop:
      if (stack_.size() > floor()) {
        stack_.pop_back();
        return true;
      }
      return pop_mark(begin);
    case kPopMark:
      if (!pop_mark(begin)) return false;
      stack_.shrink(begin);
      return true;
    case kDup:
      return has(1) && push(stack_.back());

    case pickle::kNone:
      return push(values_.none());
    case kNewTrue:
      return push(values_.boolean(true));
    case kNewFalse:
      return push(values_.boolean(false));
    case kBinInt1:
      return number(byte) && push(values_.integer(byte));
    case kBinInt2: {
      std::uint16_t value = 0;
      return number(value) && push(values_.integer(value));
    }
    case kBinInt: {
      std::int32_t value = 0;
      return number(value) && push(values_.integer(value));
    }
    case kLong1:
      return number(byte) && long_of(byte);
    case kLong4: {
      std::int32_t length = 0;
      if (!number(length)) return false;
      return length < 0 ? fail("a number of a negative length")
                        : long_of(static_cast<std::uint64_t>(length));
    }
    case kInt:
      return decimal(line(), true);
    case kLong:
      return decimal(line(), false);
    case kFloat:
      return real_line();
    case kBinFloat:
      return number(wide) && push(values_.real(std::bit_cast<double>(__builtin_bswap64(wide))));

    case kShortBinUnicode:
    case kShortBinBytes:
    case kShortBinString:
      return text<std::uint8_t>();
    case kBinUnicode:
    case kBinBytes:
      return text<std::uint32_t>();
    case kBinString: {
      if (!in_.need(4)) return false;
      return little_endian<std::int32_t>(in_.data()) < 0 ? fail("a text of a negative length")
                                                         : text<std::uint32_t>();
    }
    case kBinUnicode8:
    case kBinBytes8:
    case kByteArray8:
      return text<std::uint64_t>();
    case kString:
      return quoted_line();
    case kUnicode:
      return unicode_line();

    case kEmptyList:
    case kEmptyTuple:
      return push(values_.new_list());
    case kEmptyDict:
      return push(values_.new_dict());
    case pickle::kList:
    case kTuple:
      return collect_list(true, 0);
    case kTuple1:
    case kTuple2:
    case kTuple3:
      return collect_list(false, static_cast<std::size_t>(opcode - kTuple1 + 1));
    case pickle::kDict:
      return collect_dict();
    case kAppend:
      if (!has(2)) return false;
      if (!check(values_.append(stack_[stack_.size() - 2], &stack_.back(), 1))) return false;
      stack_.pop_back();
      return true;
    case kAppends:
      if (!pop_mark(begin)) return false;
      if (begin <= floor()) return fail("the pickle takes from an empty stack");
      if (!check(values_.append(stack_[begin - 1], stack_.data() + begin, stack_.size() - begin)))
        return false;
      stack_.shrink(begin);
      return true;
    case kSetItem:
      if (!has(3)) return false;
      if (!check(values_.set_items(stack_[stack_.size() - 3], stack_.data() + stack_.size() - 2, 2)))
        return false;
      stack_.shrink(stack_.size() - 2);
      return true;
    case kSetItems:
      if (!pop_mark(begin)) return false;
      if (begin <= floor()) return fail("the pickle takes from an empty stack");
      if ((stack_.size() - begin) % 2 != 0)
        return fail("a dictionary with a key that has no value");
      if (!check(values_.set_items(stack_[begin - 1], stack_.data() + begin,
                                   stack_.size() - begin)))
        return false;
      stack_.shrink(begin);
      return true;

    case kGet:
      return line_index(wide) && get(wide);
    case kBinGet:
      return number(byte) && get(byte);
    case kLongBinGet: {
      std::uint32_t index = 0;
      return number(index) && get(index);
    }
    case kPut:
      return line_index(wide) && put(wide);
    case kBinPut:
      return number(byte) && put(byte);
    case kLongBinPut: {
      std::uint32_t index = 0;
      return number(index) && put(index);
    }
    case kMemoize:
      return put(memo_.size());
    default:
      return refuse(opcode);
  }
}

}  // namespace

Result<SnapshotValue> read_pickle(ByteStream& bytes, SnapshotValues& values,
                                  const ReadProgress& progress) {
  return PickleMachine(bytes, values, progress).run();
}

}  // namespace drgpum
