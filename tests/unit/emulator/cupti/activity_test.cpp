// SPDX-License-Identifier: Apache-2.0
// What happens on the machine comes out of the tool's buffers as records, in order and complete.
#include "emulator/cupti/activity.h"

#include <deque>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/emulator/sanitizer/fake_machine.h"

namespace drgpum::emulator::cupti {
namespace {

using testing::handle;

class ClockMachine final : public testing::FakeMachine {
 public:
  std::uint64_t now_ns() override { return time += 10; }
  std::uint64_t time = 1000;
};

// The tool: buffers of a chosen size, and the records it was given, as text.
std::size_t buffer_bytes = 0;
std::size_t buffers_given = 0;
std::string records;

void describe(std::ostream& out, const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& r = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      out << "kernel " << r.name << " [" << r.start << ", " << r.end << ") grid " << r.gridX
          << " block " << r.blockX << " id " << r.gridId << " context " << r.contextId << " stream "
          << r.streamId << " call " << r.correlationId << " device " << r.deviceId;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& r = *reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      out << "copy " << unsigned{r.copyKind} << " bytes " << r.bytes << " [" << r.start << ", "
          << r.end << ") call " << r.correlationId;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& r = *reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      out << "set bytes " << r.bytes << " [" << r.start << ", " << r.end << ')';
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMORY2: {
      const auto& r = *reinterpret_cast<const CUpti_ActivityMemory4*>(record);
      out << "memory operation " << r.memoryOperationType << " kind " << r.memoryKind << " at "
          << r.address << '+' << r.bytes << " async " << r.isAsync;
      break;
    }
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
      const auto& r = *reinterpret_cast<const CUpti_ActivitySynchronization2*>(record);
      out << "wait " << r.type << " [" << r.start << ", " << r.end << ") context " << r.contextId;
      break;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto& r = *reinterpret_cast<const CUpti_ActivityAPI*>(record);
      out << "api " << r.kind << '.' << r.cbid << " [" << r.start << ", " << r.end << ") call "
          << r.correlationId << " = " << r.returnValue;
      break;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& r = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      out << "external " << r.externalId << " call " << r.correlationId;
      break;
    }
    default:
      out << "unknown";
  }
  out << '\n';
}

void give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  ++buffers_given;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
  *size = buffer_bytes;
  *most = 0;
}

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  std::ostringstream out;
  CUpti_Activity* record = nullptr;
  while (next_record(buffer, valid, &record) == CUPTI_SUCCESS)
    describe(out, record);
  records += out.str();
  std::free(buffer);
}

class Records : public ::testing::Test {
 protected:
  Records() {
    buffer_bytes = 1 << 16;
    buffers_given = 0;
    records.clear();
    activity_.queue().set_callbacks(give_buffer, take_buffer);
    for (const auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                            CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMORY2,
                            CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_RUNTIME,
                            CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION})
      EXPECT_EQ(activity_.enable(kind, true), CUPTI_SUCCESS);
  }

  std::string text() {
    EXPECT_EQ(activity_.queue().flush(), CUPTI_SUCCESS);
    return records;
  }

  ActivityEvent happened(ActivityEvent::Kind kind) {
    ActivityEvent event;
    event.kind = kind;
    event.begin_ns = 2000;
    event.end_ns = 3000;
    event.bytes = 64;
    event.context = handle(7);
    event.unique_stream = handle(55);
    event.name = "_Z3addPf";
    event.grid = {4, 1, 1};
    event.block = {128, 1, 1};
    event.grid_id = 17;
    return event;
  }

  void call(Site site, ApiDomain domain, std::uint32_t id) {
    static int result = 0;
    ApiCall api;
    api.site = site;
    api.domain = domain;
    api.id = id;
    api.function = "f";
    api.return_value = site == Site::kExit ? &result : nullptr;
    activity_.on_api(api);
  }

  ClockMachine machine_;
  Activity activity_{&machine_};
};

TEST_F(Records, AKernelBelongsToTheOutermostCall) {
  activity_.on_context({true, Phase::kFinished, handle(7), 3});
  call(Site::kEnter, ApiDomain::kRuntime, 211);
  call(Site::kEnter, ApiDomain::kDriver, 307);
  activity_.on_activity(happened(ActivityEvent::Kind::kKernel));
  call(Site::kExit, ApiDomain::kDriver, 307);
  call(Site::kExit, ApiDomain::kRuntime, 211);
  EXPECT_EQ(
      text(),
      "kernel _Z3addPf [2000, 3000) grid 4 block 128 id 17 context 1 stream 1 call 1 device 3\n"
      "api 4.307 [1020, 1030) call 2 = 0\n"
      "api 5.211 [1010, 1040) call 1 = 0\n");
}

