// SPDX-License-Identifier: Apache-2.0
// compare_accesses TRACE LOG [--no-maps]: whether what a trace says of each launch's accesses is
// what the emulated device's access log says. Everything is worked out from the log by itself here;
// nothing is shared with the tool but the trace's reader. Prints the first differences; exits 0
// or 1.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "proto/trace/trace_reader.h"

namespace drgpum {
namespace {

using trace::ByteRange;

struct LaneAccess {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  bool reads = false, writes = false, atomic = false;
};

struct LoggedLaunch {
  std::string kernel;
  std::vector<LaneAccess> accesses;
};

// The tool reduces maps on the device with kernels of its own (gpu_analysis/pattern_kernels.cu), which
// no trace records and the device logs like any other.
bool is_tools(const std::string& kernel) {
  return kernel == "drgpum_sum_cells" || kernel == "drgpum_find_runs";
}

std::vector<LoggedLaunch> read_log(const std::string& path) {
  std::ifstream file(path);
  std::vector<LoggedLaunch> launches;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string first, word;
    words >> first;
    if (first == "launch") {
      std::string number;
      words >> number >> launches.emplace_back().kernel;
      continue;
    }
    LaneAccess access;
    access.address = std::stoull(first, nullptr, 16);
    words >> access.bytes >> word;
    access.reads = word.find('r') != std::string::npos;
    access.writes = word.find('w') != std::string::npos;
    access.atomic = word.find('a') != std::string::npos;
    launches.back().accesses.push_back(access);
  }
  std::erase_if(launches, [](const LoggedLaunch& launch) { return is_tools(launch.kernel); });
  return launches;
}

// Calls [born, gone) by number.
struct Object {
  std::uint32_t id = 0;
  std::uint64_t begin = 0, end = 0, born = 0, gone = ~std::uint64_t{0};
};

struct Recorded {
  std::map<std::uint32_t, Object> objects;
  std::vector<std::uint64_t> launches;
  using Key = std::pair<std::uint64_t, std::uint32_t>;  // call, object
  std::map<Key, trace::AccessRecord> accesses;
  std::map<Key, trace::AccessMapRecord> maps;
  std::uint64_t unknown = 0;
  std::vector<std::string> coverage;
};

template <typename T, typename Visit>
void with(const trace::Record& record, Visit visit) {
  if (const T* found = std::get_if<T>(&record)) visit(*found);
}

void take_api(const trace::GpuApi& api, Recorded& recorded) {
  if (api.kind == trace::ApiKind::kLaunch) recorded.launches.push_back(api.id.value);
  const auto* freed = std::get_if<trace::FreeApi>(&api.payload);
  if (freed == nullptr || freed->object == trace::kNoObject || freed->error != 0) return;
  recorded.objects[freed->object.value].gone = api.id.value;
}

bool read_trace(const std::string& path, Recorded& recorded) {
  auto reader = trace::TraceReader::open(path);
  if (!reader) {
    std::printf("%s: %s\n", path.c_str(), reader.error().message.c_str());
    return false;
  }
  trace::Record record;
  while (reader->next(record)) {
    with<trace::ObjectRecord>(record, [&](const auto& o) {
      Object& object = recorded.objects[o.id.value];
      object.id = o.id.value;
      object.begin = o.address;
      object.end = o.address + o.size;
      object.born = o.allocated_by.value;
    });
    with<trace::GpuApi>(record, [&](const auto& api) { take_api(api, recorded); });
    with<trace::AccessRecord>(record, [&](const auto& access) {
      recorded.accesses[{access.api.value, access.object.value}] = access;
    });
    with<trace::AccessMapRecord>(
        record, [&](const auto& map) { recorded.maps[{map.api.value, map.object.value}] = map; });
    with<trace::CoverageRecord>(record,
                                [&](const auto& c) { recorded.coverage.push_back(c.text); });
  }
  std::sort(recorded.launches.begin(), recorded.launches.end());
  return reader->summary().completeness == trace::Completeness::kComplete;
}

class Comparison {
 public:
  Comparison(const Recorded& recorded, bool with_maps)
      : recorded_(recorded), with_maps_(with_maps) {}

