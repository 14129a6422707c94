// SPDX-License-Identifier: Apache-2.0
// Fills a record's fields from the wire; a field that is absent is zero, as protobuf has it.
#include "proto/trace/decode.h"

#include <bit>
#include <limits>
#include <utility>

#include "proto/trace/fields.h"
#include "proto/trace/names.h"
#include "proto/wire.h"

namespace drgpum::trace {
namespace {

using wire::Field;
using wire::WireType;
using Outcome = RecordDecoder::Outcome;

template <typename T>
concept Unsigned = std::unsigned_integral<T> && !std::same_as<T, bool>;
template <typename T>
concept Message = std::same_as<T, Region> || std::same_as<T, ByteRange>;

// Sets what the structs give a default other than zero to protobuf's absent value.
struct ZeroSetter {
  template <typename T>
  void operator()(std::uint32_t, const char*, T& value) {
    if constexpr (Message<T>) {
      visit_fields(*this, value);
    } else if constexpr (std::is_array_v<T>) {
      for (auto& element : value)
        element = 0;
    } else if constexpr (std::is_enum_v<T>) {
      value = T{};
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = 0;
    }  // ids that may be none begin as none; strings, vectors and optionals begin empty
  }
  template <typename Id>
  void operator()(std::uint32_t, const char*, OrNone<Id>) {}
  void name(std::uint32_t, const char*, std::string&) {}
  void payload(std::uint32_t, ApiPayload&) {}
};

}  // namespace

// Takes one field off the wire to the member that has its number.
struct FieldReader {
  RecordDecoder& decoder;
  Field field;
  bool known = false;
  Outcome outcome = Outcome::kRecord;

  template <typename T>
  static Outcome read_message(RecordDecoder& decoder, std::span<const std::uint8_t> bytes,
                              T& record) {
    ZeroSetter zero;
    visit_fields(zero, record);
    wire::Decoder fields(bytes);
    FieldReader reader{decoder, {}};
    Outcome result = Outcome::kRecord;
    while (fields.next(reader.field)) {
      reader.known = false;
      visit_fields(reader, record);
      if (!reader.known) ++decoder.unknown_fields_;
      if (reader.outcome == Outcome::kCorrupt) return Outcome::kCorrupt;
      if (reader.outcome == Outcome::kNothing) result = Outcome::kNothing;
    }
    return fields.failed() ? Outcome::kCorrupt : result;
  }

  template <typename T>
  void operator()(std::uint32_t number, const char*, T&& value) {
    if (number != field.number) return;
    known = true;
    if (!assign(value)) outcome = Outcome::kCorrupt;
  }
  void name(std::uint32_t number, const char*, std::string& text) {
    if (field.number == kInlineNameNumber) {
      known = true;
      if (!assign(text)) outcome = Outcome::kCorrupt;
    }
    if (number != field.number) return;
    known = true;
    if (field.type != WireType::kVarint || field.value - 1 >= decoder.names_.size())
      outcome = Outcome::kCorrupt;
    else
      text = decoder.names_[field.value - 1];
  }
  void payload(std::uint32_t first, ApiPayload& value) {
    if (field.number < first) return;
    const std::size_t index = field.number - first;
    if (index >= std::variant_size_v<ApiPayload>) return;
    known = true;
    if (field.type != WireType::kBytes)
      outcome = Outcome::kCorrupt;
    else
      read_payload(index, value, std::make_index_sequence<std::variant_size_v<ApiPayload>>());
  }

 private:
  template <std::size_t... all>
  void read_payload(std::size_t index, ApiPayload& value, std::index_sequence<all...>) {
    const auto read_one = [&]<std::size_t one>(std::integral_constant<std::size_t, one>) {
      if (one == index) take(read_message(decoder, field.bytes, value.emplace<one>()));
    };
    (read_one(std::integral_constant<std::size_t, all>()), ...);
  }
  void take(Outcome inner) {
    if (inner != Outcome::kRecord) outcome = inner;
  }

