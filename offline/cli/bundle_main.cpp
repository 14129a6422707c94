// SPDX-License-Identifier: Apache-2.0
// `drgpum bundle`: a trace with what its report needs, for another machine.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <CLI/CLI.hpp>

#include "offline/bundle/bundle_file.h"
#include "offline/cli/load_report.h"
#include "offline/cli/trace_sources.h"
#include "offline/cli/verbs.h"
#include "offline/report/units.h"
#include "offline/source/symbol_cache.h"

namespace drgpum {
namespace {

constexpr const char* kVerb = "bundle";
// What reading a variable's name off a statement looks at.
constexpr std::uint32_t kLinesBack = 20;
constexpr std::uint32_t kLinesOn = 40;

struct Arguments {
  std::string trace;
  std::string output;
  bool replace = false;
  bool with_source = false;
  LoadArguments load;
};

void declare(CLI::App& app, Arguments& a) {
  app.add_option("TRACE", a.trace, "trace to pack")->required();
  app.add_option("-o,--output", a.output, "file to write; TRACE with the ending .drgb without it");
  app.add_flag("-f,--force", a.replace, "replace a file that is there");
  app.add_flag("--with-source", a.with_source,
               "also the lines of source files around those that the report can name");
  app.add_option("--source-root", a.load.source_roots, "directory that holds the program's sources")
      ->allow_extra_args(false);
  app.add_option("--path-map", a.load.path_maps,
                 "A=B: source files recorded below A lie below B")
      ->allow_extra_args(false);
  app.add_option("--symbol-path", a.load.symbol_paths,
                 "directory that holds modules, their debug files or device code")
      ->allow_extra_args(false);
  app.footer(
      "Examples:\n"
      "  drgpum bundle app.drgp && scp app.drgb elsewhere:\n"
      "  drgpum bundle app.drgp --with-source -o report-me.drgb\n"
      "\nreport, plan, view, annotate, diff, export and info read the file in the place of a trace.\n");
}

// A folder that goes with its name.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    const auto parent = std::filesystem::temp_directory_path(error);
    path_ = (error ? std::filesystem::path("/tmp") : parent) / "drgpum-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Found {
  SourceMap map;
  AccessLines accesses;
  std::vector<ImageNote> images;
};

Found find_lines(const Trace& trace, AccessLines accesses, const Arguments& a,
                 const std::string& keep, ProgressLine& progress) {
  SourceOptions options;
  options.cache_directory = default_cache_directory();
  options.keep_directory = keep;
  options.symbol_paths = a.load.symbol_paths;
  options.progress = [&](std::string_view module) {
    progress.show("finding lines of " + printable(module));
  };
  Found found;
  found.map = resolve_sources(trace, options);
  DeviceLines device(trace, a.load.symbol_paths);
  accesses.resolve(device, trace, false);
  found.accesses = std::move(accesses);
  found.images = device.notes();
  return found;
}

// The files that a report can name, with the lines around each place in them.
std::map<std::string, std::set<std::uint32_t>> lines_wanted(const Trace& trace,
                                                            const Found& found) {
  std::map<std::string, std::set<std::uint32_t>> wanted;
  const auto add = [&](std::string_view file, std::uint32_t line) {
    if (file.empty() || line == 0) return;
    auto& lines = wanted[std::string(file)];
    for (std::uint32_t at = line > kLinesBack ? line - kLinesBack : 1; at <= line + kLinesOn; ++at)
      lines.insert(at);
  };
  for (const TraceCallPath& path : trace.call_paths().rows())
    for (const PathFrame& frame : found.map.path(path.id).frames)
      add(frame.file, frame.line);
  for (const TraceObject& object : trace.objects().rows())
    for (const AccessLine& line : found.accesses.of(object.id))
      add(line.file, line.line);
  return wanted;
}

class Packer {
 public:
  Packer(bundle::Writer writer, const Trace& trace, const Arguments& a)
      : writer_(std::move(writer)), trace_(trace), a_(a) {}

  Status run(const Found& found, const std::string& lines_folder) {
    using bundle::PartKind;
    RETURN_IF_ERROR(writer_.add_file(PartKind::kTrace, "", a_.trace));
    RETURN_IF_ERROR(add_images());
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(lines_folder, error)) {
      RETURN_IF_ERROR(
          writer_.add_file(PartKind::kLines, entry.path().stem().string(), entry.path().string()));
      ++modules_;
    }
    if (a_.with_source) RETURN_IF_ERROR(add_sources(found));
    return writer_.finish();
  }

