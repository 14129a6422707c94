// SPDX-License-Identifier: Apache-2.0
#include "offline/import/read_nsight.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "offline/import/history_builder.h"
#include "offline/import/nsight_calls.h"
#include "offline/import/sqlite_table.h"

namespace drgpum {
namespace {

using nsight::Call;
using nsight::not_negative;
using nsight::whole_number;

constexpr const char* kEvents = "CUDA_GPU_MEMORY_USAGE_EVENTS";
constexpr std::int64_t kMostDevices = 0xffff;
constexpr int kTables = 6;  // those that may be long

enum class Kind : std::uint8_t { kPageable, kPinned, kDevice, kArray, kManaged, kGlobal, kUnknown };

struct MemoryRow {
  std::int64_t start = 0;
  std::int64_t process = 0;
  std::int64_t device = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  Kind kind = Kind::kDevice;
  bool frees = false;
  bool pooled = false;
  std::uint32_t name = 0;
  std::optional<std::int64_t> correlation;
  std::int64_t stream = 0;
};

BlockMemory memory_of(const MemoryRow& row) {
  if (row.pooled) return BlockMemory::kPool;
  if (row.kind == Kind::kManaged) return BlockMemory::kManaged;
  if (row.kind == Kind::kArray) return BlockMemory::kArray;
  return row.kind == Kind::kGlobal ? BlockMemory::kGlobal : BlockMemory::kDevice;
}

// "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"
std::optional<Kind> kind_named(std::string name) {
  for (char& c : name)
    c = c == ' ' || c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::pair<std::string_view, Kind> kEndings[] = {
      {"STATIC", Kind::kGlobal},  {"PAGEABLE", Kind::kPageable}, {"PINNED", Kind::kPinned},
      {"DEVICE", Kind::kDevice},  {"ARRAY", Kind::kArray},       {"MANAGED", Kind::kManaged},
      {"UNKNOWN", Kind::kUnknown}};
  for (const auto& [ending, kind] : kEndings)
    if (name.ends_with(ending)) return kind;
  return std::nullopt;
}

std::optional<WorkKind> copy_kind(std::int64_t kind) {
  switch (kind) {
    case 1:  // host to device
    case 3:  // host to array
      return WorkKind::kCopyToDevice;
    case 2:  // device to host
    case 4:  // array to host
      return WorkKind::kCopyToHost;
    case 5:
    case 6:
    case 7:
    case 8:
    case 10:  // between devices
      return WorkKind::kCopyOnDevice;
    default:  // between places of the host; pages that migrate by themselves
      return std::nullopt;
  }
}

class NsightReader {
 public:
  NsightReader(const SqliteReader& file, const ReadProgress& progress, std::uint64_t bytes)
      : file_(file), progress_(progress), bytes_(bytes), calls_(out_) {}

  Result<AllocatorHistory> run() {
    if (!file_.has(kEvents)) return missing();
    out_.history.tick_ns = 1;
    out_.history.tells_segments = false;
    RETURN_IF_ERROR(calls_.load(file_));
    told();
    RETURN_IF_ERROR(session());
    RETURN_IF_ERROR(kinds());
    RETURN_IF_ERROR(memory());
    told();
    number_devices();
    RETURN_IF_ERROR(gpus());
    blocks();
    RETURN_IF_ERROR(kernels());
    told();
    RETURN_IF_ERROR(copies());
    told();
    RETURN_IF_ERROR(sets());
    told();
    RETURN_IF_ERROR(ranges());
    return std::move(out_).finish();
  }

 private:
  Error missing() const {
    const bool nsight = file_.has("StringIds") || file_.has("TARGET_INFO_GPU");
    return {ErrorCode::kUnsupported,
            nsight ? std::string("has no table ") + kEvents +
                         ": profile with nsys profile --cuda-memory-usage=true"
                   : std::string("is no profile of Nsight Systems: it has no table ") + kEvents};
  }
  void told() {
    if (progress_) progress_(bytes_ / kTables * static_cast<unsigned>(std::min(++told_, kTables)), bytes_);
  }

