// SPDX-License-Identifier: Apache-2.0
#pragma once
// Turns what the machine tells into activity records and API callbacks, with virtual times.

#include <array>
#include <atomic>

#include <cupti.h>

#include "emulator/cupti/numbering.h"
#include "emulator/cupti/record_queue.h"
#include "emulator/machine/observer.h"

namespace drgpum::emulator::cupti {

// What tools subscribe to besides records.
struct Subscription {
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
};

class Activity final : public Observer {
 public:
  explicit Activity(Machine* machine) : machine_(machine) {}

  // CUPTI_ERROR_INVALID_KIND for numbers that are no kinds, CUPTI_ERROR_NOT_COMPATIBLE for kinds
  // of which this device has no records.
  CUptiResult enable(CUpti_ActivityKind kind, bool wanted);
  [[nodiscard]] bool is_enabled(CUpti_ActivityKind kind) const;
  RecordQueue& queue() { return queue_; }
  Numbering& numbering() { return numbering_; }
  [[nodiscard]] std::uint64_t now() const { return machine_ == nullptr ? 0 : machine_->now_ns(); }

  CUptiResult subscribe(CUpti_CallbackFunc callback, void* user);
  CUptiResult unsubscribe();
  [[nodiscard]] bool has_subscriber() const { return subscription_.callback != nullptr; }
  CUptiResult want(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool wanted);
  CUptiResult want(CUpti_CallbackDomain domain, bool wanted);
  CUptiResult is_wanted(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                        std::uint32_t* wanted) const;

  void push_correlation(CUpti_ExternalCorrelationKind kind, std::uint64_t id);
  CUptiResult pop_correlation(CUpti_ExternalCorrelationKind kind, std::uint64_t* id);

  void on_api(const ApiCall& call) override;
  void on_context(const ContextEvent& event) override;
  void on_stream(const StreamEvent& event) override;
  void on_memory(const MemoryEvent& event) override;
  void on_synchronize(const SynchronizeEvent& event) override;
  void on_event(const EventEvent& event) override;
  void on_launch(const LaunchEvent& event) override;
  void on_activity(const ActivityEvent& event) override;

 private:
  static constexpr std::size_t kDomains = 5;  // driver, runtime, resource, synchronise
  static constexpr std::size_t kIds = 1024;   // more than any domain has

  void fire(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) const;
  void fire_api(const ApiCall& call, std::uint32_t correlation);
  void record_api(const ApiCall& call, std::uint32_t correlation, std::uint64_t begin);
  void record_kernel(const ActivityEvent& event);
  void record_copy(const ActivityEvent& event);
  void record_set(const ActivityEvent& event);
  void record_wait(CUpti_ActivitySynchronizationType type, Handle context, Handle unique_stream);

  Machine* machine_;
  RecordQueue queue_;
  Numbering numbering_;
  std::array<std::atomic<bool>, CUPTI_ACTIVITY_KIND_COUNT> enabled_{};
  Subscription subscription_;
  std::array<std::array<std::atomic<bool>, kIds>, kDomains> wanted_{};
  std::atomic<std::uint32_t> next_correlation_{1};
};

}  // namespace drgpum::emulator::cupti