  void launch(std::uint64_t call, const LoggedLaunch& logged) {
    std::map<std::uint32_t, std::vector<LaneAccess>> by_object;
    for (LaneAccess access : logged.accesses) {
      const Object* object = object_at(call, access.address);
      if (object == nullptr) {
        differ(call, 0, "the log has an access to memory of no object");
        continue;
      }
      access.address -= object->begin;
      by_object[object->id].push_back(access);
    }
    for (const auto& [id, accesses] : by_object) {
      compare_access(call, id, accesses);
      if (with_maps_) compare_map(call, recorded_.objects.at(id), accesses);
    }
    for (const auto& [key, record] : recorded_.accesses)
      if (key.first == call && by_object.count(key.second) == 0)
        differ(call, key.second, "recorded, but the log has no access");
  }

  void differ(std::uint64_t call, std::uint32_t object, const std::string& what) {
    if (++differences_ <= 10)
      std::printf("call %llu, object %u: %s\n", static_cast<unsigned long long>(call), object,
                  what.c_str());
  }
  [[nodiscard]] std::uint64_t differences() const { return differences_; }
  [[nodiscard]] std::uint64_t compared() const { return compared_; }

 private:
  const Object* object_at(std::uint64_t call, std::uint64_t address) const {
    for (const auto& [id, object] : recorded_.objects)
      if (object.born < call && call < object.gone && address >= object.begin &&
          address < object.end)
        return &object;
    return nullptr;
  }

  template <typename T>
  void expect(std::uint64_t call, std::uint32_t object, const char* what, const T& found,
              const T& wanted) {
    ++compared_;
    if (found == wanted) return;
    std::ostringstream text;
    text << what << ": recorded " << found << ", by the log " << wanted;
    differ(call, object, text.str());
  }

  void compare_access(std::uint64_t call, std::uint32_t id,
                      const std::vector<LaneAccess>& accesses) {
    trace::AccessRecord wanted;
    wanted.min_access_bytes = ~0u;
    for (const LaneAccess& access : accesses) {
      wanted.reads |= access.reads;
      wanted.writes |= access.writes;
      wanted.atomics |= access.atomic;
      wanted.min_access_bytes = std::min(wanted.min_access_bytes, access.bytes);
      wanted.max_access_bytes = std::max(wanted.max_access_bytes, access.bytes);
    }
    const auto found = recorded_.accesses.find({call, id});
    if (found == recorded_.accesses.end()) return differ(call, id, "accessed, but not recorded");
    expect(call, id, "reads", found->second.reads, wanted.reads);
    expect(call, id, "writes", found->second.writes, wanted.writes);
    expect(call, id, "atomics", found->second.atomics, wanted.atomics);
    expect(call, id, "narrowest", found->second.min_access_bytes, wanted.min_access_bytes);
    expect(call, id, "widest", found->second.max_access_bytes, wanted.max_access_bytes);
  }

  static std::string text_of(const std::vector<ByteRange>& ranges) {
    std::ostringstream out;
    for (const ByteRange& range : ranges)
      out << '[' << range.begin << ',' << range.end << ')';
    return out.str();
  }

  static std::vector<ByteRange> ranges_of(const std::set<std::uint64_t>& cells,
                                          std::uint64_t cell_bytes, std::uint64_t size) {
    std::vector<ByteRange> ranges;
    for (const std::uint64_t cell : cells) {
      const std::uint64_t end = std::min((cell + 1) * cell_bytes, size);
      if (!ranges.empty() && ranges.back().end == cell * cell_bytes)
        ranges.back().end = end;
      else
        ranges.push_back({cell * cell_bytes, end});
    }
    return ranges;
  }

