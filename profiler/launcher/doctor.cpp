// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/doctor.h"

#include <unistd.h>

#include "profiler/launcher/device_choice.h"
#include "profiler/sanitizer_library.h"

namespace drgpum::profiler {
namespace {

void ok(Diagnosis* diagnosis, const std::string& text) {
  diagnosis->lines.push_back("ok: " + text);
}
void note(Diagnosis* diagnosis, const std::string& text) {
  diagnosis->lines.push_back("note: " + text);
}
void problem(Diagnosis* diagnosis, const std::string& text) {
  diagnosis->lines.push_back("problem: " + text);
  diagnosis->has_problem = true;
}

bool readable(const std::string& path) {
  return access(path.c_str(), R_OK) == 0;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string architectures(const std::vector<std::uint32_t>& list, const char* prefix) {
  std::vector<std::string> words;
  for (const std::uint32_t architecture : list) {
    words.push_back(prefix + std::to_string(architecture));
  }
  return joined(words);
}

void diagnose_runtime(const ProgramImage& image, Diagnosis* diagnosis) {
  const std::string shared = image.shared_runtime();
  if (!shared.empty()) {
    ok(diagnosis, "shared CUDA runtime (" + shared + ")");
  } else if (image.has_device_code) {
    note(diagnosis, "the CUDA runtime is linked in: works on a GPU, not on the emulated device");
  } else {
    note(diagnosis,
         "no CUDA runtime and no device code in the program itself; its libraries or "
         "modules may have them");
  }
}

void diagnose_device_code(const ProgramImage& image, Diagnosis* diagnosis) {
  if (image.ptx_images != 0) {
    ok(diagnosis, "PTX for " + architectures(image.ptx_architectures, "compute_"));
  }
  if (image.machine_code_images != 0) {
    note(diagnosis, "machine code for " + architectures(image.machine_code_architectures, "sm_"));
  }
}

void diagnose_hooks(const ProgramImage& image, Diagnosis* diagnosis) {
  for (const std::string& line : describe_hooks(image.hooks))
    (image.hooks.empty() ? note : ok)(diagnosis, line);
}

}  // namespace

Diagnosis diagnose_machine(const Locations& locations, const Environment& environment) {
  Diagnosis diagnosis;
  if (readable(locations.injected_library)) {
    ok(&diagnosis, "injected library " + locations.injected_library);
  } else {
    problem(&diagnosis, "'" + locations.injected_library + "' is missing; install drgpum again");
  }
  if (has_gpu()) {
    ok(&diagnosis, "an NVIDIA GPU answers");
    const auto libraries = sanitizer_library_candidates(environment);
    if (libraries.empty()) {
      problem(&diagnosis,
              "libsanitizer-public.so not found; install the CUDA toolkit's "
              "compute-sanitizer, or set CUDA_HOME or DRGPUM_SANITIZER_LIB");
    } else {
      ok(&diagnosis, "Sanitizer library " + libraries.front());
    }
  } else {
    note(&diagnosis, "no NVIDIA GPU answers: programs run on the emulated device");
  }
  if (readable(locations.emulator + "/libcuda.so.1")) {
    ok(&diagnosis, "emulated device in " + locations.emulator);
  } else {
    problem(&diagnosis, "no emulated device in '" + locations.emulator + "'; install drgpum again");
  }
  return diagnosis;
}

Diagnosis diagnose_program(const std::string& path, const ProgramImage& image,
                           const std::set<std::string>& served) {
  Diagnosis diagnosis;
  if (!image.is_elf) {
    note(&diagnosis, "'" + path + "' is no ELF program; what it starts decides");
    if (!image.hooks.empty()) diagnose_hooks(image, &diagnosis);
    return diagnosis;
  }
  diagnose_runtime(image, &diagnosis);
  diagnose_device_code(image, &diagnosis);
  diagnose_hooks(image, &diagnosis);
  if (auto status = check_for_emulation(path, image); !status) {
    problem(&diagnosis, "emulated device: " + status.error().message);
  }
  std::vector<std::string> missing;
  for (const std::string& name : image.cuda_imports) {
    if (!served.empty() && !served.contains(name)) missing.push_back(name);
  }
  if (!missing.empty()) {
    problem(&diagnosis, "the emulated device lacks " + joined(missing) +
                            "; the program will not start there, run it on a GPU");
  }
  if (!diagnosis.has_problem) ok(&diagnosis, "can run on the emulated device");
  return diagnosis;
}

std::set<std::string> functions_served_by(const std::string& emulator_folder) {
  std::set<std::string> names;
  for (const char* library : {"/libcudart.so.13", "/libcuda.so.1"}) {
    if (auto image = read_program_image(emulator_folder + library)) {
      names.insert(image->cuda_exports.begin(), image->cuda_exports.end());
    }
  }
  return names;
}

}  // namespace drgpum::profiler
