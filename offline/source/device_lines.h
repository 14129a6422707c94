// SPDX-License-Identifier: Apache-2.0
#pragma once
// Source lines of device code: the images that were saved beside a trace, each read once.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "offline/source/cubin_lines.h"
#include "offline/source/ptx_lines.h"
#include "offline/trace/trace.h"

namespace drgpum {

// What became of one image that wanted lines.
struct ImageNote {
  std::string name;      // its file, or its hash
  std::string path;      // where it was found; empty: nowhere
  std::string problem;   // empty: nothing is amiss
  std::uint64_t asked = 0;  // places asked for
  std::uint64_t found = 0;  // of those, with a line
};

// The file of a saved image: beside the trace, then in `symbol_paths` by its hash, alone or with
// .cubin or .ptx. Empty: it was not saved, or is nowhere.
std::string find_image(const trace::CubinRecord& cubin, const std::string& trace_path,
                       const std::vector<std::string>& symbol_paths);

class DeviceLines {
 public:
  // `trace` has to stay.
  DeviceLines(const Trace& trace, std::vector<std::string> symbol_paths)
      : trace_(trace), symbol_paths_(std::move(symbol_paths)) {}

  // Frames at an instruction, innermost first, functions mangled; empty when nothing is known.
  // `kernel` names the function; see AccessSiteRecord for `offset`.
  std::vector<AddressFrame> at(KernelId kernel, std::uint64_t offset);

  // One for each image asked about.
  [[nodiscard]] std::vector<ImageNote> notes() const;

 private:
  struct Image {
    std::variant<std::monostate, CubinLines, PtxLines> lines;
    ImageNote note;
  };
  Image& image_of(CubinId id);
  void read(const trace::CubinRecord& cubin, Image& image);

  const Trace& trace_;
  std::vector<std::string> symbol_paths_;
  std::map<std::uint32_t, Image> images_;  // by cubin
};

}  // namespace drgpum