  Status session() {
    ASSIGN_OR_RETURN(SqliteTableRows rows, file_.read("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}));
    ASSIGN_OR_RETURN(const bool any, rows.next());
    out_.history.epoch_ns = any ? rows.integer(0) : std::nullopt;
    return Ok{};
  }

  // Numbers of kinds changed once; the file says what its own mean.
  Status kinds() {
    for (int k = 0; k <= static_cast<int>(Kind::kUnknown); ++k)
      kinds_[k] = static_cast<Kind>(k);
    kinds_[6] = Kind::kGlobal;  // managed variables
    kinds_[7] = Kind::kUnknown;
    ASSIGN_OR_RETURN(SqliteTableRows rows, file_.read("ENUM_CUDA_MEM_KIND", {"id", "name", "label"}));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.next());
      if (!more) return Ok{};
      const auto id = rows.integer(0);
      auto kind = kind_named(std::string(rows.text(1)));
      if (!kind) kind = kind_named(std::string(rows.text(2)));
      if (id && kind) kinds_[*id] = *kind;
    }
  }

  Status memory() {
    static const std::vector<std::string> kColumns{
        "start",  "address", "bytes",         "memoryOperationType", "globalPid", "deviceId",
        "memKind", "name",   "correlationId", "streamId",            "localMemoryPoolAddress"};
    ASSIGN_OR_RETURN(SqliteTableRows rows, file_.read(kEvents, kColumns));
    for (std::size_t c = 0; c < 4; ++c)
      if (!rows.has(c))
        return Error{ErrorCode::kUnsupported,
                     std::string("table ") + kEvents + " has no column '" + kColumns[c] + "'"};
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.next());
      if (!more) break;
      RETURN_IF_ERROR(take(rows));
    }
    std::stable_sort(memory_.begin(), memory_.end(),
                     [](const MemoryRow& a, const MemoryRow& b) { return a.start < b.start; });
    return Ok{};
  }

  Status take(const SqliteTableRows& row) {
    MemoryRow one;
    ASSIGN_OR_RETURN(one.start, whole_number(row, 0, "start"));
    ASSIGN_OR_RETURN(const std::int64_t address, whole_number(row, 1, "address"));
    ASSIGN_OR_RETURN(const std::int64_t bytes, not_negative(row, 2, "bytes"));
    ASSIGN_OR_RETURN(const std::int64_t operation, whole_number(row, 3, "memoryOperationType"));
    one.address = static_cast<std::uint64_t>(address);  // above 2^63 it is stored as negative
    one.bytes = static_cast<std::uint64_t>(bytes);
    if (one.bytes > UINT64_MAX - one.address)
      return bad_value(row.where(), "bytes", std::to_string(bytes), "it leaves the address space");
    one.frees = operation == 1;
    one.process = row.integer(4).value_or(0);
    one.device = row.integer(5).value_or(0);
    const auto kind = row.has(6) ? kinds_.find(row.integer(6).value_or(-1)) : kinds_.find(2);
    one.kind = kind == kinds_.end() ? Kind::kUnknown : kind->second;
    one.name = row.text(7).empty() ? 0 : out_.text(row.text(7));
    one.correlation = row.integer(8);
    one.stream = row.integer(9).value_or(0);
    one.pooled = one.kind == Kind::kDevice && row.integer(10).value_or(0) != 0;
    if (operation != 0 && operation != 1)
      out_.fault(FaultKind::kBadField, "memory events of a kind that is not known, left out");
    else if (one.device < -1 || one.device > kMostDevices)
      return bad_value(row.where(), "deviceId", std::to_string(one.device), "no device has it");
    else if (one.kind != Kind::kPageable && (one.bytes > 0 || one.frees))
      memory_.push_back(one);
    return Ok{};
  }

  // --- devices ---

  void number_devices() {
    std::set<std::int64_t> processes;
    for (const MemoryRow& row : memory_)
      processes.insert(row.process);
    several_ = processes.size() > 1;
    if (!processes.empty()) first_process_ = *processes.begin();
    for (const MemoryRow& row : memory_)
      device_of(row.process, row.device);
  }
  std::uint32_t device_of(std::int64_t process, std::int64_t device) {
    device = std::clamp<std::int64_t>(device, 0, kMostDevices);
    if (!several_) return static_cast<std::uint32_t>(device);
    const auto [at, fresh] = device_of_.try_emplace(std::pair(process, device),
                                                    static_cast<std::uint32_t>(device_of_.size()));
    return std::min(at->second, static_cast<std::uint32_t>(kMostDevices));
  }

