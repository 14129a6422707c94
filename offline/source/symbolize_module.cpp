// SPDX-License-Identifier: Apache-2.0
// Three tries, each in its own child: all of the debug information; lines only; symbols only. What
// one told before it died is kept.
#include "offline/source/symbolize_module.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <unordered_map>

#include <cxxabi.h>
#include <sys/stat.h>

#include "offline/source/demangle.h"
#include "offline/source/elf_file.h"
#include "offline/source/find_debug_file.h"
#include "offline/source/frame_codec.h"
#include "proto/wire.h"

namespace drgpum {
namespace {

enum class Depth { kFunctions, kLines, kSymbols };

// Messages from the child: about one address, or about the files.
constexpr std::uint32_t kPlace = 1;
constexpr std::uint32_t kFrame = 2;  // repeated message
constexpr std::uint32_t kLinesFrom = 3;
constexpr std::uint32_t kProblem = 4;
constexpr std::uint32_t kDone = 5;

constexpr std::size_t kMostFrames = 1024;  // in one address: the rest of a chain is dropped

// Runs in the child.
class Symbolizer {
 public:
  Symbolizer(const ModuleRequest& request, std::span<const std::uint64_t> addresses,
             ChildOutput& output)
      : request_(request), addresses_(addresses), output_(output) {}

  void run(Depth depth) {
    const DebugFiles files =
        find_debug_files(request_.path, request_.build_id, request_.symbol_paths,
                         request_.debug_file);
    read_symbols(files);
    std::vector<bool> found(addresses_.size());
    if (!files.problem.empty()) tell(kProblem, files.problem);
    if (depth != Depth::kSymbols && !files.lines.empty()) {
      tell(kLinesFrom, files.lines);
      read_lines(files, depth == Depth::kFunctions, found);
    }
    for (std::size_t place = 0; place < addresses_.size(); ++place)
      if (!found[place]) tell(place, {AddressFrame{}});
    wire::Encoder done;
    done.varint_field(kDone, 1);
    output_.send(done.bytes());
  }

 private:
  void read_symbols(const DebugFiles& files) {
    for (const std::string* path : {&files.lines, &files.code}) {
      if (path->empty() || !symbols_.empty()) continue;
      if (auto file = ElfFile::open(*path)) symbols_ = file->functions();
    }
  }

  void read_lines(const DebugFiles& files, bool with_functions, std::vector<bool>& found) {
    const auto file = ElfFile::open(files.lines);
    if (!file) return;
    SplitPlaces split{{files.lines}, request_.symbol_paths};
    for (const std::string& program : {files.code, request_.path})
      if (!program.empty() && program != split.programs.back()) split.programs.push_back(program);
    auto lines = DwarfLines::open(*file, with_functions, std::move(split));
    if (!lines) return tell(kProblem, files.lines + " " + lines.error().message);
    lines->resolve(addresses_, [&](std::size_t place, std::vector<AddressFrame> frames) {
      found[place] = true;
      tell(place, std::move(frames));
    });
    if (const std::string missing = lines->problem(); !missing.empty()) tell(kProblem, missing);
  }

  // The function whose symbol covers the address; of several, the one that begins last.
  const std::string* symbol_at(std::uint64_t address) const {
    const auto after =
        std::upper_bound(symbols_.begin(), symbols_.end(), address,
                         [](std::uint64_t at, const ElfFunction& one) { return at < one.begin; });
    if (after == symbols_.begin()) return nullptr;
    const ElfFunction& last = *std::prev(after);
    const bool sized = last.end > last.begin;
    return !sized || address < last.end ? &last.name : nullptr;
  }

  // The linkage name tells more than a plain one, which local and unnamed-namespace functions have.
  void complete_outermost(std::uint64_t address, AddressFrame& frame) const {
    if (frame.function.starts_with("_Z")) return;
    const std::string* symbol = symbol_at(address);
    if (symbol != nullptr && (frame.function.empty() || symbol->starts_with("_Z")))
      frame.function = *symbol;
  }

  const std::string& display_name(const std::string& name) {
    const auto [known, added] = demangled_.try_emplace(name);
    if (added) known->second = source::demangled(name);
    return known->second;
  }

