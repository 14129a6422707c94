// SPDX-License-Identifier: Apache-2.0
// Where in the kernels the objects are accessed: arming launches with a table of sites, and reading
// it back.

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <tuple>

#include "profiler/session.h"
#include "proto/device/mark_access.h"

namespace drgpum::profiler {
namespace {

using sanitizer::Code;

constexpr std::uint32_t kLeastSites = 64;
constexpr std::uint32_t kMostSites = 1 << 16;

// Room for the next launch of a kernel that used so many of its entries: half of it, so that a
// site is found at once; much more when some were lost.
std::uint32_t next_sites(std::uint32_t entries, std::uint32_t used, bool lost) {
  if (lost) return std::min(entries * 4, kMostSites);
  return std::clamp(std::bit_ceil(used * 2), kLeastSites, kMostSites);
}

std::uint64_t in_steps(std::uint64_t address) {
  return address / 16 * 16;
}

}  // namespace

// Kernels are loaded when they are first launched; what is called by them, no later.
void Session::locate_code(Lock& lock, KernelState& kernel, const sanitizer::LaunchData& data) {
  if (kernel.located || kernel.module == nullptr) return;
  DeviceModule& module = *kernel.module;
  const std::string own = data.function_name == nullptr ? "" : data.function_name;
  std::vector<std::string> names = module.code.unplaced();
  if (module.code.named(own) == nullptr && !own.empty()) names.push_back(own);
  struct Place {
    std::string name;
    std::uint64_t begin, size;
  };
  std::vector<Place> places;
  lock.unlock();
  for (const std::string& name : names) {
    std::uint64_t begin = 0, size = 0;
    if (api_.get_function_pc_and_size(data.module, name.c_str(), &begin, &size) == Code::kSuccess) {
      places.push_back({name, begin, size});
    }
  }
  lock.lock();
  if (kernel.located) return;  // by another thread meanwhile
  kernel.located = true;
  for (const Place& place : places)
    module.code.place(place.name, place.begin, place.size);
  module.code.sort();
  if (CodeFunction* function = module.code.named(own)) function->id = kernel.id;
}

// Sites count from the lowest code of the module, or from the kernel where that is too far away for
// what the objects leave of a key.
void Session::plan_sites(Lock& lock, LaunchInFlight& launch, KernelState& kernel,
                         const sanitizer::LaunchData& data) {
  locate_code(lock, kernel, data);
  if (kernel.module == nullptr) return;
  launch.module = kernel.module;
  launch.code_base = in_steps(kernel.module->code.first());
  if (launch.code_base == 0) return;  // nothing is known of its code
  launch.sites = kernel.sites;
  const CodeFunction* own =
      kernel.module->code.named(data.function_name == nullptr ? "" : data.function_name);
  const auto objects = static_cast<std::uint32_t>(launch.objects->ranges.size());
  const std::uint64_t reach = std::uint64_t{16} << (32 - device::site_shift(objects));
  if (own != nullptr && own->end > launch.code_base + reach) {
    launch.code_base = in_steps(own->begin);
  }
}

CodeFunction* Session::function_at(const Lock&, DeviceModule& module, std::uint64_t address) {
  CodeFunction* function = module.code.at(address);
  if (function != nullptr && !function->id) {
    function->id = KernelId{next_kernel_++};
    recorder_.write(trace::KernelRecord{*function->id, module.id, function->name});
  }
  return function;
}

void Session::write_sites(const Lock& lock, const LaunchInFlight& launch,
                          const unsigned char* bytes) {
  if (launch.sites == 0) return;
  device::LaunchSlot slot;
  std::memcpy(&slot, bytes, sizeof slot);
  const unsigned char* table =
      bytes + slot_layout(launch.objects->ids.size(), launch.sites, false).sites;
  // By object, function and offset.
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;
  std::map<Place, trace::AccessSiteRecord> found;
  std::uint64_t lost = slot.lost_sites;
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < launch.sites; ++i) {
    device::AccessSite site;
    std::memcpy(&site, table + i * sizeof site, sizeof site);
    if (site.key == 0) continue;
    ++used;
    const std::uint64_t address =
        launch.code_base + device::site_offset(site.key, slot.site_shift);
    const CodeFunction* function = function_at(lock, *launch.module, address);
    const auto offset = function == nullptr
                            ? std::nullopt
                            : CodeMap::offset_of(*function, address, options_.emulated);
    const std::uint32_t index = device::site_object(site.key, slot.site_shift);
    if (!offset || index >= launch.objects->ids.size()) {
      lost += site.lanes;
      continue;
    }
    const ObjectId object = launch.objects->ids[index];
    trace::AccessSiteRecord& record = found[{object.value, function->id->value, *offset}];
    record.api = launch.api;
    record.object = object;
    record.function = *function->id;
    record.offset = *offset;
    const std::uint32_t access = device::site_access(site.key);
    if ((access & device::kMarkRead) != 0) record.reads += site.lanes;
    if ((access & device::kMarkWrite) != 0) record.writes += site.lanes;
  }
  for (const auto& [place, record] : found)
    recorder_.write_after_kept(record);
  if (lost != 0) {
    cover(trace::CoverageKind::kLostSites, "accesses whose place in the kernel is not known",
          launch.api, lost);
  }
  const auto kernel = kernels_.find(launch.function);
  if (kernel != kernels_.end()) {
    kernel->second->sites = next_sites(launch.sites, used, slot.lost_sites != 0);
  }
}

}  // namespace drgpum::profiler
