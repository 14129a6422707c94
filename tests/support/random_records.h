// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records of every kind with every field filled at random, for tests of codecs.

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "proto/trace/fields.h"
#include "proto/trace/names.h"

namespace drgpum::trace {

class RandomRecords {
 public:
  explicit RandomRecords(std::uint32_t seed) : random_(seed) {}

  Record next() {
    return make(random_() % std::variant_size_v<Record>,
                std::make_index_sequence<std::variant_size_v<Record>>());
  }
  Record of_kind(std::size_t index) {
    return make(index, std::make_index_sequence<std::variant_size_v<Record>>());
  }

  // The visitor of visit_fields.
  template <typename T>
  void operator()(std::uint32_t, const char*, T&& value) {
    fill(value);
  }
  void name(std::uint32_t, const char*, std::string& text) {
    static const std::array<const char*, 4> kNames{"", "cudaMalloc", "cudaFree",
                                                   "cuMemcpyAsync_v2"};
    text = kNames.at(random_() % kNames.size());
  }
  void payload(std::uint32_t, ApiPayload& value) {
    fill_payload(value, random_() % std::variant_size_v<ApiPayload>,
                 std::make_index_sequence<std::variant_size_v<ApiPayload>>());
  }

 private:
  template <std::size_t... all>
  Record make(std::size_t index, std::index_sequence<all...>) {
    Record record;
    ((all == index ? visit_fields(*this, record.emplace<all>()) : void()), ...);
    return record;
  }
  template <std::size_t... all>
  void fill_payload(ApiPayload& value, std::size_t index, std::index_sequence<all...>) {
    ((all == index ? visit_fields(*this, value.emplace<all>()) : void()), ...);
  }

  // Small, large and edge values alike.
  std::uint64_t number() {
    switch (random_() % 4) {
      case 0:
        return 0;
      case 1:
        return random_() % 200;
      case 2:
        return ~std::uint64_t{0} >> (random_() % 64);
      default:
        return std::uint64_t{random_()} << 32 | random_();
    }
  }
  std::size_t count() { return random_() % 5; }

  void fill(std::uint64_t& value) { value = number(); }
  void fill(std::uint32_t& value) { value = static_cast<std::uint32_t>(number()); }
  void fill(std::int32_t& value) { value = static_cast<std::int32_t>(number()); }
  void fill(bool& value) { value = random_() % 2 == 0; }
  void fill(double& value) { value = static_cast<double>(number()) / 7; }
  template <typename T>
  requires std::is_enum_v<T>
  void fill(T& value) { value = static_cast<T>(random_() % kEnumNames<T>.size()); }
  template <typename Tag, typename Rep>
  void fill(StrongId<Tag, Rep>& id) {
    fill(id.value);
  }
  template <typename Id>
  void fill(OrNone<Id>& id) {
    fill(id.id.value);
  }
  void fill(std::string& text) {
    text.clear();
    for (std::size_t k = count() * count(); k > 0; --k)
      text += static_cast<char>(random_());
  }
  template <typename T>
  void fill(std::vector<T>& values) {
    values.resize(count());
    for (T& value : values)
      fill(value);
  }
  template <typename T>
  void fill(std::optional<T>& value) {
    value.reset();
    if (random_() % 2 == 0) fill(value.emplace());
  }
  void fill(std::uint32_t (&values)[3]) {
    for (std::uint32_t& value : values)
      fill(value);
  }
  void fill(Region& region) { visit_fields(*this, region); }
  void fill(ByteRange& range) { visit_fields(*this, range); }

  std::mt19937 random_;
};

}  // namespace drgpum::trace
