// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/front_end.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include <unistd.h>

namespace drgpum::profiler {
namespace {

// What becomes of an option of NVIDIA's under --tool drgpum.
enum class Fate : unsigned char { kDrop, kPass, kKernels, kRefuse };

struct SharedOption {
  std::string_view name;
  char letter;  // short form, or 0
  bool takes_value;
  Fate fate;
  std::string_view becomes;  // kPass, kKernels: option of drgpum-run; kRefuse: what to use instead
};

constexpr SharedOption kShared[] = {
    {"tool", 0, true, Fate::kDrop, ""},
    {"save", 0, true, Fate::kPass, "--output"},
    {"log-file", 0, true, Fate::kPass, "--log-file"},
    {"kernel-name", 0, true, Fate::kKernels, "--kernel-regex"},
    {"kernel-regex", 0, true, Fate::kKernels, "--kernel-regex"},
    {"kernel-name-exclude", 0, true, Fate::kKernels, "--kernel-regex-exclude"},
    {"kernel-regex-exclude", 0, true, Fate::kKernels, "--kernel-regex-exclude"},
    {"launch-count", 'c', true, Fate::kPass, "--launch-count"},
    {"launch-skip", 's', true, Fate::kPass, "--launch-skip"},
    {"target-processes", 0, true, Fate::kPass, "--target-processes"},
    {"quiet", 'q', false, Fate::kPass, "--quiet"},
    {"help", 'h', false, Fate::kPass, "--help"},
    {"nvtx", 0, true, Fate::kDrop, ""},
    {"launch-timeout", 0, true, Fate::kDrop, ""},
    {"print-limit", 0, true, Fate::kDrop, ""},
    {"demangle", 0, true, Fate::kDrop, ""},
    {"max-connections", 0, true, Fate::kDrop, ""},
    {"port", 0, true, Fate::kDrop, ""},
    {"injection-path", 0, true, Fate::kDrop, ""},
    {"injection-path32", 0, true, Fate::kDrop, ""},
    {"version", 'v', false, Fate::kRefuse, "drgpum --version"},
    {"error-exitcode", 0, true, Fate::kRefuse, "drgpum report --fail-on"},
    {"read", 0, true, Fate::kRefuse, "drgpum report"},
    {"xml", 0, false, Fate::kRefuse, "drgpum report --format json"},
    {"suppressions", 0, true, Fate::kRefuse, "drgpum report --suppressions"},
    // drgpum's own, which keep their names.
    {"output", 'o', true, Fate::kPass, "--output"},
    {"force", 'f', false, Fate::kPass, "--force"},
    {"device", 0, true, Fate::kPass, "--device"},
    {"mode", 0, true, Fate::kPass, "--mode"},
    {"whitelist", 0, true, Fate::kPass, "--whitelist"},
    {"whitelist-peak", 0, false, Fate::kPass, "--whitelist-peak"},
    {"kernel-sampling", 0, true, Fate::kPass, "--kernel-sampling"},
    {"block-sampling", 0, true, Fate::kPass, "--block-sampling"},
    {"capture-range", 0, true, Fate::kPass, "--capture-range"},
    {"hooks", 0, true, Fate::kPass, "--hooks"},
    {"map-memory", 0, true, Fate::kPass, "--map-memory"},
    {"max-size", 0, true, Fate::kPass, "--max-size"},
    {"timing", 0, false, Fate::kPass, "--timing"},
    {"preset", 0, true, Fate::kPass, "--preset"},
    {"device-memory", 0, true, Fate::kPass, "--device-memory"},
    {"devices", 0, true, Fate::kPass, "--devices"},
    {"schedule-seed", 0, true, Fate::kPass, "--schedule-seed"},
    {"fidelity", 0, false, Fate::kPass, "--fidelity"},
};

// Options of NVIDIA's tools that drgpum refuses, but whose value has to be skipped to find --tool.
constexpr std::string_view kOthersWithValue[] = {
    "check-bulk-copy",
    "check-device-heap",
    "check-exit-code",
    "check-warpgroup-mma",
    "coredump-behavior",
    "coredump-name",
    "destroy-on-device-error",
    "force-synchronization-limit",
    "language",
    "num-callers-device",
    "num-callers-host",
    "num-cuda-barriers",
    "preload-library",
    "prefix",
    "print-level",
    "require-cuda-init",
    "strip-paths",
    "target-processes-filter",
    "backtrace-short",
    "show-backtrace",
    "leak-check",
    "padding",
    "report-api-errors",
    "track-stream-ordered-races",
    "racecheck-detect-level",
    "racecheck-memcpy-async",
    "racecheck-trace-sync",
    "racecheck-deadlock-timeout",
    "racecheck-continue-on-deadlock",
    "racecheck-num-workers",
    "racecheck-report",
    "check-api-memory-access",
    "unused-memory-threshold",
    "missing-barrier-init-is-fatal",
    "kill-on-exit",
    "unused-shared-memory-report-limit",
};

struct Option {
  const SharedOption* shared = nullptr;  // null: not one that drgpum knows
  std::string spelling;                  // as given
  bool takes_value = false;
  bool has_inline_value = false;
  std::string value;
};

const SharedOption* find_long(std::string_view name) {
  const SharedOption* found = nullptr;
  for (const SharedOption& option : kShared) {
    if (option.name == name) return &option;
    if (!option.name.starts_with(name)) continue;
    if (found != nullptr) return nullptr;  // ambiguous
    found = &option;
  }
  return found;
}

bool other_takes_value(std::string_view name) {
  return std::any_of(std::begin(kOthersWithValue), std::end(kOthersWithValue),
                     [&](std::string_view other) { return other.starts_with(name); });
}

Option parse_long(const std::string& word) {
  Option option;
  const auto equals = word.find('=');
  option.spelling = word.substr(0, equals);
  const std::string_view name = std::string_view(option.spelling).substr(2);
  option.shared = find_long(name);
  option.has_inline_value = equals != std::string::npos;
  if (option.has_inline_value) option.value = word.substr(equals + 1);
  option.takes_value =
      option.shared != nullptr ? option.shared->takes_value : other_takes_value(name);
  return option;
}

Option parse_short(const std::string& word) {
  Option option;
  option.spelling = word.substr(0, 2);
  for (const SharedOption& shared : kShared) {
    if (shared.letter != 0 && shared.letter == word[1]) option.shared = &shared;
  }
  option.takes_value = option.shared != nullptr && option.shared->takes_value;
  option.has_inline_value = option.takes_value && word.size() > 2;
  if (option.has_inline_value) option.value = word.substr(2);
  return option;
}

struct Parsed {
  std::vector<Option> options;
  std::vector<std::string> program;
};

Parsed parse(const std::vector<std::string>& arguments) {
  Parsed parsed;
  std::size_t at = 0;
  while (at < arguments.size()) {
    const std::string& word = arguments[at];
    if (word.size() < 2 || word[0] != '-') break;
    ++at;
    Option option = word[1] == '-' ? parse_long(word) : parse_short(word);
    if (option.takes_value && !option.has_inline_value && at < arguments.size()) {
      option.value = arguments[at++];
    }
    parsed.options.push_back(std::move(option));
  }
  parsed.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
  return parsed;
}

// "kns=a,regex=b" is two patterns. A comma inside a value stays with it.
std::vector<std::string> split_patterns(const std::string& value) {
  std::vector<std::string> patterns;
  std::stringstream parts(value);
  std::string part;
  while (std::getline(parts, part, ',')) {
    if (patterns.empty() || parse_kernel_pattern(part)) {
      patterns.push_back(part);
    } else {
      patterns.back() += "," + part;
    }
  }
  return patterns;
}

std::string resolved(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  const std::string result = real == nullptr ? "" : real;
  std::free(real);
  return result;
}

}  // namespace

bool asks_for_drgpum(const std::vector<std::string>& arguments) {
  std::string tool;
  for (const Option& option : parse(arguments).options) {
    if (option.shared != nullptr && option.shared->name == "tool") tool = option.value;
  }
  return tool == "drgpum";
}

Result<std::vector<std::string>> translate_to_run(const std::vector<std::string>& arguments) {
  const Parsed parsed = parse(arguments);
  std::vector<std::string> words;
  for (const Option& option : parsed.options) {
    const bool known = option.shared != nullptr;
    const Fate fate = known ? option.shared->fate : Fate::kRefuse;
    if (fate == Fate::kDrop) continue;
    if (fate == Fate::kRefuse) {
      const bool has_other = known && !option.shared->becomes.empty();
      return Error{ErrorCode::kInvalidArgument,
                   "option " + option.spelling + " has no meaning for --tool drgpum" +
                       (has_other ? "; use `" + std::string(option.shared->becomes) + "`" : "")};
    }
    const std::string becomes(option.shared->becomes);
    const bool no_limit = option.shared->name == "launch-count" && option.value == "0";
    if (no_limit) continue;
    if (fate == Fate::kKernels) {
      for (const std::string& pattern : split_patterns(option.value)) {
        words.push_back(becomes + "=" + pattern);
      }
    } else {
      words.push_back(option.takes_value ? becomes + "=" + option.value : becomes);
    }
  }
  words.emplace_back("--");
  words.insert(words.end(), parsed.program.begin(), parsed.program.end());
  return words;
}

std::string find_real_compute_sanitizer(const std::string& own_path,
                                        const std::vector<std::string>& front_ends,
                                        const Environment& environment) {
  const char* chosen = environment("DRGPUM_REAL_COMPUTE_SANITIZER");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  const auto is_other = [&](const std::string& file) {
    const std::string real = resolved(file);
    return access(file.c_str(), X_OK) == 0 && real != resolved(own_path) &&
           std::find(front_ends.begin(), front_ends.end(), real) == front_ends.end();
  };
  const char* path = environment("PATH");
  std::stringstream folders(path == nullptr ? "" : path);
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const std::string file = folder + "/compute-sanitizer";
    if (is_other(file)) return file;
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* root = environment(variable);
    if (root == nullptr || *root == '\0') continue;
    for (const char* sub : {"/compute-sanitizer/compute-sanitizer", "/bin/compute-sanitizer"}) {
      if (is_other(root + std::string(sub))) return root + std::string(sub);
    }
  }
  const std::string usual = "/usr/local/cuda/compute-sanitizer/compute-sanitizer";
  return is_other(usual) ? usual : "";
}

}  // namespace drgpum::profiler
