// SPDX-License-Identifier: Apache-2.0
#include "offline/import/read_kineto.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "offline/import/chrome_events.h"
#include "offline/import/history_builder.h"
#include "offline/import/nested_slices.h"

namespace drgpum {
namespace {

constexpr std::int64_t kMostDevices = 0xffff;

// The totals that the allocator told after an event; -1: it told none.
struct Totals {
  std::int64_t allocated = -1;
  std::int64_t reserved = -1;
};

struct Row {
  AllocatorEvent event;
  Totals totals;
};

struct Thread {
  std::vector<OpenSlice> slices;
  std::vector<AskedMoment> moments;  // of rows: device << 40 | row; of works: kWork | work
};
constexpr std::uint64_t kWork = std::uint64_t{1} << 63;

std::string lower(std::string text) {
  for (char& c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// What one device's events say beside its blocks.
struct Balance {
  std::int64_t before = 0;   // allocated before the first event
  std::int64_t unnamed = 0;  // of that, what no free in the trace names
  std::int64_t missing = 0;  // how far the allocator's total goes beyond that of the events
  std::int64_t most_reserved = -1;
};

class BalanceFinder {
 public:
  Balance find(const std::vector<Row>& rows) {
    for (const Row& row : rows)
      take(row);
    balance_.unnamed = std::max<std::int64_t>(balance_.before - named_, 0);
    return balance_;
  }

 private:
  void take(const Row& row) {
    const bool frees = row.event.action == AllocatorAction::kFreeCompleted;
    const auto size = static_cast<std::int64_t>(row.event.size);
    running_ += frees ? -size : size;
    if (row.totals.allocated >= 0) compare(row.totals.allocated);
    balance_.most_reserved = std::max(balance_.most_reserved, row.totals.reserved);
    if (!frees) {
      live_.insert(row.event.address);
      seen_.insert(row.event.address);
    } else if (live_.erase(row.event.address) == 0 && seen_.insert(row.event.address).second) {
      named_ += size;
    }
  }
  void compare(std::int64_t total) {
    if (!known_) {
      known_ = true;
      balance_.before = std::max<std::int64_t>(total - running_, 0);
    }
    balance_.missing = std::max(balance_.missing, total - running_ - balance_.before);
  }

  Balance balance_;
  std::int64_t running_ = 0;
  std::int64_t named_ = 0;
  bool known_ = false;
  std::unordered_set<std::uint64_t> live_;
  std::unordered_set<std::uint64_t> seen_;
};

class KinetoReader {
 public:
  Result<AllocatorHistory> run(ByteStream bytes, const ReadProgress& progress) {
    out_.history.tick_ns = 1;
    out_.history.epoch_ns = std::nullopt;
    out_.history.tells_segments = false;
    const ChromeSink sink{[this](const ChromeEvent& event) { return take(event); },
                          [this](const ChromeDevice& device) { take(device); }};
    RETURN_IF_ERROR(read_chrome_events(bytes, sink, progress));
    if (rows_.empty()) return nothing();
    join_calls();
    find_stacks();
    for (auto& [device, rows] : rows_)
      add_device(device, rows);
    return std::move(out_).finish();
  }

 private:
  Error nothing() const {
    const std::string found =
        host_events_ == 0
            ? std::string("no [memory] events")
            : "only memory events of the host (" + std::to_string(host_events_) + ")";
    return {ErrorCode::kUnsupported, "has " + found +
                                         ": profile the device with "
                                         "torch.profiler.profile(profile_memory=True)"};
  }
  static std::string where(const ChromeEvent& event) {
    return "byte " + std::to_string(event.byte) + ": event " + std::to_string(event.number);
  }

  Status take(const ChromeEvent& event) {
    if (event.name == "[memory]" && event.phase != "X") return memory(event);
    if (event.phase != "X" || !event.begin_ns) return Ok{};
    const std::string category = lower(event.category);
    if (category == "kernel") return work(event, WorkKind::kLaunch);
    if (category == "gpu_memcpy" || category == "memcpy") return copy(event);
    if (category == "gpu_memset" || category == "memset") return work(event, WorkKind::kSet);
    if (category == "cuda_runtime" || category == "cuda_driver" || category == "runtime")
      call(event);
    if (category == "cpu_op" || category == "operator" || category == "python_function" ||
        category == "user_annotation")
      slice(event, category == "user_annotation");
    return Ok{};
  }
  void take(const ChromeDevice& device) {
    if (device.id < 0 || device.id > kMostDevices) return;
    const auto small = [](std::int64_t value) {
      return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, 0xffff));
    };
    const auto number = static_cast<std::uint32_t>(device.id);
    out_.history.devices.push_back(
        {number, device.name.empty() ? "device " + std::to_string(number) : device.name,
         static_cast<std::uint64_t>(std::max<std::int64_t>(device.memory_bytes, 0)),
         small(device.compute_major), small(device.compute_minor)});
  }

  // --- memory ---

  static Result<std::int64_t> whole(const ChromeEvent& event, ChromeArg which, const char* name) {
    const ChromeNumber& number = event.arg(which);
    if (!number.there)
      return Error{ErrorCode::kCorrupt, where(event) + ": a [memory] event without '" + name + "'"};
    if (number.whole && !number.beyond_signed) return number.value;
    return Error{ErrorCode::kCorrupt,
                 where(event) + ": '" + name + "' of a [memory] event is no whole number"};
  }
  static std::int64_t total_of(const ChromeNumber& number) {
    return number.there && number.whole && !number.beyond_signed ? number.value : -1;
  }

  Status memory(const ChromeEvent& event) {
    ASSIGN_OR_RETURN(const std::int64_t type, whole(event, ChromeArg::kDeviceType, "Device Type"));
    if (type == 0) {
      ++host_events_;
      return Ok{};
    }
    ASSIGN_OR_RETURN(const std::int64_t bytes, whole(event, ChromeArg::kBytes, "Bytes"));
    ASSIGN_OR_RETURN(const std::int64_t device, whole(event, ChromeArg::kDeviceId, "Device Id"));
    const ChromeNumber& address = event.arg(ChromeArg::kAddress);
    if (!address.there || !address.whole)
      RETURN_IF_ERROR(whole(event, ChromeArg::kAddress, "Addr"));
    if (!event.begin_ns)
      return Error{ErrorCode::kCorrupt, where(event) + ": a [memory] event whose 'ts' is no time"};
    if (device < 0 || device > kMostDevices)
      return bad_value(where(event), "Device Id", std::to_string(device), "no device has it");
    if (bytes == INT64_MIN)
      return bad_value(where(event), "Bytes", std::to_string(bytes), "no block is so large");
    if (bytes == 0) return Ok{};
    Row row;
    row.event.address = static_cast<std::uint64_t>(address.value);
    row.event.size = static_cast<std::uint64_t>(bytes < 0 ? -bytes : bytes);
    if (row.event.size > UINT64_MAX - row.event.address)
      return bad_value(where(event), "Bytes", std::to_string(bytes), "it leaves the address space");
    row.event.tick = *event.begin_ns;
    row.event.action = bytes < 0 ? AllocatorAction::kFreeCompleted : AllocatorAction::kAlloc;
    row.totals = {total_of(event.arg(ChromeArg::kTotalAllocated)),
                  total_of(event.arg(ChromeArg::kTotalReserved))};
    std::vector<Row>& rows = rows_[static_cast<std::uint32_t>(device)];
    thread_of(event).moments.push_back(
        {row.event.tick, static_cast<std::uint64_t>(device) << 40 | rows.size()});
    rows.push_back(row);
    return Ok{};
  }

  // --- work of the device, and what the host did ---

  Thread& thread_of(const ChromeEvent& event) {
    return threads_[event.process + '/' + event.thread];
  }

  Status copy(const ChromeEvent& event) {
    const std::string name = lower(event.name);
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (has("htod") || has("htoa")) return work(event, WorkKind::kCopyToDevice);
    if (has("dtoh") || has("atoh")) return work(event, WorkKind::kCopyToHost);
    if (has("htoh")) return Ok{};
    return work(event, WorkKind::kCopyOnDevice);
  }
  Status work(const ChromeEvent& event, WorkKind kind) {
    const auto number = [&](ChromeArg which) {
      const ChromeNumber& value = event.arg(which);
      return value.whole && !value.beyond_signed && value.value >= 0 ? value.value : 0;
    };
    HistoryWork work;
    work.kind = kind;
    work.tick = work.begin = *event.begin_ns;
    if (__builtin_add_overflow(work.begin, std::max<std::int64_t>(event.length_ns, 0), &work.end))
      work.end = work.begin;
    work.bytes = static_cast<std::uint64_t>(number(ChromeArg::kCopyBytes));
    work.name = out_.text(event.name);
    work.device =
        static_cast<std::uint32_t>(std::min(number(ChromeArg::kDevice), kMostDevices));
    work.stream = out_.stream(static_cast<std::uint64_t>(number(ChromeArg::kStream)));
    work.grid = event.grid;
    work.block = event.block;
    correlations_.push_back(number(ChromeArg::kCorrelation));
    out_.history.works.push_back(work);
    return Ok{};
  }

  struct Call {
    std::int64_t begin = 0;
    std::uint32_t name = 0;
    Thread* thread = nullptr;
  };
  void call(const ChromeEvent& event) {
    const ChromeNumber& correlation = event.arg(ChromeArg::kCorrelation);
    if (correlation.whole && correlation.value > 0)
      calls_[correlation.value] = {*event.begin_ns, out_.text(event.name), &thread_of(event)};
  }

  void slice(const ChromeEvent& event, bool annotates) {
    std::int64_t end = 0;
    if (event.length_ns < 0 || __builtin_add_overflow(*event.begin_ns, event.length_ns, &end))
      return;
    thread_of(event).slices.push_back({*event.begin_ns, end, frame_of(event.name)});
    if (!annotates) return;
    const std::uint32_t name = out_.text(event.name);
    out_.history.annotations.push_back({*event.begin_ns, name, 0, AllocatorAction::kRangeBegin});
    out_.history.annotations.push_back({end, name, 0, AllocatorAction::kRangeEnd});
  }

  // Functions of Python are called "file.py(12): function".
  std::uint32_t frame_of(const std::string& name) {
    const std::size_t close = name.find("): ");
    const std::size_t open = close == std::string::npos ? close : name.rfind('(', close);
    if (open == std::string::npos || open + 1 >= close || close - open > 10)
      return out_.frame(name, "", 0);
    std::uint32_t line = 0;
    for (std::size_t i = open + 1; i < close; ++i) {
      if (name[i] < '0' || name[i] > '9') return out_.frame(name, "", 0);
      line = 10 * line + static_cast<std::uint32_t>(name[i] - '0');
    }
    return out_.frame(name.substr(close + 3), name.substr(0, open), line);
  }

  // --- in the end ---

  void join_calls() {
    for (std::size_t i = 0; i < out_.history.works.size(); ++i) {
      HistoryWork& work = out_.history.works[i];
      const auto found = calls_.find(correlations_[i]);
      if (found == calls_.end()) continue;
      work.tick = found->second.begin;
      work.call = found->second.name;
      found->second.thread->moments.push_back({work.tick, kWork | i});
    }
  }
  void find_stacks() {
    for (auto& [name, thread] : threads_)
      find_frames(std::move(thread.slices), std::move(thread.moments),
                  [&](std::uint64_t asker, const std::vector<std::uint32_t>& frames) {
                    const std::uint32_t stack = out_.stack(frames);
                    if (asker & kWork)
                      out_.history.works[asker & ~kWork].stack = stack;
                    else
                      rows_[static_cast<std::uint32_t>(asker >> 40)][asker & 0xff'ffff'ffff]
                          .event.stack = stack;
                  });
  }

  void add_device(std::uint32_t device, std::vector<Row>& rows) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.event.tick < b.event.tick; });
    const Balance balance = BalanceFinder().find(rows);
    std::vector<AllocatorEvent> events;
    for (const Row& row : rows)
      events.push_back(row.event);
    out_.add_part(device, false, std::move(events));
    const std::string which = "device " + std::to_string(device) + ": ";
    if (balance.unnamed > 0) {
      out_.history.residents.push_back({static_cast<std::uint64_t>(balance.unnamed),
                                        out_.text("allocated before the trace begins"), 0, device});
      out_.fault(FaultKind::kHistoryCut,
                 which + std::to_string(balance.unnamed) +
                     " bytes were allocated before the trace begins and not freed in it; they "
                     "count as one object");
    }
    if (balance.missing > 0)
      out_.fault(FaultKind::kHistoryCut, which + "the allocator counted up to " +
                                             std::to_string(balance.missing) +
                                             " bytes more than the events of the trace tell");
    if (balance.most_reserved >= 0)
      out_.property("device" + std::to_string(device) + ".reserved_peak_bytes",
                    std::to_string(balance.most_reserved));
    out_.fault(FaultKind::kMissingSegments,
               which + "the trace tells of blocks, not of the allocator's segments: holes and "
                       "reserve are not known");
  }

  HistoryBuilder out_{"trace of torch.profiler"};
  std::uint64_t host_events_ = 0;
  std::map<std::uint32_t, std::vector<Row>> rows_;  // by device
  std::map<std::string, Thread> threads_;
  std::unordered_map<std::int64_t, Call> calls_;
  std::vector<std::int64_t> correlations_;  // of the history's works
};

}  // namespace

Result<AllocatorHistory> read_kineto(ByteStream bytes, const ReadProgress& progress) {
  return KinetoReader().run(std::move(bytes), progress);
}

}  // namespace drgpum
