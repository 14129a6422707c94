// SPDX-License-Identifier: Apache-2.0
#include "offline/source/access_lines.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "offline/source/demangle.h"
#include "offline/source/frame_rules.h"

namespace drgpum {
namespace {

constexpr std::size_t kLongestName = 4096;  // longer ones take long to demangle

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a > ~std::uint64_t{0} - b ? ~std::uint64_t{0} : a + b;
}

// A function that is kept apart inside its kernel's code has the name "$kernel$function".
std::string shown(const std::string& name) {
  const std::size_t second = name.starts_with('$') ? name.find('$', 1) : std::string::npos;
  const std::string own = second == std::string::npos ? name : name.substr(second + 1);
  return own.size() > kLongestName ? own : source::demangled(own);
}

// The innermost frame outside of headers that come with CUDA or the compiler.
std::size_t own_frame(const std::vector<AddressFrame>& frames, bool full_stacks) {
  if (full_stacks) return 0;
  for (std::size_t k = 0; k < frames.size(); ++k)
    if (!frames[k].file.empty() && !is_system_file(frames[k].file)) return k;
  return 0;
}

}  // namespace

void AccessLines::add(const trace::Record& record) {
  const auto* site = std::get_if<trace::AccessSiteRecord>(&record);
  if (site == nullptr || site->object == trace::kNoObject) return;
  Count& count = sites_[{site->object.value, site->function.value, site->offset}];
  count.reads = sum(count.reads, site->reads);
  count.writes = sum(count.writes, site->writes);
  if (std::exchange(count.last_launch, site->api.value) != site->api.value) ++count.launches;
}

void AccessLines::resolve(DeviceLines& lines, const Trace& trace, bool full_stacks) {
  struct Key {
    std::uint32_t object;
    std::string kernel;
    std::string file;
    std::uint32_t line;
    auto operator<=>(const Key&) const = default;
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<AddressFrame>> known;
  std::map<Key, AccessLine> merged;
  for (const auto& [site, count] : sites_) {
    const auto& [object, function, offset] = site;
    const auto [at, added] = known.try_emplace({function, offset});
    if (added) at->second = lines.at(KernelId{function}, offset);
    const std::vector<AddressFrame>& frames = at->second;
    const trace::KernelRecord* kernel = trace.kernels().find(KernelId{function});
    AccessLine line;
    line.kernel = kernel == nullptr ? "" : kernel->name;
    line.function = line.kernel;
    if (!frames.empty()) {
      const AddressFrame& own = frames[own_frame(frames, full_stacks)];
      if (!own.function.empty()) line.function = own.function;
      line.file = own.file;
      line.line = own.line;
    }
    AccessLine& all = merged[{object, line.kernel, line.file, line.line}];
    if (all.launches == 0) all = line;
    all.reads = sum(all.reads, count.reads);
    all.writes = sum(all.writes, count.writes);
    all.launches = std::max(all.launches, count.launches);
  }
  std::unordered_map<std::string, std::string> names;
  const auto name = [&](std::string& text) {
    const auto [at, added] = names.try_emplace(text);
    if (added) at->second = shown(text);
    text = at->second;
  };
  for (auto& [key, line] : merged) {
    name(line.kernel);
    name(line.function);
    lines_[key.object].push_back(std::move(line));
  }
  for (auto& [object, list] : lines_)
    std::stable_sort(list.begin(), list.end(), [](const AccessLine& a, const AccessLine& b) {
      return sum(a.reads, a.writes) > sum(b.reads, b.writes);
    });
}

std::span<const AccessLine> AccessLines::of(ObjectId object) const {
  const auto found = lines_.find(object.value);
  if (found == lines_.end()) return {};
  return found->second;
}

}  // namespace drgpum
