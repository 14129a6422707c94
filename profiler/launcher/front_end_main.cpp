// SPDX-License-Identifier: Apache-2.0
// compute-sanitizer: `--tool drgpum` goes to drgpum, everything else to NVIDIA's binary, untouched.

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <unistd.h>

#include "profiler/launcher/child_process.h"
#include "profiler/launcher/front_end.h"
#include "profiler/launcher/locations.h"
#include "profiler/launcher/run.h"

namespace {

using namespace drgpum::profiler;

// Front ends that have handed over already: so two copies on PATH cannot call each other for ever.
constexpr const char* kSeenVariable = "DRGPUM_FRONT_ENDS";

const char* environment(const char* name) {
  return std::getenv(name);
}

int become(const std::string& program, const std::string& name,
           const std::vector<std::string>& arguments) {
  std::vector<char*> words = {const_cast<char*>(name.c_str())};
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  return fail("cannot run '" + program + "': " + std::strerror(errno),
              errno == ENOENT ? kNotFound : kNotExecutable);
}

std::vector<std::string> seen_front_ends() {
  const char* list = environment(kSeenVariable);
  std::stringstream parts(list == nullptr ? "" : list);
  std::vector<std::string> seen;
  std::string part;
  while (std::getline(parts, part, ':'))
    seen.push_back(part);
  return seen;
}

int hand_to_nvidia(const char* name, const std::vector<std::string>& arguments) {
  const std::string real = find_real_compute_sanitizer(own_path(), seen_front_ends(), environment);
  if (real.empty()) {
    return fail(
        "NVIDIA's compute-sanitizer not found; this one only knows --tool drgpum. Put "
        "NVIDIA's on PATH or set DRGPUM_REAL_COMPUTE_SANITIZER",
        kNotFound);
  }
  const char* seen = environment(kSeenVariable);
  setenv(kSeenVariable, ((seen == nullptr ? "" : std::string(seen) + ":") + own_path()).c_str(), 1);
  return become(real, name, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!asks_for_drgpum(arguments)) return hand_to_nvidia(argv[0], arguments);
  auto words = translate_to_run(arguments);
  if (!words) return fail(words.error().message, kToolFailed);
  const std::string own = own_path();
  const Locations locations = locations_from(own.substr(0, own.rfind('/')));
  return become(locations.run, "drgpum-run", *words);
}
