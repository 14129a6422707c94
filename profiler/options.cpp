// SPDX-License-Identifier: Apache-2.0
#include "profiler/options.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace drgpum::profiler {
namespace {

Error invalid(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

Result<std::uint64_t> unit_factor(std::string_view unit) {
  constexpr std::string_view kPrefixes = "KMGT";
  if (unit.ends_with('B') || unit.ends_with('b')) unit.remove_suffix(1);
  if (unit.ends_with('i')) unit.remove_suffix(1);
  if (unit.empty()) return std::uint64_t{1};
  const auto power =
      kPrefixes.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
  if (unit.size() != 1 || power == std::string_view::npos) return invalid("unknown unit");
  return std::uint64_t{1} << (10 * (power + 1));
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (end != 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

Status read_patterns(std::string_view text, std::vector<KernelPattern>* patterns) {
  for (const std::string& line : lines_of(text)) {
    ASSIGN_OR_RETURN(KernelPattern pattern, parse_kernel_pattern(line));
    patterns->push_back(std::move(pattern));
  }
  return Ok{};
}

Status read_number(const std::string& text, std::uint64_t* number) {
  ASSIGN_OR_RETURN(*number, parse_number(text));
  return Ok{};
}

Status read_positive(const std::string& text, std::uint64_t* number) {
  RETURN_IF_ERROR(read_number(text, number));
  if (*number == 0) return invalid("must be 1 or more");
  return Ok{};
}

Status read_bytes(const std::string& text, std::uint64_t* bytes) {
  ASSIGN_OR_RETURN(*bytes, parse_bytes(text));
  return Ok{};
}

// `flag` says whether the value was the second of the two words.
Status read_choice(std::string_view text, std::string_view off, std::string_view on, bool* flag) {
  if (text != off && text != on) {
    return invalid("must be " + std::string(off) + " or " + std::string(on));
  }
  *flag = text == on;
  return Ok{};
}

Status read_mode(std::string_view text, Mode* mode) {
  bool intra = false;
  RETURN_IF_ERROR(read_choice(text, "object", "intra", &intra));
  *mode = intra ? Mode::kIntra : Mode::kObject;
  return Ok{};
}

Status read_device(std::string_view text, Options* options) {
  RETURN_IF_ERROR(read_choice(text, "gpu", "emulated", &options->emulated));
  options->device_reduction = !options->emulated;
  return Ok{};
}

struct Variable {
  const char* name;
  Status (*read)(const std::string& value, Options* options);
};

constexpr Variable kVariables[] = {
    {"DRGPUM_OUTPUT",
     [](const std::string& v, Options* o) -> Status { return o->output = v, Ok{}; }},
    {"DRGPUM_FORCE",
     [](const std::string& v, Options* o) { return read_choice(v, "0", "1", &o->replace_output); }},
    {"DRGPUM_MAX_SIZE",
     [](const std::string& v, Options* o) { return read_bytes(v, &o->max_bytes); }},
    {"DRGPUM_MODE", [](const std::string& v, Options* o) { return read_mode(v, &o->mode); }},
    {"DRGPUM_KERNEL_REGEX",
     [](const std::string& v, Options* o) { return read_patterns(v, &o->only); }},
    {"DRGPUM_KERNEL_REGEX_EXCLUDE",
     [](const std::string& v, Options* o) { return read_patterns(v, &o->except); }},
    {"DRGPUM_WHITELIST",
     [](const std::string& v, Options* o) -> Status { return o->whitelist = v, Ok{}; }},
    {"DRGPUM_KERNEL_SAMPLING",
     [](const std::string& v, Options* o) { return read_positive(v, &o->sampling); }},
    {"DRGPUM_LAUNCH_SKIP",
     [](const std::string& v, Options* o) { return read_number(v, &o->launch_skip); }},
    {"DRGPUM_LAUNCH_COUNT",
     [](const std::string& v, Options* o) { return read_number(v, &o->launch_count); }},
    {"DRGPUM_MAP_MEMORY",
     [](const std::string& v, Options* o) { return read_bytes(v, &o->map_memory); }},
    {"DRGPUM_BLOCK_SAMPLING",
     [](const std::string& v, Options* o) { return read_positive(v, &o->block_every); }},
    {"DRGPUM_CAPTURE_RANGE",
     [](const std::string& v, Options* o) -> Status {
       return o->capture_range = v == "none" ? "" : v, Ok{};
     }},
    {"DRGPUM_APPLICATION_PID",
     [](const std::string& v, Options* o) { return read_number(v, &o->application_pid); }},
    {"DRGPUM_DEVICE_KIND",
     [](const std::string& v, Options* o) { return read_device(v, o); }},
    // After the kind of the device, which decides it otherwise.
    {"DRGPUM_MAP_REDUCTION",
     [](const std::string& v, Options* o) {
       return read_choice(v, "host", "device", &o->device_reduction);
     }},
    {"DRGPUM_SANITIZER_LIB",
     [](const std::string& v, Options* o) -> Status { return o->sanitizer_library = v, Ok{}; }},
    {"DRGPUM_STATUS_FILE",
     [](const std::string& v, Options* o) -> Status { return o->report_to = v, Ok{}; }},
    {"DRGPUM_PASS",
     [](const std::string& v, Options* o) {
       return read_choice(v, "access", "timing", &o->timing);
     }},
    {"DRGPUM_CUPTI_LIB",
     [](const std::string& v, Options* o) -> Status { return o->cupti_library = v, Ok{}; }},
};

}  // namespace

Result<std::uint64_t> parse_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
    return invalid("'" + text + "' is not a whole number");
  }
  errno = 0;
  const std::uint64_t number = std::strtoull(text.c_str(), nullptr, 10);
  if (errno != 0) return invalid("'" + text + "' is too large");
  return number;
}

Result<std::uint64_t> parse_bytes(const std::string& text) {
  const auto digits = text.find_first_not_of("0123456789");
  ASSIGN_OR_RETURN(const std::uint64_t number, parse_number(text.substr(0, digits)));
  if (digits == std::string::npos) return number;
  auto factor = unit_factor(std::string_view(text).substr(digits));
  if (!factor) return invalid("'" + text + "' is not a size such as 64MiB");
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(number, *factor, &bytes))
    return invalid("'" + text + "' is too large");
  return bytes;
}