  std::string contents() const {
    std::string text = "the trace, " + plural(images_, "device module") + ", lines of " +
                       plural(modules_, "host module");
    if (a_.with_source) text += ", lines of " + plural(sources_, "source file");
    return text;
  }
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }

 private:
  Status add_images() {
    std::set<std::string> done;
    for (const trace::CubinRecord& cubin : trace_.cubins().rows()) {
      if (cubin.hash.empty() || !done.insert(cubin.hash).second) continue;
      const std::string path = find_image(cubin, trace_.path(), a_.load.symbol_paths);
      if (path.empty()) {
        missing_.push_back("device module " + printable(cubin.hash) +
                           (cubin.saved_as.empty() ? " was not saved with the trace"
                                                   : " is not at " + printable(cubin.saved_as)));
        continue;
      }
      RETURN_IF_ERROR(writer_.add_file(bundle::PartKind::kImage, cubin.hash, path));
      ++images_;
    }
    return Ok{};
  }

  Status add_sources(const Found& found) {
    SourceText text(places_of(a_.load));
    for (const auto& [file, lines] : lines_wanted(trace_, found)) {
      const std::uint32_t count = text.line_count(file);
      if (count == 0) {
        missing_.push_back("source file " + printable(file) + " is not on this machine");
        continue;
      }
      std::string kept;
      for (std::uint32_t line = 1; line <= count; ++line) {
        if (lines.contains(line)) kept += text.line(file, line);
        kept += '\n';
      }
      RETURN_IF_ERROR(writer_.add(bundle::PartKind::kSource, file, kept));
      ++sources_;
    }
    return Ok{};
  }

  bundle::Writer writer_;
  const Trace& trace_;
  const Arguments& a_;
  std::uint64_t images_ = 0;
  std::uint64_t modules_ = 0;
  std::uint64_t sources_ = 0;
  std::vector<std::string> missing_;
};

std::string name_for(const std::string& trace) {
  constexpr std::string_view kEnding = ".drgp";
  return (trace.ends_with(kEnding) ? trace.substr(0, trace.size() - kEnding.size()) : trace) +
         ".drgb";
}

Result<Trace> load(const Arguments& a, AccessLines& accesses, ProgressLine& progress) {
  LoadOptions options;
  options.calls = false;
  options.also = [&](const trace::Record& record) -> Status {
    accesses.add(record);
    return Ok{};
  };
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    progress.show("reading " + a.trace + ", " + percent_of(done, all));
  };
  return load_trace(a.trace, options);
}

Result<int> pack(const Arguments& a) {
  if (bundle::is_bundle(a.trace))
    return Error{ErrorCode::kInvalidArgument, a.trace + ": is a bundle already"};
  const TemporaryFolder folder;
  if (folder.path().empty())
    return Error{ErrorCode::kIo, "no folder can be made where temporary files go; set TMPDIR"};
  const std::string output = a.output.empty() ? name_for(a.trace) : a.output;
  ProgressLine progress;
  AccessLines accesses;
  ASSIGN_OR_RETURN(const Trace trace, load(a, accesses, progress));
  ASSIGN_OR_RETURN(bundle::Writer writer, bundle::Writer::create(output, a.replace));
  const std::string lines_folder = folder.path() + "/lines";
  const Found found = find_lines(trace, std::move(accesses), a, lines_folder, progress);
  progress.show("writing " + output);
  Packer packer(std::move(writer), trace, a);
  RETURN_IF_ERROR(packer.run(found, lines_folder));
  std::vector<std::string> missing = missing_lines(found.map, found.images);
  missing.insert(missing.end(), packer.missing().begin(), packer.missing().end());
  for (const std::string& line : missing)
    std::fprintf(stderr, "drgpum bundle: %s\n", line.c_str());
  std::error_code error;
  std::printf("%s (%s): %s%s\n", printable(output).c_str(),
              iec_bytes(std::filesystem::file_size(output, error)).c_str(),
              packer.contents().c_str(), missing.empty() ? "" : "; the rest is missing, see above");
  const bool complete = trace.summary().completeness == trace::Completeness::kComplete;
  return complete ? kExitOk : kExitIncomplete;
}

}  // namespace

int bundle_main(int argc, char** argv) {
  CLI::App app("A trace and all that its report needs, in one file.", "drgpum bundle");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  const Result<int> status = pack(arguments);
  return status ? *status : fail(kVerb, status.error());
}

}  // namespace drgpum
