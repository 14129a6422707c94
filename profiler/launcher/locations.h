// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the parts of this installation are: all relative to the running program, so a prefix can be
// moved. The build tree has the same shape, but for the emulator's folder.

#include <string>

#include "profiler/options.h"

namespace drgpum::profiler {

struct Locations {
  std::string drgpum;            // PREFIX/bin/drgpum
  std::string run;               // PREFIX/libexec/drgpum/drgpum-run
  std::string injected_library;  // PREFIX/lib/drgpum/libdrgpum.so
  std::string emulator;          // PREFIX/lib/drgpum/emulator, a folder
};

// For a program in PREFIX/<one folder>/<another folder>.
Locations locations_from(const std::string& program_path);

// Of this process.
std::string own_path();

// The first of: the word itself when it has a slash, else the folders of PATH that hold an
// executable file of this name. "" when there is none.
std::string find_program(const std::string& word, const Environment& environment);

}  // namespace drgpum::profiler
