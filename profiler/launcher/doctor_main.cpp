// SPDX-License-Identifier: Apache-2.0
// drgpum-doctor: what `drgpum doctor [APP]` hands over to. Exit status: 0 all well, 1 a problem,
// 2 usage, 3 the program cannot be read.

#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "profiler/launcher/doctor.h"
#include "profiler/launcher/run.h"

namespace {

using namespace drgpum::profiler;

const char* environment(const char* name) {
  return std::getenv(name);
}

void print(const Diagnosis& diagnosis) {
  for (const std::string& line : diagnosis.lines)
    std::printf("%s\n", line.c_str());
}

constexpr const char* kHelp =
    R"(usage: drgpum doctor [PROGRAM]

Says what is installed and, with a program, a library or a Python script, whether it can be
profiled, on which device, and through which hooks its allocators tell what they hand out.

Examples:
  drgpum doctor
  drgpum doctor ./app
  drgpum doctor train.py
)";

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word == "-h" || word == "--help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (argc > 2 || word.starts_with("-")) return fail("usage: drgpum doctor [PROGRAM]", 2);
  const Locations locations = locations_from(own_path());
  const Diagnosis machine = diagnose_machine(locations, environment);
  print(machine);
  if (word.empty()) return machine.has_problem ? 1 : 0;
  std::string path = find_program(word, environment);
  if (path.empty() && access(word.c_str(), R_OK) == 0) path = word;  // a script or library
  if (path.empty()) return fail("'" + word + "' not found", 3);
  auto image = read_program_image(path);
  if (!image) return fail(image.error().message, 3);
  const Diagnosis program = diagnose_program(path, *image, functions_served_by(locations.emulator));
  print(program);
  return machine.has_problem || program.has_problem ? 1 : 0;
}
