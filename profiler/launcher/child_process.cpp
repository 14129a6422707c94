// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/child_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace drgpum::profiler {
namespace {

constexpr std::array kForwarded = {SIGTERM, SIGHUP,  SIGINT,   SIGQUIT, SIGUSR1,
                                   SIGUSR2, SIGALRM, SIGWINCH, SIGCONT};

volatile pid_t child_pid = 0;  // read by the signal handler

// A terminal sends its signals to both of us; those that a process sent are handed on.
void forward(int signal, siginfo_t* info, void*) {
  const bool from_process =
      info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
  const int saved = errno;
  if (from_process && child_pid > 0) kill(child_pid, signal);
  errno = saved;
}

// `flags`: SA_RESTART, or 0 while we wait for the child: sanitizers' runtimes keep handlers back until
// a system call returns.
void install_forwarding(int flags) {
  for (const int signal : kForwarded) {
    struct sigaction current {};
    sigaction(signal, nullptr, &current);
    if (current.sa_handler == SIG_IGN) continue;  // nohup: the program inherits it
    struct sigaction action {};
    action.sa_sigaction = forward;
    action.sa_flags = SA_SIGINFO | flags;
    sigfillset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

// What the child tells its parent before it becomes the program: a status, then the reason.
void refuse(int channel, int status, const std::string& reason) {
  std::string message(1, static_cast<char>(status));
  message += reason;
  static_cast<void>(!write(channel, message.data(), message.size()));
  _exit(status);
}

[[noreturn]] void become(const ChildPlan& plan, int channel, const sigset_t& mask, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed launcher leaves nothing running
  if (getppid() != parent) _exit(kToolFailed);
  if (plan.before) {
    if (auto status = plan.before(); !status) refuse(channel, kToolFailed, status.error().message);
  }
  for (const auto& [name, value] : plan.variables)
    setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : plan.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execv(plan.path.c_str(), arguments.data());
  const int error = errno;
  const bool missing = error == ENOENT || error == ENOTDIR;
  refuse(channel, missing ? kNotFound : kNotExecutable,
         "cannot run '" + plan.path +
             "': " + (error == ENOEXEC ? "not a program (no #! line?)" : std::strerror(error)));
  std::abort();
}

std::string read_all(int channel) {
  std::string text;
  char buffer[512];
  ssize_t count = 0;
  while ((count = read(channel, buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR)) {
    if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

ChildEnd failed(const std::string& why) {
  ChildEnd end;
  end.refusal = why + ": " + std::strerror(errno);
  return end;
}

}  // namespace

ChildEnd run_child(const ChildPlan& plan) {
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) != 0) return failed("cannot make a pipe");
  sigset_t all, mask;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &mask);  // until the handlers know whom to forward to
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    return failed("cannot start a process");
  }
  if (child == 0) become(plan, channel[1], mask, parent);
  child_pid = child;
  install_forwarding(0);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  close(channel[1]);
  const std::string message = read_all(channel[0]);
  close(channel[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  child_pid = 0;
  install_forwarding(SA_RESTART);
  ChildEnd end;
  end.started = message.empty();
  if (!end.started) {
    end.refusal_status = static_cast<unsigned char>(message[0]);
    end.refusal = message.substr(1);
  }
  end.by_signal = WIFSIGNALED(status);
  end.code = end.by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  return end;
}

void end_like(const ChildEnd& end, int status) {
  if (!end.by_signal) std::exit(end.code != 0 ? end.code : status);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(end.code, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, end.code);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(end.code);
  constexpr int kSignalBase = 128;  // what shells make of a signal that did not kill us
  std::exit(kSignalBase + end.code);
}

}  // namespace drgpum::profiler