  void tell(std::size_t place, std::vector<AddressFrame> frames) {
    if (frames.size() > kMostFrames) frames.resize(kMostFrames);
    complete_outermost(addresses_[place], frames.back());
    message_.clear();
    message_.varint_field(kPlace, place);
    for (const AddressFrame& frame : frames) {
      const AddressFrame shown{display_name(frame.function), frame.file, frame.line, frame.inlined};
      encode_frame(kFrame, shown, message_);
    }
    output_.send(message_.bytes());
  }
  void tell(std::uint32_t what, const std::string& text) {
    message_.clear();
    message_.bytes_field(what, text);
    output_.send(message_.bytes());
  }

  const ModuleRequest& request_;
  std::span<const std::uint64_t> addresses_;
  ChildOutput& output_;
  std::vector<ElfFunction> symbols_;
  std::unordered_map<std::string, std::string> demangled_;
  wire::Encoder message_;
};

// The parent's end: trusts nothing.
class Answers {
 public:
  Answers(std::span<const std::size_t> places, ModuleLines& lines)
      : places_(places), lines_(lines) {}

  bool take(std::span<const std::uint8_t> message) {
    wire::Decoder fields(message);
    wire::Field field;
    std::optional<std::size_t> place;
    std::vector<AddressFrame> frames;
    while (fields.next(field)) {
      if (field.number == kPlace && field.value < places_.size())
        place = static_cast<std::size_t>(field.value);
      if (field.number == kFrame) {
        auto frame = decode_frame(field.bytes);
        if (!frame) return false;
        frames.push_back(*std::move(frame));
      }
      if (field.number == kLinesFrom) lines_.lines_from = field.text();
      if (field.number == kProblem) lines_.problem = field.text();
      if (field.number == kDone) done_ = true;
    }
    if (fields.failed()) return false;
    if (place) lines_.frames[places_[*place]] = std::move(frames);
    return true;
  }
  [[nodiscard]] bool done() const { return done_; }

 private:
  std::span<const std::size_t> places_;
  ModuleLines& lines_;
  bool done_ = false;
};

// Shares in percent of the time that the module may take.
struct Try {
  Depth depth;
  unsigned share;
};
constexpr Try kTries[] = {{Depth::kFunctions, 50}, {Depth::kLines, 30}, {Depth::kSymbols, 20}};

ChildLimits part_of(ChildLimits limits, unsigned share) {
  limits.cpu_seconds = std::max(1u, limits.cpu_seconds * share / 100);
  limits.wall_seconds = std::max(1u, limits.wall_seconds * share / 100);
  return limits;
}

}  // namespace

ChildLimits limits_for(const std::string& path) {
  constexpr std::uint64_t kBytesPerSecond = 10 << 20;
  ChildLimits limits;
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || found.st_size < 0) return limits;
  const auto size = static_cast<std::uint64_t>(found.st_size);
  const auto extra = static_cast<unsigned>(std::min<std::uint64_t>(size / kBytesPerSecond, 600));
  limits.cpu_seconds = std::max(limits.cpu_seconds, 2 * extra);
  limits.wall_seconds = std::max(limits.wall_seconds, 30 * extra);
  limits.memory_bytes += 2 * size;  // sections are read and may be compressed
  return limits;
}

ModuleLines symbolize_module(const ModuleRequest& request, const ChildLimits& limits) {
  ModuleLines lines;
  lines.frames.resize(request.addresses.size());
  std::string died;
  for (const auto& [depth, share] : kTries) {
    std::vector<std::size_t> places;
    std::vector<std::uint64_t> addresses;
    for (std::size_t k = 0; k < request.addresses.size(); ++k) {
      if (!lines.frames[k].empty()) continue;
      places.push_back(k);
      addresses.push_back(request.addresses[k]);
    }
    if (places.empty()) break;
    Answers answers(places, lines);
    const std::string end = run_limited_child(
        part_of(limits, share),
        [&](ChildOutput& output) { Symbolizer(request, addresses, output).run(depth); },
        [&](std::span<const std::uint8_t> message) { return answers.take(message); });
    if (answers.done()) break;
    if (died.empty()) died = end;
  }
  if (!died.empty())
    lines.problem = "reading its line information " + died + "; lines may be missing";
  return lines;
}

}  // namespace drgpum
