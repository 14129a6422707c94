// SPDX-License-Identifier: Apache-2.0
#include "profiler/timing/cupti_library.h"

#include "profiler/toolkits.h"

namespace drgpum::profiler {

std::vector<std::string> cupti_library_candidates(const Environment& environment) {
  const char* chosen = environment("DRGPUM_CUPTI_LIB");
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  std::vector<std::string> folders;
  for (const std::string& root : toolkit_roots(environment)) {
    for (const char* sub : {"/extras/CUPTI/lib64/", "/lib64/", "/lib/"}) {
      folders.push_back(root + sub);
    }
  }
  return readable_files(folders, "libcupti.so.13");
}

}  // namespace drgpum::profiler
