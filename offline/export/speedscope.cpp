// SPDX-License-Identifier: Apache-2.0
// Flame graphs of allocation sites: what is live at the peak, what is wasted, what is allocated in
// all, and bytes times how long they are held.

#include <map>
#include <tuple>

#include "offline/export/allocation_sites.h"
#include "offline/export/export_words.h"
#include "offline/report/json_writer.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(const ExportInput& input, std::ostream& out)
      : input_(input), all_(allocation_sites(input)), json_(out) {}

  void run() {
    number_frames();
    json_.begin_object();
    json_.field("$schema", "https://www.speedscope.app/file-format-schema.json");
    json_.field("exporter", "drgpum " + input_.tool_version);
    json_.field("name", "GPU memory of " + printable(program()));
    json_.field("activeProfileIndex", 0);
    write_frames();
    json_.key("profiles").begin_array();
    write_profile("live at the peak", "bytes",
                  [](const AllocationSite& s) { return s.bytes_at_peak; });
    write_profile("wasted", "bytes", [](const AllocationSite& s) { return s.wasted_bytes; });
    write_profile("allocated", "bytes", [](const AllocationSite& s) { return s.bytes; });
    write_profile(all_.has_device_time ? "bytes held, times seconds" : "bytes held, times calls",
                  "none", [](const AllocationSite& s) { return s.byte_time; });
    json_.end_array();
    json_.end_object();
  }

 private:
  using Key = std::tuple<std::string, std::string, std::uint32_t>;

  std::string program() const {
    const std::string& path = input_.report.evidence.process.executable;
    return path.substr(path.rfind('/') + 1);
  }

  void number_frames() {
    for (const AllocationSite& site : all_.sites) {
      std::vector<std::size_t>& stack = stacks_.emplace_back();
      for (const SourceFrame& frame : frames_of(input_.report, site.api))
        stack.push_back(number_of({frame.function.empty() ? "?" : printable(frame.function),
                                   printable(frame.file), frame.line}));
      if (stack.empty()) stack.push_back(number_of({"(no call path)", "", 0}));
    }
  }

  std::size_t number_of(Key key) {
    const auto [at, fresh] = numbers_.try_emplace(std::move(key), frames_.size());
    if (fresh) frames_.push_back(&at->first);
    return at->second;
  }

  void write_frames() {
    json_.key("shared").begin_object();
    json_.key("frames").begin_array();
    for (const Key* key : frames_) {
      const auto& [function, file, line] = *key;
      json_.begin_object();
      json_.field("name", function);
      if (!file.empty()) json_.field("file", file);
      if (line != 0) json_.field("line", line);
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  // Stacks from the root on. Numbers are doubles to its readers, so that sums are kept as such.
  template <typename Value>
  void write_profile(const char* name, const char* unit, Value value) {
    double sum = 0;
    json_.begin_object();
    json_.field("type", "sampled");
    json_.field("name", name);
    json_.field("unit", unit);
    json_.key("samples").begin_array();
    for (std::size_t s = 0; s < all_.sites.size(); ++s) {
      if (value(all_.sites[s]) == 0) continue;
      json_.begin_array();
      for (auto frame = stacks_[s].rbegin(); frame != stacks_[s].rend(); ++frame)
        json_.number(*frame);
      json_.end_array();
    }
    json_.end_array();
    json_.key("weights").begin_array();
    for (const AllocationSite& site : all_.sites) {
      if (value(site) == 0) continue;
      json_.real(static_cast<double>(value(site)));
      sum += static_cast<double>(value(site));
    }
    json_.end_array();
    json_.field("startValue", 0);
    json_.field("endValue", sum);
    json_.end_object();
  }

  const ExportInput& input_;
  const AllocationSites all_;
  JsonWriter json_;
  std::map<Key, std::size_t> numbers_;
  std::vector<const Key*> frames_;
  std::vector<std::vector<std::size_t>> stacks_;  // by site, innermost first
};

}  // namespace

Status export_speedscope(const ExportInput& input, std::ostream& out) {
  SpeedscopeWriter(input, out).run();
  return Ok{};
}

}  // namespace drgpum
