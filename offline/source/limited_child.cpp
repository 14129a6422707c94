// SPDX-License-Identifier: Apache-2.0
// fork, setrlimit, a pipe with a deadline.
#include "offline/source/limited_child.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace drgpum {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFlushBytes = 64 << 10;

std::uint64_t address_space_in_use() {
  std::uint64_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    unsigned long long read = 0;
    if (std::fscanf(file, "%llu", &read) == 1) pages = read;
    std::fclose(file);
  }
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit(decltype(RLIMIT_AS) resource, std::uint64_t value) {
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return;
  now.rlim_cur = std::min<rlim_t>(value, now.rlim_max);
  if (resource == RLIMIT_CPU) now.rlim_max = now.rlim_cur + 1;  // SIGKILL after SIGXCPU
  static_cast<void>(::setrlimit(resource, &now));
}

[[noreturn]] void be_child(int fd, const ChildLimits& limits,
                           const std::function<void(ChildOutput&)>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTERM, SIGINT, SIGXCPU})
    ::signal(signal, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  limit(RLIMIT_AS, address_space_in_use() + limits.memory_bytes);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);  // for what a library prints as it dies
  for (const int standard : {0, 1, 2})
    ::dup2(null, standard);
  ChildOutput output(fd);
  try {
    work(output);
  } catch (...) {  // no memory left: what was sent is what there is
    ::_exit(2);
  }
  output.flush();
  ::_exit(0);
}

std::string how_it_ended(int status, const ChildLimits& limits) {
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? "" : "ran out of memory";
  const int signal = WTERMSIG(status);
  if (signal == SIGXCPU) return "took over " + std::to_string(limits.cpu_seconds) + " s";
  return "was killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

// Cuts a stream of bytes into messages, each after its length.
class MessageStream {
 public:
  bool take(std::span<const std::uint8_t> bytes,
            const std::function<bool(std::span<const std::uint8_t>)>& take_message) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    std::size_t at = 0;
    bool more = true;
    for (std::uint32_t size = 0; more && bytes_.size() - at >= sizeof size; at += size) {
      std::memcpy(&size, bytes_.data() + at, sizeof size);
      if (bytes_.size() - at - sizeof size < size) break;
      at += sizeof size;
      more = take_message({bytes_.data() + at, size});
    }
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
    return more;
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

// Empty when the child closed its end; else why reading was given up.
std::string read_until_end(int fd, const ChildLimits& limits,
                           const std::function<bool(std::span<const std::uint8_t>)>& take) {
  const auto deadline = Clock::now() + std::chrono::seconds(limits.wall_seconds);
  MessageStream messages;
  std::vector<std::uint8_t> block(kFlushBytes);
  for (std::uint64_t all = 0;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return "took over " + std::to_string(limits.wall_seconds) + " s";
    pollfd wait{fd, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return "";
    all += static_cast<std::uint64_t>(got);
    if (all > limits.output_bytes)
      return "told more than " + std::to_string(limits.output_bytes) + " bytes";
    if (!messages.take({block.data(), static_cast<std::size_t>(got)}, take))
      return "told what makes no sense";
  }
}

}  // namespace

bool ChildOutput::send(std::span<const std::uint8_t> message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  const auto* at = reinterpret_cast<const std::uint8_t*>(&size);
  pending_.insert(pending_.end(), at, at + sizeof size);
  pending_.insert(pending_.end(), message.begin(), message.end());
  return pending_.size() < kFlushBytes || flush();
}

bool ChildOutput::flush() {
  for (std::size_t sent = 0; sent < pending_.size();) {
    const ssize_t wrote = ::write(fd_, pending_.data() + sent, pending_.size() - sent);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    sent += static_cast<std::size_t>(wrote);
  }
  pending_.clear();
  return true;
}

std::string run_limited_child(const ChildLimits& limits,
                              const std::function<void(ChildOutput&)>& work,
                              const std::function<bool(std::span<const std::uint8_t>)>& take) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::string("could not start: ") + std::strerror(errno);
  std::fflush(nullptr);  // or the child would hold a copy of what is not yet written
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    be_child(ends[1], limits, work);
  }
  const int fork_error = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return std::string("could not start: ") + std::strerror(fork_error);
  }
  const std::string given_up = read_until_end(ends[0], limits, take);
  ::close(ends[0]);
  if (!given_up.empty()) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return given_up.empty() ? how_it_ended(status, limits) : given_up;
}

}  // namespace drgpum
