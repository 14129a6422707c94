// SPDX-License-Identifier: Apache-2.0
// Prints records, one a line.
#include <array>
#include <cstdio>

#include "proto/trace/fields.h"
#include "proto/trace/names.h"
#include "proto/trace/trace_text.h"

namespace drgpum::trace {
namespace {

// In the order of Record's alternatives.
constexpr std::array<const char*, std::variant_size_v<Record>> kKinds{
    "process",    "device", "context", "end-context", "stream", "end-stream", "module",
    "end-module", "path",   "cubin",   "kernel",      "object", "name",       "call",
    "time",       "access", "map",     "coverage",    "end",    "end-object", "site",
    "frame",      "free-requested", "stream-name"};

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      out += escaped;
    } else {
      out += c;
    }
  }
  out += '"';
}

// Prints the fields that differ from those of a record as it is made.
template <typename T>
struct FieldPrinter {
  std::string& out;
  bool hex = false;

  void print(bool value) { out += value ? "yes" : "no"; }
  void print(double value) { out += std::to_string(value); }
  template <std::integral N>
  void print(N value) {
    char digits[24];
    const auto wide = static_cast<unsigned long long>(value);
    std::snprintf(digits, sizeof digits, hex ? "0x%llx" : "%llu", wide);
    out += value < 0 ? std::to_string(value) : digits;
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void print(Enum value) { out += enum_name(value); }
  template <typename Tag, typename Rep>
  void print(StrongId<Tag, Rep> id) {
    if (sizeof(Rep) == 4 && id.value == kNoId)
      out += "none";
    else
      out += std::to_string(id.value);
  }
  template <typename Id>
  void print(OrNone<Id> id) {
    print(id.id);
  }
  void print(const std::string& text) { append_quoted(out, text); }
  void print(const ByteRange& range) {
    out += '[' + std::to_string(range.begin) + ':' + std::to_string(range.end) + ')';
  }
  void print(const Region& region) { nested(region); }
  template <typename N>
  void print(const std::optional<N>& value) {
    if (value) print(*value);
  }
  template <typename N>
  void print(const std::vector<N>& values) {
    list(values);
  }
  void print(const std::uint32_t (&values)[3]) { list(values); }

  template <typename Values>
  void list(const Values& values) {
    const char* before = "";
    for (const auto& value : values) {
      out += before;
      print(value);
      before = ",";
    }
  }
  template <typename N>
  void nested(const N& value) {
    out += '{';
    const std::size_t begin = out.size();
    visit_fields(*this, value);
    if (out.size() > begin) out.erase(begin, 1);  // the blank before the first field
    out += '}';
  }

  template <typename V>
  static bool is_plain(const V& value) {
    if constexpr (std::is_same_v<V, bool>) return !value;
    if constexpr (std::is_same_v<V, std::optional<std::uint64_t>> ||
                  std::is_same_v<V, std::optional<ApiId>> ||
                  std::is_same_v<V, std::optional<ByteRange>>)
      return !value.has_value();
    if constexpr (requires { value.empty(); }) return value.empty();
    if constexpr (requires { value.id.value == kNoId; }) return value.id.value == kNoId;
    return false;
  }

  template <typename V>
  void operator()(std::uint32_t, const char* name, const V& value) {
    if (is_plain(value)) return;
    const std::string_view field = name;
    hex = field == "address" || field == "frames" || field == "load_bias";
    out += ' ';
    out += name;
    out += '=';
    print(value);
  }
  void name(std::uint32_t number, const char* field, const std::string& text) {
    (*this)(number, field, text);
  }
  void payload(std::uint32_t, const ApiPayload& value) {
    out += ' ';
    std::visit([this](const auto& alternative) { nested(alternative); }, value);
  }
};

template <typename T>
void append_record(std::string& out, const T& record) {
  FieldPrinter<T> printer{out};
  visit_fields(printer, record);
}

}  // namespace

std::string to_text(const Record& record) {
  std::string out = kKinds.at(record.index());
  std::visit([&](const auto& alternative) { append_record(out, alternative); }, record);
  return out;
}

std::string to_text(std::span<const Record> records) {
  std::string out;
  for (const Record& record : records)
    out += to_text(record) + '\n';
  return out;
}

}  // namespace drgpum::trace
