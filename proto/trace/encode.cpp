// SPDX-License-Identifier: Apache-2.0
// Walks a record's fields and writes those that are not protobuf's absent value.
#include "proto/trace/encode.h"

#include <utility>

#include "proto/trace/fields.h"

namespace drgpum::trace {
namespace {

constexpr std::uint32_t kMaxNames = 1u << 16;  // programs call far fewer functions; bounds memory

template <typename T>
concept Unsigned = std::unsigned_integral<T> && !std::same_as<T, bool>;

struct FieldWriter {
  wire::Encoder& out;
  const NameTable& names;

  void number(std::uint32_t field, std::uint64_t value) {
    if (value != 0) out.varint_field(field, value);
  }

  template <Unsigned T>
  void operator()(std::uint32_t field, const char*, const T& value) {
    number(field, value);
  }
  void operator()(std::uint32_t field, const char*, const bool& value) { number(field, value); }
  void operator()(std::uint32_t field, const char*, const std::int32_t& value) {
    number(field, wire::zigzag(value));
  }
  void operator()(std::uint32_t field, const char*, const double& value) {
    if (value != 0) out.double_field(field, value);
  }
  template <typename T>
  requires std::is_enum_v<T>
  void operator()(std::uint32_t field, const char*, const T& value) {
    number(field, static_cast<std::uint64_t>(value));
  }
  template <typename Tag, typename Rep>
  void operator()(std::uint32_t field, const char*, const StrongId<Tag, Rep>& id) {
    number(field, id.value);
  }
  template <typename Id>
  void operator()(std::uint32_t field, const char*, const OrNone<Id>& id) {
    number(field, static_cast<std::uint32_t>(id.id.value + 1));
  }
  void operator()(std::uint32_t field, const char*, const std::string& text) {
    if (!text.empty()) out.bytes_field(field, text);
  }
  void operator()(std::uint32_t field, const char*, const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
      out.bytes_field(field, text);
  }
  template <Unsigned T>
  void operator()(std::uint32_t field, const char*, const std::vector<T>& values) {
    packed(field, values, [](T value) -> std::uint64_t { return value; });
  }
  void operator()(std::uint32_t field, const char*, const std::vector<ApiId>& ids) {
    packed(field, ids, [](ApiId id) { return id.value; });
  }
  void operator()(std::uint32_t field, const char*, const std::uint32_t (&values)[3]) {
    packed(field, values, [](std::uint32_t value) -> std::uint64_t { return value; });
  }
  void operator()(std::uint32_t field, const char*, const std::vector<ByteRange>& ranges) {
    for (const ByteRange& range : ranges)
      message(field, range);
  }
  void operator()(std::uint32_t field, const char*, const std::optional<std::uint64_t>& value) {
    if (value) out.varint_field(field, *value);
  }
  void operator()(std::uint32_t field, const char*, const std::optional<ApiId>& id) {
    if (id) out.varint_field(field, id->value);
  }
  void operator()(std::uint32_t field, const char*, const std::optional<ByteRange>& range) {
    if (range) message(field, *range);
  }
  void operator()(std::uint32_t field, const char*, const ByteRange& range) {
    message(field, range);
  }
  void operator()(std::uint32_t field, const char*, const Region& region) {
    message(field, region);
  }
  void name(std::uint32_t field, const char*, const std::string& text) {
    const std::uint32_t known = names.find(text);
    if (known != 0)
      out.varint_field(field, known);
    else if (!text.empty())
      out.bytes_field(kInlineNameNumber, text);
  }
  void payload(std::uint32_t first, const ApiPayload& value) {
    const auto field = first + static_cast<std::uint32_t>(value.index());
    std::visit([&](const auto& alternative) { message(field, alternative); }, value);
  }

  template <typename Values, typename Get>
  void packed(std::uint32_t field, const Values& values, Get get) {
    if (std::empty(values)) return;
    const std::size_t mark = out.begin_message(field);
    for (const auto& value : values)
      out.varint(get(value));
    out.end_message(mark);
  }
  template <typename T>
  void message(std::uint32_t field, const T& value) {
    const std::size_t mark = out.begin_message(field);
    visit_fields(*this, value);
    out.end_message(mark);
  }
};

template <typename T, std::size_t index = 0>
constexpr std::uint32_t record_number() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<index, Record>>)
    return index + 1;
  else
    return record_number<T, index + 1>();
}

}  // namespace

std::uint32_t NameTable::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? 0 : found->second;
}

std::uint32_t NameTable::number_of(std::string_view name, bool& added) {
  added = false;
  if (name.empty()) return 0;
  if (const std::uint32_t known = find(name)) return known;
  if (numbers_.size() >= kMaxNames) return 0;
  added = true;
  return numbers_.emplace(name, numbers_.size() + 1).first->second;
}

void encode_name(std::uint32_t number, std::string_view name, wire::Encoder& out) {
  const NameTable unused;
  FieldWriter{out, unused}.message(kNameRecordNumber, NameRecord{number, std::string(name)});
}

template <typename T>
void encode_record(const T& record, const NameTable& names, wire::Encoder& out) {
  FieldWriter{out, names}.message(record_number<T>(), record);
}

void encode_record(const Record& record, const NameTable& names, wire::Encoder& out) {
  std::visit([&](const auto& alternative) { encode_record(alternative, names, out); }, record);
}

// One instantiation per alternative, so that nobody else compiles them.
template <std::size_t... index>
auto instantiate_all(std::index_sequence<index...>) {
  return std::make_tuple(&encode_record<std::variant_alternative_t<index, Record>>...);
}
template auto instantiate_all(std::make_index_sequence<std::variant_size_v<Record>>);

}  // namespace drgpum::trace
