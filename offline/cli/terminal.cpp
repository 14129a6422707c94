// SPDX-License-Identifier: Apache-2.0
#include "offline/cli/terminal.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace drgpum {
namespace {

constexpr std::size_t kDefaultWidth = 100;
constexpr long long kPatienceNs = 1'000'000'000;
constexpr long long kRedrawNs = 100'000'000;

long long now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool is_dumb() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::strcmp(term, "dumb") == 0;
}

}  // namespace

bool is_terminal(int descriptor) {
  return ::isatty(descriptor) == 1;
}

bool wants_colour(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool refused = no_colour != nullptr && *no_colour != '\0';
  return is_terminal(descriptor) && !refused && !is_dumb();
}

std::size_t terminal_width(int descriptor) {
  if (const char* columns = std::getenv("COLUMNS")) {
    std::size_t width = 0;
    const auto [end, error] = std::from_chars(columns, columns + std::strlen(columns), width);
    if (error == std::errc() && *end == '\0' && width > 0) return width;
  }
  winsize size{};
  if (is_terminal(descriptor) && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return kDefaultWidth;
}

struct Output::State {
  std::string path;  // empty: standard output
  std::string unfinished;
  std::ofstream file;
};

Output::Output(std::unique_ptr<State> state) : state_(std::move(state)) {}
Output::Output(Output&&) noexcept = default;

Output::~Output() {
  if (state_ && !state_->unfinished.empty()) ::unlink(state_->unfinished.c_str());
}

Result<Output> Output::open(const std::string& path) {
  auto state = std::make_unique<State>();
  if (path.empty() || path == "-") return Output(std::move(state));
  state->path = path;
  struct stat found {};
  // A device or a pipe is written to; only files are replaced, whole.
  const bool replaces = ::stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode);
  if (replaces) state->unfinished = path + ".part" + std::to_string(::getpid());
  state->file.open(replaces ? state->unfinished : path, std::ios::binary);
  if (!state->file)
    return Error{ErrorCode::kIo, path + ": cannot be written: " + std::strerror(errno)};
  return Output(std::move(state));
}

std::ostream& Output::stream() {
  return state_->path.empty() ? std::cout : static_cast<std::ostream&>(state_->file);
}

Status Output::finish() {
  stream().flush();
  if (!stream())
    return Error{ErrorCode::kIo, (state_->path.empty() ? "standard output" : state_->path) +
                                     std::string(": not all could be written: ") +
                                     std::strerror(errno)};
  if (state_->path.empty()) return Ok{};
  state_->file.close();
  if (state_->unfinished.empty()) return Ok{};
  if (std::rename(state_->unfinished.c_str(), state_->path.c_str()) != 0)
    return Error{ErrorCode::kIo, state_->path + ": cannot be written: " + std::strerror(errno)};
  state_->unfinished.clear();
  return Ok{};
}

ProgressLine::ProgressLine()
    : enabled_(is_terminal(STDERR_FILENO) && !is_dumb()), started_ns_(now_ns()) {}

ProgressLine::~ProgressLine() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(const std::string& text) {
  const long long now = now_ns();
  if (!enabled_ || now - started_ns_ < kPatienceNs || now - drawn_ns_ < kRedrawNs) return;
  drawn_ = true;
  drawn_ns_ = now;
  std::fprintf(stderr, "\rdrgpum: %s\x1b[K", text.c_str());
  std::fflush(stderr);
}

}  // namespace drgpum
