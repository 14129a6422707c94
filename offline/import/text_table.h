// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts by number, each held once.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "offline/import/pod_array.h"

namespace drgpum {

class TextTable {
 public:
  TextTable() { rehash(1024); }

  std::uint32_t number_of(std::string_view text) {
    const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].number != kFree; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].hash == hash && (*this)[slots_[at].number] == text) return slots_[at].number;
    const auto number = static_cast<std::uint32_t>(texts_.size());
    slots_[at] = {hash, number};
    texts_.push_back(keep(text));
    if (texts_.size() * 2 > slots_.size()) rehash(slots_.size() * 2);
    return number;
  }
  std::string_view operator[](std::uint32_t number) const {
    return {texts_[number].data, texts_[number].size};
  }
  std::size_t size() const { return texts_.size(); }

 private:
  static constexpr std::uint32_t kFree = 0xffffffff;
  static constexpr std::size_t kBlock = 1 << 16;
  struct Slot {
    std::uint32_t hash;
    std::uint32_t number;
  };
  struct Text {
    const char* data;
    std::size_t size;
  };

  Text keep(std::string_view text) {
    if (text.size() > left_) {
      const std::size_t size = text.size() > kBlock / 4 ? text.size() : kBlock;
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
      if (size != kBlock) {  // a block of its own; the one in use stays in use
        text.copy(blocks_.back().get(), text.size());
        return {blocks_.back().get(), text.size()};
      }
      next_ = blocks_.back().get();
      left_ = size;
    }
    text.copy(next_, text.size());
    const Text kept{next_, text.size()};
    next_ += text.size();
    left_ -= text.size();
    return kept;
  }
  void rehash(std::size_t size) {
    PodArray<Slot> old = std::move(slots_);
    slots_ = PodArray<Slot>();
    slots_.resize(size, {0, kFree});
    for (const Slot& slot : old) {
      if (slot.number == kFree) continue;
      std::size_t at = slot.hash & (size - 1);
      while (slots_[at].number != kFree)
        at = (at + 1) & (size - 1);
      slots_[at] = slot;
    }
  }

  PodArray<Slot> slots_;
  PodArray<Text> texts_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace drgpum