  struct Gpu {
    std::string name;
    std::int64_t memory = 0;
    std::int64_t major = 0;
    std::int64_t minor = 0;
  };

  Status gpus() {
    ASSIGN_OR_RETURN(SqliteTableRows rows,
                     file_.read("TARGET_INFO_GPU", {"id", "cuDevice", "name", "totalMemory",
                                                    "computeMajor", "computeMinor"}));
    std::map<std::int64_t, Gpu> gpus;
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.next());
      if (!more) break;
      const auto id = rows.integer(1) ? rows.integer(1) : rows.integer(0);
      if (id)
        gpus[*id] = {std::string(rows.text(2)), rows.integer(3).value_or(0),
                     rows.integer(4).value_or(0), rows.integer(5).value_or(0)};
    }
    if (several_) {
      for (const auto& [key, number] : device_of_)
        describe(number, gpus[key.second],
                 "device " + std::to_string(key.second) + " of process " +
                     std::to_string(key.first >> 24 & nsight::kThreadMask));
    } else {
      for (const auto& [id, gpu] : gpus)
        if (id >= 0 && id <= kMostDevices) describe(static_cast<std::uint32_t>(id), gpu, "");
    }
    return Ok{};
  }
  void describe(std::uint32_t number, const Gpu& gpu, const std::string& whose) {
    const std::string name = gpu.name.empty() || whose.empty() ? gpu.name + whose
                                                               : gpu.name + ", " + whose;
    const auto small = [](std::int64_t value) {
      return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, 0xffff));
    };
    out_.history.devices.push_back(
        {number, name.empty() ? "device " + std::to_string(number) : name,
         static_cast<std::uint64_t>(std::max<std::int64_t>(gpu.memory, 0)), small(gpu.major),
         small(gpu.minor)});
  }

  // --- memory ---

  // A free may tell less of the memory than its allocation did, so that decides.
  void blocks() {
    std::map<std::pair<std::uint32_t, bool>, std::vector<AllocatorEvent>> parts;
    std::map<std::pair<std::int64_t, std::uint64_t>, MemoryRow> live;
    for (const MemoryRow& row : memory_) {
      const auto known = live.find({row.process, row.address});
      const MemoryRow& about = row.frees && known != live.end() ? known->second : row;
      parts[{device_of(about.process, about.device), about.kind == Kind::kPinned}].push_back(
          event_of(row, about));
      if (!row.frees)
        live.insert_or_assign({row.process, row.address}, row);
      else if (known != live.end())
        live.erase(known);
    }
    for (auto& [key, events] : parts)
      out_.add_part(key.first, key.second, std::move(events));
  }
  AllocatorEvent event_of(const MemoryRow& row, const MemoryRow& about) {
    const Call* call = calls_.find(row.process, row.correlation);
    AllocatorEvent event;
    event.address = row.address;
    event.size = about.bytes;
    event.tick = row.start;
    event.stack = calls_.stack(call);
    event.note = out_.note(row.frees ? 0 : row.name, call == nullptr ? 0 : call->name);
    event.stream = out_.stream(static_cast<std::uint64_t>(row.stream));
    event.memory = memory_of(about);
    event.action = row.frees ? AllocatorAction::kFreeCompleted : AllocatorAction::kAlloc;
    return event;
  }

  // --- work ---

  // The columns that all three tables begin with.
  Status take_work(const SqliteTableRows& row, HistoryWork& work) {
    ASSIGN_OR_RETURN(work.begin, whole_number(row, 0, "start"));
    ASSIGN_OR_RETURN(work.end, whole_number(row, 1, "end"));
    const std::int64_t process = row.has(2) ? row.integer(2).value_or(0) : first_process_;
    work.device = device_of(process, row.integer(3).value_or(0));
    work.stream = out_.stream(static_cast<std::uint64_t>(row.integer(4).value_or(0)));
    const Call* call = calls_.find(process, row.integer(5));
    work.tick = call == nullptr ? work.begin : call->start;
    work.call = call == nullptr ? 0 : call->name;
    work.stack = calls_.stack(call);
    return Ok{};
  }
  static std::vector<std::string> work_columns(std::vector<std::string> more) {
    std::vector<std::string> columns{"start", "end", "globalPid", "deviceId", "streamId",
                                     "correlationId"};
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
  }

  Status kernels() {
    ASSIGN_OR_RETURN(SqliteTableRows rows,
                     file_.read("CUPTI_ACTIVITY_KIND_KERNEL",
                                work_columns({"demangledName", "shortName", "gridX", "gridY",
                                              "gridZ", "blockX", "blockY", "blockZ"})));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.next());
      if (!more) return Ok{};
      HistoryWork work;
      RETURN_IF_ERROR(take_work(rows, work));
      work.name = calls_.text(rows.integer(6));
      if (work.name == 0) work.name = calls_.text(rows.integer(7));
      for (std::size_t k = 0; k < 3; ++k) {
        work.grid.at(k) = static_cast<std::uint32_t>(rows.integer(8 + k).value_or(1));
        work.block.at(k) = static_cast<std::uint32_t>(rows.integer(11 + k).value_or(1));
      }
      out_.history.works.push_back(work);
    }
  }

  Status copies() {
    ASSIGN_OR_RETURN(SqliteTableRows rows, file_.read("CUPTI_ACTIVITY_KIND_MEMCPY",
                                                  work_columns({"bytes", "copyKind"})));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.next());
      if (!more) return Ok{};
      const auto kind = copy_kind(rows.integer(7).value_or(0));
      if (!kind) continue;
      HistoryWork work;
      work.kind = *kind;
      RETURN_IF_ERROR(take_work(rows, work));
      ASSIGN_OR_RETURN(const std::int64_t bytes, not_negative(rows, 6, "bytes"));
      work.bytes = static_cast<std::uint64_t>(bytes);
      out_.history.works.push_back(work);
    }
  }

  Status sets() {
    ASSIGN_OR_RETURN(SqliteTableRows rows,
                     file_.read("CUPTI_ACTIVITY_KIND_MEMSET", work_columns({"bytes"})));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.next());
      if (!more) return Ok{};
      HistoryWork work;
      work.kind = WorkKind::kSet;
      RETURN_IF_ERROR(take_work(rows, work));
      ASSIGN_OR_RETURN(const std::int64_t bytes, not_negative(rows, 6, "bytes"));
      work.bytes = static_cast<std::uint64_t>(bytes);
      out_.history.works.push_back(work);
    }
  }

  // Event types 59 and 60 are ranges; 34 is a mark.
  Status ranges() {
    ASSIGN_OR_RETURN(SqliteTableRows rows,
                     file_.read("NVTX_EVENTS",
                                {"start", "end", "eventType", "text", "textId", "globalTid"}));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.next());
      if (!more) return Ok{};
      const auto type = rows.integer(2).value_or(0);
      const auto start = rows.integer(0);
      const std::uint32_t name = rows.text(3).empty() ? calls_.text(rows.integer(4))
                                                      : out_.text(rows.text(3));
      if (!start || name == 0 || (type != 59 && type != 60 && type != 34)) continue;
      const std::uint32_t device = device_of(nsight::process_of(rows.integer(5).value_or(0)), 0);
      const auto add = [&](std::int64_t tick, AllocatorAction action) {
        out_.history.annotations.push_back({tick, name, device, action});
      };
      if (type == 34) {
        add(*start, AllocatorAction::kInstant);
        continue;
      }
      add(*start, AllocatorAction::kRangeBegin);
      if (rows.integer(1)) add(*rows.integer(1), AllocatorAction::kRangeEnd);
    }
  }

  const SqliteReader& file_;
  const ReadProgress& progress_;
  const std::uint64_t bytes_;
  int told_ = 0;
  HistoryBuilder out_{"profile of Nsight Systems"};
  nsight::Calls calls_;
  std::map<std::int64_t, Kind> kinds_;
  std::vector<MemoryRow> memory_;
  bool several_ = false;
  std::int64_t first_process_ = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> device_of_;
};

}  // namespace

Result<AllocatorHistory> read_nsight(const std::string& path, const ReadProgress& progress) {
  ASSIGN_OR_RETURN(const SqliteReader file, SqliteReader::open(path));
  Result<AllocatorHistory> history = NsightReader(file, progress, file.bytes()).run();
  if (!history) return std::move(history).error().while_doing(path);
  return history;
}

}  // namespace drgpum
