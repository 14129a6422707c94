// SPDX-License-Identifier: Apache-2.0
#pragma once
// A list of calls that is mostly empty: one pointer instead of a vector's three.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

namespace drgpum {

class CallList {
 public:
  CallList() = default;
  CallList(std::initializer_list<std::uint32_t> calls) : CallList(std::vector(calls)) {}
  CallList(std::vector<std::uint32_t> calls) {  // NOLINT: a list is a list
    if (!calls.empty()) calls_ = std::make_unique<std::vector<std::uint32_t>>(std::move(calls));
  }
  CallList(const CallList& other)
      : calls_(other.calls_ ? std::make_unique<std::vector<std::uint32_t>>(*other.calls_)
                            : nullptr) {}
  CallList(CallList&&) noexcept = default;
  CallList& operator=(CallList other) noexcept {
    calls_ = std::move(other.calls_);
    return *this;
  }

  void push_back(std::uint32_t call) {
    if (!calls_) calls_ = std::make_unique<std::vector<std::uint32_t>>();
    calls_->push_back(call);
  }
  [[nodiscard]] bool empty() const { return !calls_; }
  [[nodiscard]] std::size_t size() const { return calls_ ? calls_->size() : 0; }
  std::uint32_t operator[](std::size_t i) const { return (*calls_)[i]; }
  [[nodiscard]] std::uint32_t front() const { return calls_->front(); }
  [[nodiscard]] const std::uint32_t* begin() const { return calls_ ? calls_->data() : nullptr; }
  [[nodiscard]] const std::uint32_t* end() const { return begin() + size(); }

 private:
  std::unique_ptr<std::vector<std::uint32_t>> calls_;  // never empty
};

}  // namespace drgpum
