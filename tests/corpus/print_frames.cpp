// SPDX-License-Identifier: Apache-2.0
// print_frames FILE [SYMBOL_PATH...]: reads addresses of an ELF file, one hexadecimal number a line,
// rising, and prints for each "0xADDRESS" and its frames, innermost first, as "FUNCTION\tFILE:LINE".
// For host_lines.py.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "offline/source/symbolize_module.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: print_frames FILE [SYMBOL_PATH...] < ADDRESSES\n");
    return 2;
  }
  drgpum::ModuleRequest request;
  request.path = argv[1];
  request.symbol_paths.assign(argv + 2, argv + argc);
  for (std::string line; std::getline(std::cin, line);)
    request.addresses.push_back(std::strtoull(line.c_str(), nullptr, 16));
  const drgpum::ModuleLines lines =
      drgpum::symbolize_module(request, drgpum::limits_for(request.path));
  if (!lines.problem.empty()) std::fprintf(stderr, "%s: %s\n", argv[1], lines.problem.c_str());
  for (std::size_t k = 0; k < request.addresses.size(); ++k) {
    std::printf("0x%llx\n", static_cast<unsigned long long>(request.addresses[k]));
    for (const drgpum::AddressFrame& frame : lines.frames[k])
      std::printf("%s\t%s:%u\n", frame.function.c_str(), frame.file.c_str(), frame.line);
  }
  return 0;
}
