// SPDX-License-Identifier: Apache-2.0
// Which callbacks exist, and which are wanted.
#include "emulator/sanitizer/callback_gate.h"

namespace drgpum::emulator::sanitizer {
namespace {

// Highest id of each domain of the library of CUDA 13.0; ids are 1 to it without gaps.
constexpr std::array<std::uint32_t, 13> kHighestId{0, 806, 522, 28, 2, 3, 1, 1, 1, 1, 7, 5, 3};

}  // namespace

CallbackGate::CallbackGate() {
  wanted_.reserve(kHighestId.size());
  for (const std::uint32_t highest : kHighestId)
    wanted_.emplace_back(highest + 1);
}

Code CallbackGate::subscribe(Callback callback, void* user) {
  if (callback == nullptr) return Code::kInvalidParameter;
  if (has_subscriber()) return Code::kMaxLimitReached;
  callback_ = callback;
  user_ = user;
  return Code::kSuccess;
}

Code CallbackGate::unsubscribe() {
  if (!has_subscriber()) return Code::kInvalidParameter;
  set_all(false);
  callback_ = nullptr;
  return Code::kSuccess;
}

const std::atomic<bool>* CallbackGate::find(Domain domain, std::uint32_t id) const {
  const auto number = static_cast<std::size_t>(domain);
  if (number == 0 || number >= wanted_.size()) return nullptr;
  return id == 0 || id >= wanted_[number].size() ? nullptr : &wanted_[number][id];
}

Code CallbackGate::set(Domain domain, std::uint32_t id, bool wanted) {
  if (find(domain, id) == nullptr) return Code::kInvalidParameter;
  wanted_[static_cast<std::size_t>(domain)][id] = wanted;
  return Code::kSuccess;
}

Code CallbackGate::set_domain(Domain domain, bool wanted) {
  const auto number = static_cast<std::size_t>(domain);
  if (number == 0 || number >= wanted_.size()) return Code::kInvalidParameter;
  for (auto& flag : wanted_[number])
    flag = wanted;
  return Code::kSuccess;
}

void CallbackGate::set_all(bool wanted) {
  for (Flags& flags : wanted_)
    for (auto& flag : flags)
      flag = wanted;
}

Code CallbackGate::get(Domain domain, std::uint32_t id, std::uint32_t* wanted) const {
  const auto* flag = find(domain, id);
  if (flag == nullptr || wanted == nullptr) return Code::kInvalidParameter;
  *wanted = *flag ? 1 : 0;
  return Code::kSuccess;
}

void CallbackGate::fire(Domain domain, std::uint32_t id, const void* data) const {
  const auto* flag = find(domain, id);
  if (flag != nullptr && flag->load(std::memory_order_relaxed)) callback_(user_, domain, id, data);
}

}  // namespace drgpum::emulator::sanitizer
