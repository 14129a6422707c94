// SPDX-License-Identifier: Apache-2.0
// Collects the addresses of each module, symbolises module by module, puts the frames of each call
// path together and finds its site.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "offline/source/debuginfod.h"
#include "offline/source/demangle.h"
#include "offline/source/frame_rules.h"
#include "offline/source/source_map.h"
#include "offline/source/symbol_cache.h"
#include "offline/source/symbolize_module.h"

namespace drgpum {

using trace::ApiKind;

class PathResolver {
 public:
  PathResolver(const Trace& trace, const SourceOptions& options)
      : trace_(trace),
        options_(options),
        cache_(options.cache_directory),
        bundled_(options.bundled_directory, SymbolCache::Older::kTaken),
        kept_(options.keep_directory) {}

  SourceMap run() {
    collect_addresses();
    for (auto& [module, addresses] : addresses_)
      symbolize(*module, addresses);
    for (const TraceCallPath& path : trace_.call_paths().rows())
      add_path(path);
    for (const TraceCallPath& path : trace_.call_paths().rows())
      count_wrappers(path);
    for (const TraceCallPath& path : trace_.call_paths().rows())
      choose_site(path);
    std::sort(map_.modules_.begin(), map_.modules_.end(),
              [](const ModuleNote& a, const ModuleNote& b) { return a.path < b.path; });
    return std::move(map_);
  }

 private:
  using Frames = std::vector<PathFrame>;
  static constexpr std::size_t kLongestName =
      4096;  // of kernels: longer ones take long to demangle

  // What is known of one function over all call paths that go through it.
  struct Function {
    std::set<std::uint32_t> allocation_lines;
    std::set<std::pair<std::string_view, std::uint32_t>> callers;  // function and line
    std::uint32_t used_by = 0;
    // The same of calls in which a pool hands out a piece.
    std::set<std::uint32_t> part_lines;
    std::set<std::pair<std::string_view, std::uint32_t>> part_callers;
  };

  static std::uint64_t virtual_address(const TraceModule& module, std::uint64_t frame) {
    return frame - 1 - module.load_bias;  // into the call, not behind it
  }
  const TraceModule* module_of(const TraceCallPath& path, std::uint64_t frame) const {
    return trace_.module_at(frame - 1, path.first_use.value_or(ApiId{}));
  }

  void collect_addresses() {
    for (const TraceCallPath& path : trace_.call_paths().rows())
      for (const std::uint64_t frame : trace_.frames(path.id)) {
        if (trace_.source_frame(frame) != nullptr) continue;
        if (const TraceModule* module = module_of(path, frame))
          addresses_[module].push_back(virtual_address(*module, frame));
      }
  }

  void symbolize(const TraceModule& module, std::vector<std::uint64_t>& addresses) {
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    if (is_system_module(module.path) && !options_.full_stacks) return;
    if (options_.progress) options_.progress(module.path);
    ModuleNote note{module.path, addresses.size(), 0, ""};
    const std::string key = lines_key(module.build_id, module.path);
    CachedFrames known = bundled_.read(key);
    const bool bundled = !known.empty();
    known.merge(cache_.read(module.build_id));
    find_missing(module, addresses, !bundled, known, note);
    if (!options_.keep_directory.empty()) keep_lines(key, addresses, known);
    for (const std::uint64_t address : addresses) {
      Frames frames;
      for (const AddressFrame& frame : known[address])
        frames.push_back({keep(frame.function), keep_file(frame.file), frame.line, frame.inlined});
      if (!frames.empty() && !frames.front().file.empty()) ++note.with_lines;
      resolved_[{&module, address}] = std::move(frames);
    }
    if (note.with_lines == note.addresses) note.problem.clear();
    map_.modules_.push_back(std::move(note));
  }

  void keep_lines(const std::string& key, const std::vector<std::uint64_t>& addresses,
                  const CachedFrames& known) const {
    CachedFrames asked;
    for (const std::uint64_t address : addresses)
      if (const auto at = known.find(address); at != known.end() && !at->second.empty())
        asked.insert(*at);
    kept_.write(key, asked);
  }

  // Adds to `known` what is not in it yet. Frames are cached only when nothing was amiss: a debug
  // file may come later. What came with a bundle stays out of the cache: others may have made it.
  void find_missing(const TraceModule& module, const std::vector<std::uint64_t>& addresses,
                    bool cacheable, CachedFrames& known, ModuleNote& note) {
    ModuleRequest request{module.path, module.build_id, {}, options_.symbol_paths, ""};
    for (const std::uint64_t address : addresses)
      if (!known.contains(address)) request.addresses.push_back(address);
    if (request.addresses.empty()) return;
    ModuleLines lines = symbolize_module(request, limits_for(module.path));
    if (lines.lines_from.empty() && options_.debuginfod) ask_servers(request, lines);
    for (std::size_t k = 0; k < request.addresses.size(); ++k)
      known[request.addresses[k]] = std::move(lines.frames[k]);
    note.problem = std::move(lines.problem);
    if (note.problem.empty() && cacheable) cache_.write(module.build_id, known);
  }

