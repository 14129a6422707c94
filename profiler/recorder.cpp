// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder.h"

namespace drgpum::profiler {

ApiId Recorder::issue(trace::GpuApi api) {
  if (!kept_.empty() && kept_.back().thread != api.thread) {
    complete(kept_.back().thread, api.host_begin_ns);
  }
  api.id = ApiId{next_api_++};
  kept_.push_back(std::move(api));
  return kept_.back().id;
}

trace::GpuApi* Recorder::kept(ApiId id) {
  const std::uint64_t first = next_api_ - kept_.size();
  return id.value < first || id.value >= next_api_ ? nullptr : &kept_[id.value - first];
}

void Recorder::complete(ThreadId thread, std::uint64_t end_ns) {
  if (kept_.empty() || kept_.back().thread != thread) return;
  for (trace::GpuApi& api : kept_)
    api.host_end_ns = end_ns;
  write_kept();
}

void Recorder::retract(ApiId id) {
  if (kept_.empty() || kept_.back().id != id) return;
  kept_.pop_back();
  --next_api_;
}

void Recorder::write_kept() {
  for (trace::GpuApi& api : kept_) {
    if (api.host_end_ns < api.host_begin_ns) api.host_end_ns = api.host_begin_ns;
    write(api);
  }
  kept_.clear();
}

void Recorder::finish() {
  write_kept();
  if (writer_ != nullptr) writer_->finish();
  writer_.reset();
}

void Recorder::abandon() {
  if (writer_ != nullptr) writer_->abandon();
  abandoned_ = writer_.release();  // its memory is the parent's as well
}

}  // namespace drgpum::profiler
