// SPDX-License-Identifier: Apache-2.0
// `drgpum VERB ...`: calls the verb, or starts the program of that name.
//
// A verb that another room provides is a program drgpum-VERB beside this one or in
// ../libexec/drgpum, found from where this program lies.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "offline/cli/verbs.h"

namespace drgpum {
namespace {

constexpr std::array kVerbs{
    Verb{"report", "what wastes memory in a trace, and what each fix saves", report_main},
    Verb{"annotate", "a source file with what its lines allocate and access", annotate_main},
    Verb{"bundle", "a trace and all that its report needs, in one file", bundle_main},
    Verb{"diff", "what changed from one run to another", diff_main},
    Verb{"export", "a trace in other programs' forms", export_main},
    Verb{"view", "a trace as a page in the browser, or in one HTML file", view_main},
    Verb{"import", "a memory snapshot of PyTorch as a trace", import_main},
    Verb{"plan", "lay out objects in one pool, as small as can be", plan_main},
    Verb{"info", "what a trace holds and how much of it is there", info_main},
};

struct OtherVerb {
  std::string_view name;
  std::string_view summary;
};
constexpr std::array kOtherVerbs{
    OtherVerb{"run", "run a program and record its GPU memory"},
    OtherVerb{"doctor", "what this machine or a program lacks, and the remedy"},
};

void print_usage(std::FILE* to) {
  std::fputs("usage: drgpum VERB [OPTIONS] ...\n\nVerbs:\n", to);
  const auto line = [&](std::string_view name, std::string_view summary) {
    std::fprintf(to, "  %-10.*s %.*s\n", static_cast<int>(name.size()), name.data(),
                 static_cast<int>(summary.size()), summary.data());
  };
  for (const OtherVerb& verb : kOtherVerbs)
    line(verb.name, verb.summary);
  for (const Verb& verb : kVerbs)
    line(verb.name, verb.summary);
  std::fputs(
      "\nExamples:\n"
      "  drgpum run -o app.drgp ./app && drgpum report app.drgp\n"
      "  drgpum report app.drgp --fail-on 'peak>1GiB'\n"
      "\n`drgpum VERB --help` says more.\n",
      to);
}

// Replaces this process; returns only when there is no such program.
void start_program(const std::string& verb, char** argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = self.parent_path();
  for (const auto& folder : {beside, beside / "../libexec/drgpum"}) {
    const std::string program = (folder / ("drgpum-" + verb)).string();
    if (::access(program.c_str(), X_OK) != 0) continue;
    ::execv(program.c_str(), argv);
    std::fprintf(stderr, "drgpum: %s: %s\n", program.c_str(), std::strerror(errno));
    return;
  }
}

int run(int argc, char** argv) {
  if (argc < 2) {
    print_usage(stderr);
    return kExitUsage;
  }
  const std::string verb = argv[1];
  if (verb == "--help" || verb == "-h" || verb == "help") {
    print_usage(stdout);
    return kExitOk;
  }
  if (verb == "--version") {
    std::puts("drgpum " DRGPUM_VERSION);
    return kExitOk;
  }
  for (const Verb& known : kVerbs)
    if (known.name == verb) return known.main(argc - 1, argv + 1);
  const bool is_name = verb.find('/') == std::string::npos && verb.front() != '-';
  if (is_name) start_program(verb, argv + 1);
  std::fprintf(stderr, "drgpum: there is no verb '%s' here; `drgpum --help` lists them\n",
               verb.c_str());
  return kExitUsage;
}

}  // namespace
}  // namespace drgpum

int main(int argc, char** argv) {
  return drgpum::run(argc, argv);
}