TEST_F(Records, CopiesAndSetsTellBytesAndTimes) {
  ActivityEvent copy = happened(ActivityEvent::Kind::kMemcpy);
  for (const std::uint32_t direction : {1U, 2U, 3U, 4U}) {
    copy.detail = direction;
    activity_.on_activity(copy);
  }
  activity_.on_activity(happened(ActivityEvent::Kind::kMemset));
  EXPECT_EQ(text(),
            "copy 1 bytes 64 [2000, 3000) call 0\ncopy 2 bytes 64 [2000, 3000) call 0\n"
            "copy 9 bytes 64 [2000, 3000) call 0\ncopy 8 bytes 64 [2000, 3000) call 0\n"
            "set bytes 64 [2000, 3000)\n");
}

TEST_F(Records, MemoryIsTakenAndGivenBack) {
  MemoryEvent event;
  event.address = 4096;
  event.size = 256;
  event.kind = MemoryKind::kDeviceAlloc;
  activity_.on_memory(event);
  event.flags = kMemoryManaged;
  activity_.on_memory(event);
  event.flags = 0;
  event.kind = MemoryKind::kHostFree;
  activity_.on_memory(event);
  event.kind = MemoryKind::kAsyncFree;
  activity_.on_memory(event);
  EXPECT_EQ(text(),
            "memory operation 1 kind 3 at 4096+256 async 0\n"
            "memory operation 1 kind 5 at 4096+256 async 0\n"
            "memory operation 2 kind 2 at 4096+256 async 0\n"
            "memory operation 2 kind 3 at 4096+256 async 1\n");
}

TEST_F(Records, AWaitLastsAsLongAsItsCall) {
  call(Site::kEnter, ApiDomain::kRuntime, 165);
  activity_.on_synchronize({handle(7), nullptr, nullptr, true});
  EXPECT_EQ(text(), "wait 4 [1010, 1020) context 1\n");
  call(Site::kExit, ApiDomain::kRuntime, 165);
}

TEST_F(Records, ExternalNumbersAreTiedToCalls) {
  activity_.push_correlation(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 42);
  call(Site::kEnter, ApiDomain::kRuntime, 20);
  call(Site::kExit, ApiDomain::kRuntime, 20);
  std::uint64_t last = 0;
  EXPECT_EQ(activity_.pop_correlation(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last),
            CUPTI_SUCCESS);
  EXPECT_EQ(last, 42U);
  EXPECT_EQ(activity_.pop_correlation(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last),
            CUPTI_ERROR_QUEUE_EMPTY);
  EXPECT_EQ(text(), "external 42 call 1\napi 5.20 [1010, 1020) call 1 = 0\n");
}

TEST_F(Records, FillAsManyBuffersAsTheyNeed) {
  buffer_bytes = sizeof(CUpti_ActivityMemset4) * 2 + 8;
  for (int i = 0; i < 5; ++i)
    activity_.on_activity(happened(ActivityEvent::Kind::kMemset));
  EXPECT_EQ(text().size(), 5 * std::string("set bytes 64 [2000, 3000)\n").size());
  EXPECT_EQ(buffers_given, 3U);
}

TEST_F(Records, ABufferTooSmallForOneRecordIsAnError) {
  buffer_bytes = 8;
  activity_.on_activity(happened(ActivityEvent::Kind::kMemset));
  EXPECT_EQ(activity_.queue().flush(), CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
}

TEST_F(Records, OnlyEnabledKindsAreKept) {
  activity_.enable(CUPTI_ACTIVITY_KIND_MEMSET, false);
  activity_.on_activity(happened(ActivityEvent::Kind::kMemset));
  EXPECT_EQ(text(), "");
  EXPECT_EQ(activity_.enable(CUPTI_ACTIVITY_KIND_PCIE, true), CUPTI_ERROR_NOT_COMPATIBLE);
  EXPECT_EQ(activity_.enable(CUPTI_ACTIVITY_KIND_INVALID, true), CUPTI_ERROR_INVALID_KIND);
}

TEST_F(Records, ASubscriberHearsOfTheCallsItWants) {
  std::string heard;
  const CUpti_CallbackFunc listen = [](void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                       const void* data) {
    const auto& call = *static_cast<const CUpti_CallbackData*>(data);
    *static_cast<std::string*>(user) += std::to_string(domain) + '.' + std::to_string(id) +
                                        (call.callbackSite == CUPTI_API_ENTER ? " in " : " out ") +
                                        std::to_string(call.correlationId) + '\n';
  };
  ASSERT_EQ(activity_.subscribe(listen, &heard), CUPTI_SUCCESS);
  EXPECT_EQ(activity_.subscribe(listen, &heard), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  ASSERT_EQ(activity_.want(CUPTI_CB_DOMAIN_RUNTIME_API, 20, true), CUPTI_SUCCESS);
  call(Site::kEnter, ApiDomain::kRuntime, 20);
  call(Site::kEnter, ApiDomain::kDriver, 243);
  call(Site::kExit, ApiDomain::kDriver, 243);
  call(Site::kExit, ApiDomain::kRuntime, 20);
  EXPECT_EQ(heard, "2.20 in 1\n2.20 out 1\n");
  EXPECT_EQ(activity_.unsubscribe(), CUPTI_SUCCESS);
}

}  // namespace
}  // namespace drgpum::emulator::cupti