  void compare_map(std::uint64_t call, const Object& object,
                   const std::vector<LaneAccess>& accesses) {
    const auto found = recorded_.maps.find({call, object.id});
    if (found == recorded_.maps.end()) return differ(call, object.id, "there is no map");
    const trace::AccessMapRecord& map = found->second;
    const std::uint64_t cell_bytes = map.cell_bytes, size = object.end - object.begin;
    std::set<std::uint64_t> read, written;
    std::map<std::uint64_t, std::uint64_t> counts;
    for (const LaneAccess& access : accesses) {
      const std::uint64_t end = std::min(access.address + access.bytes, size);
      for (std::uint64_t c = access.address / cell_bytes; c <= (end - 1) / cell_bytes; ++c) {
        if (access.reads) read.insert(c);
        if (access.writes) written.insert(c);
        ++counts[c];
      }
    }
    expect(call, object.id, "read", text_of(map.read_ranges),
           text_of(ranges_of(read, cell_bytes, size)));
    expect(call, object.id, "written", text_of(map.written_ranges),
           text_of(ranges_of(written, cell_bytes, size)));
    compare_counts(call, object.id, map, counts);
  }

  void compare_counts(std::uint64_t call, std::uint32_t id, const trace::AccessMapRecord& map,
                      const std::map<std::uint64_t, std::uint64_t>& counts) {
    std::vector<std::uint64_t> histogram;
    double sum = 0;
    for (const auto& [cell, count] : counts) {
      sum += static_cast<double>(count);
      const auto bin = static_cast<std::size_t>(std::bit_width(count) - 1);
      if (histogram.size() <= bin) histogram.resize(bin + 1);
      ++histogram[bin];
    }
    const double mean = sum / static_cast<double>(counts.size());
    double variance = 0;
    for (const auto& [cell, count] : counts)
      variance += (static_cast<double>(count) - mean) * (static_cast<double>(count) - mean);
    variance /= static_cast<double>(counts.size());
    expect(call, id, "accessed cells", map.counted_cells, std::uint64_t{counts.size()});
    const auto near = [](double a, double b) {
      return std::fabs(a - b) <= 1e-9 * (1 + std::fabs(b));
    };
    expect(call, id, "mean", near(map.count_mean, mean) ? mean : map.count_mean, mean);
    expect(call, id, "variance", near(map.count_variance, variance) ? variance : map.count_variance,
           variance);
    expect(call, id, "histogram's bins", map.count_histogram.size(), histogram.size());
    for (std::size_t i = 0; i < std::min(histogram.size(), map.count_histogram.size()); ++i)
      expect(call, id, "histogram", map.count_histogram[i], histogram[i]);
  }

  const Recorded& recorded_;
  bool with_maps_;
  std::uint64_t differences_ = 0;
  std::uint64_t compared_ = 0;
};

int compare(const std::string& trace, const std::string& log, bool with_maps) {
  Recorded recorded;
  if (!read_trace(trace, recorded)) {
    std::printf("%s is not whole\n", trace.c_str());
    return 1;
  }
  const std::vector<LoggedLaunch> launches = read_log(log);
  Comparison comparison(recorded, with_maps);
  for (const std::string& text : recorded.coverage)
    comparison.differ(0, 0, "coverage: " + text);
  if (launches.size() != recorded.launches.size() || launches.empty()) {
    std::printf("%zu launches recorded, %zu in the log\n", recorded.launches.size(),
                launches.size());
    return 1;
  }
  std::uint64_t lanes = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    lanes += launches[i].accesses.size();
    comparison.launch(recorded.launches[i], launches[i]);
  }
  std::printf("%zu launches, %llu lane accesses, %llu facts compared, %llu differences\n",
              launches.size(), static_cast<unsigned long long>(lanes),
              static_cast<unsigned long long>(comparison.compared()),
              static_cast<unsigned long long>(comparison.differences()));
  return comparison.differences() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace drgpum

int main(int argc, char** argv) {
  const bool with_maps = argc == 3;
  if (argc != 3 && !(argc == 4 && std::string(argv[3]) == "--no-maps")) {
    std::fputs("usage: compare_accesses TRACE LOG [--no-maps]\n", stderr);
    return 2;
  }
  return drgpum::compare(argv[1], argv[2], with_maps);
}