  void ask_servers(ModuleRequest& request, ModuleLines& lines) const {
    if (options_.progress) options_.progress(request.path + " from debuginfod");
    const Result<std::string> fetched = fetch_debug_file(request.build_id);
    if (!fetched) {
      lines.problem += (lines.problem.empty() ? "" : "; ") + fetched.error().message;
      return;
    }
    request.debug_file = *fetched;
    lines = symbolize_module(request, limits_for(*fetched));
  }

  // "/usr/bin/../include/a.h" is "/usr/include/a.h".
  std::string_view keep_file(const std::string& file) {
    const auto [known, added] = files_.try_emplace(file);
    if (!added) return known->second;
    const std::string normal = std::filesystem::path(file).lexically_normal();
    known->second = keep(normal);
    if (generated_from(normal).empty())
      sources_.try_emplace(std::filesystem::path(normal).stem(), known->second);
    return known->second;
  }

  // nvcc leaves some functions in the file of its host pass, at the lines of the source.
  void name_source(PathFrame& frame) const {
    const std::string_view stem = generated_from(frame.file);
    if (stem.empty()) return;
    const auto found = sources_.find(std::string(stem));
    frame.file = found == sources_.end() ? std::string_view() : found->second;
  }

  std::string_view keep(const std::string& text) {
    return map_.strings_.try_emplace(text, 0).first->first;
  }

  // "libfoo.so+0x1234", or the bare address outside of all modules.
  std::string_view place_name(const TraceModule* module, std::uint64_t address) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    if (module == nullptr) return keep(text);
    return keep(module->path.substr(module->path.rfind('/') + 1) + "+" + text);
  }

  void add_path(const TraceCallPath& path) {
    Frames mine;
    Frames all;
    const std::string kernel = kernel_of(path);
    const auto addresses = trace_.frames(path.id);
    // In a Python program, native code without lines is the interpreter's or a package's.
    const bool is_interpreted = std::any_of(
        addresses.begin(), addresses.end(),
        [this](std::uint64_t address) { return trace_.source_frame(address) != nullptr; });
    for (const std::uint64_t address : addresses) {
      if (const trace::SourceFrameRecord* known = trace_.source_frame(address)) {
        all.push_back({keep(known->function), keep(known->file), known->line, false,
                       is_framework_frame(known->function, known->file)});
        if (!all.back().of_framework) mine.push_back(all.back());
        continue;
      }
      const TraceModule* module = module_of(path, address);
      Frames frames;
      if (module != nullptr) frames = resolved_[{module, virtual_address(*module, address)}];
      if (frames.empty()) frames.push_back({});
      if (frames.back().function.empty())
        frames.back().function =
            place_name(module, module == nullptr ? address : virtual_address(*module, address));
      for (PathFrame& frame : frames) {
        if (!is_launch_stub(frame.function, frame.file)) name_source(frame);
        frame.of_framework = is_interpreted && (frame.file.empty() || module == nullptr ||
                                                is_package_module(module->path));
        all.push_back(frame);
        if (is_mine(module, frame, mine.empty(), kernel)) mine.push_back(frame);
      }
    }
    const bool full = options_.full_stacks || mine.empty();
    map_.paths_[path.id.value].frames = std::move(full ? all : mine);
  }

  // `inner`: of the developer's frames, none is further in.
  bool is_mine(const TraceModule* module, const PathFrame& frame, bool inner,
               const std::string& kernel) {
    if (module == nullptr || is_system_module(module->path) || frame.of_framework) return false;
    if (is_start_up(frame.function) || is_launch_stub(frame.function, frame.file)) return false;
    // nvcc gives each kernel a host function of the same name and place, which launches it.
    if (inner && !kernel.empty() && unqualified(frame.function) == kernel) return false;
    return !is_system_file(frame.file);
  }

  std::string kernel_of(const TraceCallPath& path) const {
    const auto* kernel = path.kernel ? trace_.kernels().find(*path.kernel) : nullptr;
    if (kernel == nullptr || kernel->name.size() > kLongestName) return "";
    const std::string name = source::demangled(kernel->name);
    return std::string(unqualified(name));
  }

  Function& function_of(const PathFrame& frame) { return functions_[{frame.function, frame.file}]; }

