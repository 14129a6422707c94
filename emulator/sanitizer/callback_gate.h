// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one subscriber, which callbacks it wants, and the call to it.

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "proto/sanitizer/abi.h"

namespace drgpum::emulator::sanitizer {

using drgpum::sanitizer::Callback;
using drgpum::sanitizer::Code;
using drgpum::sanitizer::Domain;

// Thread-safe, but for subscribe and unsubscribe against everything else.
class CallbackGate {
 public:
  CallbackGate();

  // kMaxLimitReached while there is a subscriber.
  Code subscribe(Callback callback, void* user);
  Code unsubscribe();
  [[nodiscard]] bool has_subscriber() const { return callback_ != nullptr; }

  Code set(Domain domain, std::uint32_t id, bool wanted);
  Code set_domain(Domain domain, bool wanted);
  void set_all(bool wanted);
  // kInvalidParameter for ids that do not exist.
  Code get(Domain domain, std::uint32_t id, std::uint32_t* wanted) const;

  // Calls the subscriber if it wants this callback. `data` lives for the call.
  void fire(Domain domain, std::uint32_t id, const void* data) const;

 private:
  using Flags = std::vector<std::atomic<bool>>;

  [[nodiscard]] const std::atomic<bool>* find(Domain domain, std::uint32_t id) const;

  Callback callback_ = nullptr;
  void* user_ = nullptr;
  std::vector<Flags> wanted_;  // by domain and id
};

}  // namespace drgpum::emulator::sanitizer
