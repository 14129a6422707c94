// SPDX-License-Identifier: Apache-2.0
// `drgpum import`: a file of another tool as a trace.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "offline/cli/load_report.h"
#include "offline/cli/terminal.h"
#include "offline/cli/verbs.h"
#include "offline/import/read_history.h"
#include "offline/import/trace_records.h"
#include "offline/report/units.h"
#include "proto/trace/trace_writer.h"

namespace drgpum {
namespace {

constexpr const char* kVerb = "import";

struct Arguments {
  std::string input;
  std::string output;
  bool force = false;
};

void declare(CLI::App& app, Arguments& a) {
  app.add_option("FILE", a.input,
                 "a memory snapshot of PyTorch (pickle or JSON), a trace of torch.profiler with "
                 "profile_memory, a device memory profile of JAX, each gzip or zstd too; an SQLite "
                 "export of Nsight Systems")
      ->required();
  app.add_option("-o,--output", a.output, "trace to write; without it the input's name with .drgp");
  app.add_flag("-f,--force", a.force, "replace the trace if it is there");
  app.footer(
      "report, plan, view and info take such files as they are. They are read as data: nothing in\n"
      "them is ever run.\n"
      "Examples:\n"
      "  drgpum import snapshot.pickle -o app.drgp && drgpum report app.drgp\n"
      "  nsys export --type sqlite app.nsys-rep && drgpum import app.sqlite\n");
}

// "runs/a.pickle.gz" gives "a.drgp", "b.pt.trace.json.gz" gives "b.pt.trace.drgp", in the current
// folder.
std::string default_output(const std::string& input) {
  std::filesystem::path name = std::filesystem::path(input).filename();
  for (const char* packing : {".gz", ".zst"})
    if (name.extension() == packing) name = name.stem();
  return name.replace_extension(".drgp").string();
}

// Writes under another name first: a trace is there whole or not at all.
class TraceFile {
 public:
  explicit TraceFile(std::string path)
      : path_(std::move(path)), part_(path_ + ".part" + std::to_string(::getpid())) {}
  ~TraceFile() {
    if (writer_ != nullptr) ::unlink(part_.c_str());
  }
  TraceFile(const TraceFile&) = delete;

  Status add(const trace::Record& record) {
    if (const auto* process = std::get_if<trace::ProcessRecord>(&record)) {
      ASSIGN_OR_RETURN(writer_, trace::TraceWriter::create(part_, *process, {0, true}));
      return Ok{};
    }
    if (!writer_->append(record))
      return Error{ErrorCode::kIo, path_ + ": " + writer_->stop_reason()};
    return Ok{};
  }
  Status finish() {
    writer_->finish();
    std::error_code error;
    std::filesystem::rename(part_, path_, error);
    if (error) return Error{ErrorCode::kIo, path_ + ": " + error.message()};
    writer_.reset();
    return Ok{};
  }

 private:
  std::string path_;
  std::string part_;
  std::unique_ptr<trace::TraceWriter> writer_;
};

struct Counts {
  std::uint64_t events = 0;
  std::uint64_t frames = 0;
  std::uint64_t stacks = 0;
};

Result<Counts> import_file(const Arguments& a, const std::string& output) {
  ProgressLine progress;
  ASSIGN_OR_RETURN(const AllocatorHistory history,
                   read_history(a.input, [&](std::uint64_t done, std::uint64_t all) {
                     progress.show("reading " + a.input + ", " + percent_of(done, all));
                   }));
  TraceFile file(output);
  std::uint64_t written = 0;
  RETURN_IF_ERROR(write_history(history, [&](const trace::Record& record) {
    if ((++written & 0xffff) == 0)
      progress.show("writing " + output + ", " + exact_bytes(written) + " records");
    return file.add(record);
  }));
  RETURN_IF_ERROR(file.finish());
  return Counts{history.events.size(), history.frames.size(), history.stack_begin.size() - 2};
}

int run(const Arguments& a) {
  const std::string output = a.output.empty() ? default_output(a.input) : a.output;
  std::error_code error;
  if (!a.force && std::filesystem::exists(output, error))
    return fail(kVerb, {ErrorCode::kInvalidArgument,
                        output + ": is there already; -f replaces it, -o names another"});
  if (std::filesystem::exists(output, error) && !std::filesystem::is_regular_file(output, error))
    return fail(kVerb, {ErrorCode::kInvalidArgument, output + ": is not a file; -o names one"});
  const Result<Counts> counts = import_file(a, output);
  if (!counts) return fail(kVerb, counts.error());
  const std::uintmax_t size = std::filesystem::file_size(output, error);
  std::printf("%s: %s, %s, %s in %s\nnext: drgpum report %s\n", printable(output).c_str(),
              iec_bytes(size).c_str(), plural(counts->events, "event").c_str(),
              plural(counts->frames, "frame").c_str(), plural(counts->stacks, "stack").c_str(),
              printable(output).c_str());
  return kExitOk;
}

}  // namespace

int import_main(int argc, char** argv) {
  CLI::App app("A file of another tool as a trace.", "drgpum import");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return run(arguments);
}

}  // namespace drgpum