  static bool allocates(const TraceCallPath& path) {
    return (path.used_by >> static_cast<unsigned>(ApiKind::kAlloc) & 1) != 0;
  }

  // Out of a pool; where nothing but blocks is recorded they are judged as allocations are.
  bool takes_piece(const TraceCallPath& path) const {
    return path.allocates_part && trace_.process().mode != "allocations";
  }

  void count_wrappers(const TraceCallPath& path) {
    const Frames& frames = map_.paths_[path.id.value].frames;
    for (std::size_t k = 0; k < frames.size(); ++k) {
      Function& function = function_of(frames[k]);
      function.used_by |= path.used_by;
      if (takes_piece(path)) {
        function.part_lines.insert(frames[k].line);
        if (k + 1 < frames.size())
          function.part_callers.insert({frames[k + 1].function, frames[k + 1].line});
        continue;
      }
      if (!allocates(path)) continue;
      function.allocation_lines.insert(frames[k].line);
      if (k + 1 < frames.size())
        function.callers.insert({frames[k + 1].function, frames[k + 1].line});
    }
  }

  // It does nothing on the GPU but allocate, at one line, and its name or its several callers say
  // that it does so for others. A fill of what it allocated is allowed to one that has the name.
  bool only_wraps(const PathFrame& frame) {
    if (is_system_file(frame.file) || frame.of_framework) return true;
    constexpr auto bit = [](ApiKind kind) { return 1u << static_cast<unsigned>(kind); };
    const Function& function = function_of(frame);
    const bool named = has_allocator_name(frame.function);
    const std::uint32_t own = bit(ApiKind::kAlloc) | bit(ApiKind::kMark) | bit(ApiKind::kFree);
    const std::uint32_t fills = bit(ApiKind::kMemset) | bit(ApiKind::kMemcpy);
    if ((function.used_by & ~(named ? own | fills : own)) != 0) return false;
    return function.allocation_lines.size() == 1 && (named || function.callers.size() > 1);
  }

  // Of frames that are all a framework's: the innermost that has a line.
  static std::size_t innermost_line(const PathFrames& path) {
    for (std::size_t k = 0; k < path.frames.size(); ++k)
      if (path.frames[k].line != 0) return k;
    return 0;
  }

  // Past the last function of the path's inner end that hands out pieces for others. Between it and
  // the call are functions of the allocator; they launch nothing and do so at one line.
  std::size_t site_of_part(const Frames& frames) {
    constexpr auto kLaunches = 1u << static_cast<unsigned>(ApiKind::kLaunch);
    std::size_t site = 0;
    for (std::size_t k = 0; k + 1 < frames.size(); ++k) {
      const Function& function = function_of(frames[k]);
      const bool is_system = is_system_file(frames[k].file);
      const bool may_wrap = (function.used_by & kLaunches) == 0 && function.part_lines.size() == 1;
      if (!is_system && !may_wrap) break;
      const bool wraps = has_allocator_name(frames[k].function) || function.part_callers.size() > 1;
      if (is_system || wraps) site = k + 1;
    }
    return site;
  }

  void choose_site(const TraceCallPath& path) {
    PathFrames& found = map_.paths_[path.id.value];
    std::size_t site = takes_piece(path) ? site_of_part(found.frames) : 0;
    while (allocates(path) && !takes_piece(path) && site + 1 < found.frames.size() &&
           only_wraps(found.frames[site]))
      ++site;
    // Full stacks begin in system code.
    const auto is_theirs = [](const PathFrame& frame) {
      return is_system_file(frame.file) || frame.of_framework;
    };
    while (site + 1 < found.frames.size() && is_theirs(found.frames[site]))
      ++site;
    if (site < found.frames.size() && found.frames[site].of_framework) site = innermost_line(found);
    found.site = found.frames.empty() ? 0 : site;
  }

  const Trace& trace_;
  const SourceOptions& options_;
  SymbolCache cache_;
  SymbolCache bundled_;
  SymbolCache kept_;
  SourceMap map_;
  std::map<const TraceModule*, std::vector<std::uint64_t>> addresses_;
  std::map<std::pair<const TraceModule*, std::uint64_t>, Frames> resolved_;
  std::map<std::pair<std::string_view, std::string_view>, Function> functions_;
  std::unordered_map<std::string, std::string_view> files_;    // as recorded, to as shown
  std::unordered_map<std::string, std::string_view> sources_;  // by name without ending
};

const PathFrames& SourceMap::path(CallPathId id) const {
  static const PathFrames kNone;
  const auto found = paths_.find(id.value);
  return found == paths_.end() ? kNone : found->second;
}

SourceMap resolve_sources(const Trace& trace, const SourceOptions& options) {
  return PathResolver(trace, options).run();
}

}  // namespace drgpum
