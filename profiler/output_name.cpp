// SPDX-License-Identifier: Apache-2.0
#include "profiler/output_name.h"

#include <climits>

#include <unistd.h>

namespace drgpum::profiler {
namespace {

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "unknown";
  return name;
}

std::string application_name() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return "unknown";
  const std::string whole(path, static_cast<std::size_t>(length));
  return whole.substr(whole.rfind('/') + 1);
}

Error bad_template(const std::string& name_template, const std::string& what) {
  return {ErrorCode::kInvalidArgument,
          "output name '" + name_template + "': " + what +
              "; known are %p (pid), %h (host), %r (rank), %a (application), %q{VARIABLE} and %%"};
}

}  // namespace

ProcessIdentity this_process() {
  return {static_cast<std::uint64_t>(getpid()), host_name(), application_name()};
}

std::string rank_of(const Environment& environment) {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    if (const char* value = environment(name); value != nullptr && *value != '\0') return value;
  }
  return "";
}

Result<std::string> expand_output_name(const std::string& name_template,
                                       const ProcessIdentity& process,
                                       const Environment& environment) {
  std::string name;
  for (std::size_t at = 0; at < name_template.size(); ++at) {
    if (name_template[at] != '%') {
      name += name_template[at];
      continue;
    }
    const char kind = at + 1 < name_template.size() ? name_template[++at] : '\0';
    if (kind == '%') {
      name += '%';
    } else if (kind == 'p') {
      name += std::to_string(process.pid);
    } else if (kind == 'h') {
      name += process.host;
    } else if (kind == 'a') {
      name += process.application;
    } else if (kind == 'r') {
      const std::string rank = rank_of(environment);
      name += rank.empty() ? "0" : rank;
    } else if (kind == 'q') {
      const auto end = name_template.find('}', at);
      if (name_template.compare(at + 1, 1, "{") != 0 || end == std::string::npos) {
        return bad_template(name_template, "%q needs a {VARIABLE}");
      }
      const char* value = environment(name_template.substr(at + 2, end - at - 2).c_str());
      name += value == nullptr ? "" : value;
      at = end;
    } else {
      return bad_template(name_template,
                          kind == '\0' ? "ends in %" : std::string("unknown %") + kind);
    }
  }
  return name;
}

}  // namespace drgpum::profiler