Result<KernelPattern> parse_kernel_pattern(const std::string& text) {
  constexpr std::pair<std::string_view, KernelMatch> kForms[] = {
      {"kns=", KernelMatch::kNameContains},
      {"kne=", KernelMatch::kNameEquals},
      {"kernel_substring=", KernelMatch::kNameContains},
      {"kernel_name=", KernelMatch::kNameEquals},
      {"regex=", KernelMatch::kRegex},
  };
  for (const auto& [prefix, match] : kForms) {
    if (text.starts_with(prefix)) return KernelPattern{match, text.substr(prefix.size())};
  }
  return invalid("'" + text + "' must begin with kns=, kne= or regex=");
}

Result<Options> options_from(const Environment& environment) {
  Options options;
  for (const Variable& variable : kVariables) {
    const char* value = environment(variable.name);
    if (value == nullptr || *value == '\0') continue;
    if (auto status = variable.read(value, &options); !status) {
      return std::move(status).error().while_doing(std::string(variable.name) + "=" + value);
    }
  }
  return options;
}

std::string options_in_force(const Environment& environment) {
  std::string lines;
  for (const Variable& variable : kVariables) {
    const char* value = environment(variable.name);
    if (value != nullptr && *value != '\0') {
      lines += std::string(variable.name) + "=" + value + "\n";
    }
  }
  return lines;
}

}  // namespace drgpum::profiler