  // False: the field's wire type or value cannot be this member's.
  template <Unsigned T>
  bool assign(T& value) const {
    if (field.type != WireType::kVarint || field.value > std::numeric_limits<T>::max())
      return false;
    value = static_cast<T>(field.value);
    return true;
  }
  bool assign(bool& value) const {
    value = field.value != 0;
    return field.type == WireType::kVarint;
  }
  bool assign(std::int32_t& value) const {
    const std::int64_t wide = wire::unzigzag(field.value);
    value = static_cast<std::int32_t>(wide);
    return field.type == WireType::kVarint && value == wide;
  }
  bool assign(double& value) const {
    value = std::bit_cast<double>(field.value);
    return field.type == WireType::kFixed64;
  }
  template <typename T>
  requires std::is_enum_v<T>
  bool assign(T& value) {
    if (field.type != WireType::kVarint) return false;
    if (field.value >= kEnumNames<T>.size())
      outcome = Outcome::kNothing;  // of a later version: the record means what we do not know
    else
      value = static_cast<T>(field.value);
    return true;
  }
  template <typename Tag, typename Rep>
  bool assign(StrongId<Tag, Rep>& id) const {
    return assign(id.value);
  }
  template <typename Id>
  bool assign(OrNone<Id>& id) const {
    std::uint32_t stored = 0;
    if (!assign(stored)) return false;
    id.id.value = stored - 1;  // 0 is none: kNoId
    return true;
  }
  bool assign(std::string& text) const {
    if (field.type != WireType::kBytes) return false;
    text.assign(field.text());
    return true;
  }
  bool assign(std::vector<std::string>& texts) const {
    if (field.type != WireType::kBytes) return false;
    texts.emplace_back(field.text());
    return true;
  }
  template <Message T>
  bool assign(T& value) {
    if (field.type != WireType::kBytes) return false;
    take(read_message(decoder, field.bytes, value));
    return outcome != Outcome::kCorrupt;
  }
  bool assign(std::vector<ByteRange>& ranges) { return assign(ranges.emplace_back()); }
  template <typename T>
  bool assign(std::optional<T>& value) {
    return assign(value.emplace());
  }
  template <Unsigned T>
  bool assign(std::vector<T>& values) const {
    return unpack([&](std::uint64_t value) {
      values.push_back(static_cast<T>(value));
      return value <= std::numeric_limits<T>::max();
    });
  }
  bool assign(std::vector<ApiId>& ids) const {
    return unpack([&](std::uint64_t value) { return ids.push_back({value}), true; });
  }
  bool assign(std::uint32_t (&values)[3]) const {
    std::size_t count = 0;
    const bool read = unpack([&](std::uint64_t value) {
      if (count >= 3 || value > std::numeric_limits<std::uint32_t>::max()) return false;
      values[count++] = static_cast<std::uint32_t>(value);
      return true;
    });
    return read && count == 3;
  }
  // Packed, or one element at a time, as protobuf allows.
  template <typename Take>
  bool unpack(Take take_value) const {
    if (field.type == WireType::kVarint) return take_value(field.value);
    if (field.type != WireType::kBytes) return false;
    wire::Decoder elements(field.bytes);
    std::uint64_t value = 0;
    while (elements.varint(value))
      if (!take_value(value)) return false;
    return !elements.failed();
  }
};

namespace {

template <std::size_t... all>
Outcome read_record(RecordDecoder& decoder, const Field& field, Record& out,
                    std::index_sequence<all...>) {
  Outcome outcome = Outcome::kCorrupt;
  const auto read_one = [&]<std::size_t one>(std::integral_constant<std::size_t, one>) {
    if (one + 1 == field.number)
      outcome = FieldReader::read_message(decoder, field.bytes, out.emplace<one>());
  };
  (read_one(std::integral_constant<std::size_t, all>()), ...);
  return outcome;
}

}  // namespace

Outcome RecordDecoder::add_name(std::span<const std::uint8_t> message) {
  NameRecord name;
  const Outcome outcome = FieldReader::read_message(*this, message, name);
  if (outcome != Outcome::kRecord || name.id != names_.size() + 1) return Outcome::kCorrupt;
  names_.push_back(std::move(name.text));
  return Outcome::kNothing;
}

Outcome RecordDecoder::decode(std::span<const std::uint8_t> message, Record& out) {
  wire::Decoder fields(message);
  Field field;
  if (!fields.next(field)) return Outcome::kCorrupt;
  if (!fields.done() || field.type != WireType::kBytes) return Outcome::kCorrupt;
  if (field.number == kNameRecordNumber) return add_name(field.bytes);
  constexpr std::size_t kKinds = std::variant_size_v<Record>;
  if (field.number > kKinds) return ++unknown_records_, Outcome::kNothing;
  const Outcome outcome = read_record(*this, field, out, std::make_index_sequence<kKinds>());
  if (outcome == Outcome::kNothing) ++unknown_records_;
  return outcome;
}

}  // namespace drgpum::trace
