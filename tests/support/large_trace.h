// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traces of any size, like a long training run: iterations over layers on several streams, with
// buffers that stay, buffers of one iteration, and work in between.

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "proto/trace/record.h"

namespace drgpum {

struct LargeTrace {
  std::uint64_t api_count = 100'000;
  std::uint32_t stream_count = 4;
  std::uint32_t seed = 1;
  std::uint32_t live = 200;  // objects at once
};

// Calls `emit` with each record; one object for every ten calls.
template <typename Emit>
class LargeTraceMaker {
 public:
  LargeTraceMaker(const LargeTrace& shape, Emit emit)
      : shape_(shape), emit_(std::move(emit)), random_(shape.seed) {}

  void run() {
    begin();
    while (next_api_ + 64 < shape_.api_count)
      layer();
    while (!live_.empty())
      free_oldest();
    while (next_api_ < shape_.api_count)
      synchronise();
    emit_(trace::Record(trace::EndRecord{ApiId{next_api_}, true, 0}));
  }

 private:
  static constexpr std::uint32_t kKernels = 16;
  static constexpr std::uint32_t kCallPaths = 64;

  void begin() {
    emit_(trace::Record(trace::DeviceRecord{DeviceId{0}, trace::DeviceKind::kEmulated, "generated",
                                            80ull << 30, 8, 0, ""}));
    emit_(trace::Record(trace::ContextRecord{ContextId{0}, DeviceId{0}}));
    for (std::uint32_t s = 0; s < shape_.stream_count; ++s)
      emit_(trace::Record(trace::StreamRecord{
          StreamId{s}, ContextId{0},
          s == 0 ? trace::StreamKind::kLegacyDefault : trace::StreamKind::kNonBlocking, ""}));
    emit_(trace::Record(trace::CubinRecord{CubinId{0}, ContextId{0}, 0, "", ""}));
    for (std::uint32_t k = 0; k < kKernels; ++k)
      emit_(trace::Record(
          trace::KernelRecord{KernelId{k}, CubinId{0}, "kernel" + std::to_string(k)}));
    for (std::uint32_t p = 1; p <= kCallPaths; ++p)
      emit_(trace::Record(trace::CallPathRecord{CallPathId{p}, {0x1000 + p, 0x2000 + p}}));
  }

  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  trace::GpuApi call(trace::ApiKind kind, StreamId stream, const char* name) {
    trace::GpuApi api;
    api.id = ApiId{next_api_++};
    api.kind = kind;
    api.stream = stream;
    api.name = name;
    api.call_path = CallPathId{1 + pick(kCallPaths)};
    api.host_begin_ns = next_api_ * 1000;
    api.host_end_ns = api.host_begin_ns + 500;
    return api;
  }
  StreamId some_stream() { return StreamId{pick(shape_.stream_count)}; }

  // Ten calls and one object: allocate, fill, compute on it and others, free an older one.
  void layer() {
    const ObjectId object = allocate();
    const StreamId stream = some_stream();
    upload(object, stream);
    for (int i = 0; i < 5; ++i)
      launch(stream, object);
    if (pick(8) == 0) {
      synchronise();
    } else {
      launch(stream, object);
    }
    if (live_.size() > shape_.live) free_oldest();
  }

  ObjectId allocate() {
    trace::ObjectRecord object;
    object.id = ObjectId{next_object_++};
    object.address = next_address_;
    object.size = 4096u << pick(8);
    object.allocated_by = ApiId{next_api_};
    next_address_ += object.size;
    emit_(trace::Record(object));
    trace::GpuApi api = call(trace::ApiKind::kAlloc, trace::kNoStream, "cudaMalloc");
    api.payload = trace::AllocApi{object.id, object.size, 0};
    emit_(trace::Record(api));
    live_.push_back({object.id, object.size});
    return object.id;
  }
  void upload(ObjectId object, StreamId stream) {
    trace::GpuApi api = call(trace::ApiKind::kMemcpy, stream, "cudaMemcpyAsync");
    trace::MemcpyApi copy;
    copy.direction = trace::CopyDirection::kHostToDevice;
    copy.source.is_host = true;
    copy.source.width = live_.back().second;
    copy.destination.object = object;
    copy.destination.width = live_.back().second;
    copy.async = true;
    api.payload = copy;
    emit_(trace::Record(api));
  }
  void launch(StreamId stream, ObjectId object) {
    trace::GpuApi api = call(trace::ApiKind::kLaunch, stream, "cudaLaunchKernel");
    trace::LaunchApi launch;
    launch.kernel = KernelId{pick(kKernels)};
    launch.instrumented = true;
    api.payload = launch;
    emit_(trace::Record(api));
    access(api.id, object, false);
    access(api.id, live_[pick(static_cast<std::uint32_t>(live_.size()))].first, true);
  }
  void access(ApiId api, ObjectId object, bool reads) {
    trace::AccessRecord access;
    access.api = api;
    access.object = object;
    access.reads = reads;
    access.writes = !reads;
    emit_(trace::Record(access));
  }
  void synchronise() {
    trace::GpuApi api =
        call(trace::ApiKind::kSynchronize, trace::kNoStream, "cudaDeviceSynchronize");
    api.blocks_host = true;
    api.payload = trace::SynchronizeApi{};
    emit_(trace::Record(api));
  }
  void free_oldest() {
    const std::size_t at = live_.size() > shape_.live ? pick(shape_.live / 2) : 0;
    trace::GpuApi api = call(trace::ApiKind::kFree, trace::kNoStream, "cudaFree");
    api.blocks_host = true;
    trace::FreeApi free;
    free.object = live_[at].first;
    api.payload = free;
    emit_(trace::Record(api));
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  LargeTrace shape_;
  Emit emit_;
  std::mt19937 random_;
  std::uint64_t next_api_ = 0;
  std::uint32_t next_object_ = 0;
  std::uint64_t next_address_ = 0x7f0000000000;
  std::vector<std::pair<ObjectId, std::uint64_t>> live_;
};

template <typename Emit>
void make_large_trace(const LargeTrace& shape, Emit emit) {
  LargeTraceMaker<Emit>(shape, std::move(emit)).run();
}

}  // namespace drgpum
