// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/command_line.h"

#include <algorithm>

#include "profiler/options.h"

namespace drgpum::profiler {

const char* const kRunHelp =
    R"(usage: drgpum run [OPTIONS] [--] PROGRAM [ARGUMENTS...]

Runs a CUDA program, records what it does with GPU memory, and reports the most important findings
on standard error. The program's input, output, signals and exit status pass through.

  -o, --output FILE           trace to write; %a application, %p pid, %h host, %r rank,
                              %q{VARIABLE} (default drgpum-%a.%p.drgp)
  -f, --force                 replace an existing trace
  -q, --quiet                 no report afterwards
  --log-file FILE             write the report there and not on standard error
  --device auto|gpu|emulated  where kernels run; auto takes a GPU that is there
  --mode object|intra         object: which objects each launch touches; intra: also which parts
  --kernel-regex P            observe only kernels with kns=SUBSTRING, kne=NAME or regex=EXPRESSION
                              in their name; repeatable
  --kernel-regex-exclude P    do not observe these; repeatable
  --whitelist FILE            observe only the kernels named in FILE, one a line
  --kernel-sampling N         observe the first and every N-th launch of each kernel and call path
  --launch-skip N             do not observe the first N launches
  --launch-count N            observe no more than N launches
  --capture-range none|cudaProfilerApi|NAME
                              observe launches only between cudaProfilerStart and cudaProfilerStop,
                              or inside the NVTX ranges of this name (NAME@DOMAIN in a domain)
  --hooks on|off              take in what programs tell of pools, tensors, names and ranges by
                              NVTX, PyTorch's allocator and Kokkos (default on)
  --block-sampling N          access maps of one block in N only: cheaper, and no finding is proven
  --whitelist-peak            run the program twice: first to find the kernel whose objects sum to
                              the most bytes, its output thrown away, then to observe that kernel
                              (--mode intra unless told otherwise)
  --map-memory BYTES          device memory that the tool may take (default 5 % of the device)
  --max-size BYTES            stop recording when the trace is this large
  --timing                    run the program once more, its output thrown away and without patches,
                              for the times of kernels, copies and sets; plans and timelines use
                              them
  --target-processes all|application-only
Emulated device:
  --preset NAME               the device to imitate
  --device-memory BYTES       its memory
  --devices N                 how many
  --schedule-seed N           another order of blocks and warps; 0 is in order
  --fidelity                  run the tool's own device code instead of its native twin

Exit status: the program's; 125 when drgpum itself fails, 126 when PROGRAM cannot be executed, 127
when it is not found.

Examples:
  drgpum run ./app input.txt
  drgpum run --capture-range epoch python train.py
  drgpum run --device emulated -o /tmp/%a.drgp --kernel-regex kns=gemm -- ./app --size 1024
)";

namespace {

using Check = Status (*)(const std::string& value);

Status check_bytes(const std::string& value) {
  auto bytes = parse_bytes(value);
  if (!bytes) return std::move(bytes).error();
  return Ok{};
}

Status check_number(const std::string& value) {
  auto number = parse_number(value);
  if (!number) return std::move(number).error();
  return Ok{};
}

Status check_pattern(const std::string& value) {
  auto pattern = parse_kernel_pattern(value);
  if (!pattern) return std::move(pattern).error();
  return Ok{};
}

Status check_any(const std::string&) {
  return Ok{};
}

Status one_of(const std::string& value, std::initializer_list<const char*> words) {
  std::string list;
  for (const char* word : words) {
    if (value == word) return Ok{};
    list += (list.empty() ? "" : ", ") + std::string(word);
  }
  return Error{ErrorCode::kInvalidArgument, "'" + value + "' is none of " + list};
}

// Options that travel to the program as a variable. `repeats`: values are lines of one variable.
struct PassedOption {
  const char* name;
  const char* variable;
  Check check;
  bool repeats = false;
  bool emulated_only = false;
};

constexpr PassedOption kPassed[] = {
    {"--mode", "DRGPUM_MODE",
     [](const std::string& v) {
       return one_of(v, {"object", "intra"});
     }},
    {"--kernel-regex", "DRGPUM_KERNEL_REGEX", check_pattern, true},
    {"--kernel-regex-exclude", "DRGPUM_KERNEL_REGEX_EXCLUDE", check_pattern, true},
    {"--whitelist", "DRGPUM_WHITELIST", check_any},
    {"--kernel-sampling", "DRGPUM_KERNEL_SAMPLING", check_number},
    {"--block-sampling", "DRGPUM_BLOCK_SAMPLING", check_number},
    {"--launch-skip", "DRGPUM_LAUNCH_SKIP", check_number},
    {"--launch-count", "DRGPUM_LAUNCH_COUNT", check_number},
    {"--capture-range", "DRGPUM_CAPTURE_RANGE", check_any},
    {"--map-memory", "DRGPUM_MAP_MEMORY", check_bytes},
    {"--max-size", "DRGPUM_MAX_SIZE", check_bytes},
    {"--preset", "DRGPUM_EMULATOR_PRESET", check_any, false, true},
    {"--device-memory", "DRGPUM_EMULATOR_DEVICE_MEMORY", check_bytes, false, true},
    {"--devices", "DRGPUM_EMULATOR_DEVICES", check_number, false, true},
    {"--schedule-seed", "DRGPUM_EMULATOR_SCHEDULE_SEED", check_number, false, true},
};

Error usage(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message) + " (see drgpum run --help)"};
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  Result<RunRequest> parse() {
    while (at_ < arguments_.size() && !request_.help) {
      const std::string& word = arguments_[at_];
      if (word == "--") {
        ++at_;
        break;
      }
      if (word.size() < 2 || word[0] != '-') break;
      ++at_;
      RETURN_IF_ERROR(take(word));
    }
    request_.program.assign(arguments_.begin() + static_cast<std::ptrdiff_t>(at_),
                            arguments_.end());
    if (request_.program.empty() && !request_.help) return usage("no program to run");
    if (request_.device == DeviceChoice::kGpu && request_.asks_for_emulation) {
      return usage(emulated_option_ + " is an option of the emulated device");
    }
    return std::move(request_);
  }

 private:
  Status take(const std::string& word) {
    const auto equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    inline_value_ = equals == std::string::npos ? nullptr : &word;
    value_at_ = equals + 1;
    if (take_flag(name)) {
      if (inline_value_ != nullptr) return usage(name + " takes no value");
      return Ok{};
    }
    if (name == "-o" || name == "--output") return value_of(name, &request_.output);
    if (name == "--log-file") return value_of(name, &request_.log_file);
    if (name == "--device") return take_device(name);
    if (name == "--target-processes") return take_processes(name);
    if (name == "--hooks") return take_hooks(name);
    for (const PassedOption& option : kPassed) {
      if (name == option.name) return take_passed(option);
    }
    return usage("unknown option " + name);
  }

  bool take_flag(const std::string& name) {
    if (name == "-f" || name == "--force") return request_.force = true;
    if (name == "--timing") return request_.timing = true;
    if (name == "--whitelist-peak") return request_.whitelist_peak = true;
    if (name == "-q" || name == "--quiet") return request_.quiet = true;
    if (name == "-h" || name == "--help") return request_.help = true;
    if (name != "--fidelity") return false;
    request_.variables.emplace_back("DRGPUM_EMULATOR_FIDELITY", "1");
    request_.variables.emplace_back("DRGPUM_MAP_REDUCTION", "device");
    emulated_option_ = name;
    return request_.asks_for_emulation = true;
  }

  Status value_of(const std::string& name, std::string* value) {
    if (inline_value_ != nullptr) {
      *value = inline_value_->substr(value_at_);
    } else if (at_ < arguments_.size()) {
      *value = arguments_[at_++];
    } else {
      return usage(name + " needs a value");
    }
    if (value->empty()) return usage(name + " needs a value");
    return Ok{};
  }

  Status take_device(const std::string& name) {
    std::string value;
    RETURN_IF_ERROR(value_of(name, &value));
    if (auto status = one_of(value, {"auto", "gpu", "emulated"}); !status) {
      return usage(name + ": " + status.error().message);
    }
    request_.device = value == "gpu"        ? DeviceChoice::kGpu
                      : value == "emulated" ? DeviceChoice::kEmulated
                                            : DeviceChoice::kAuto;
    return Ok{};
  }

  Status take_processes(const std::string& name) {
    std::string value;
    RETURN_IF_ERROR(value_of(name, &value));
    if (auto status = one_of(value, {"all", "application-only"}); !status) {
      return usage(name + ": " + status.error().message);
    }
    request_.application_only = value == "application-only";
    return Ok{};
  }

  Status take_hooks(const std::string& name) {
    std::string value;
    RETURN_IF_ERROR(value_of(name, &value));
    if (auto status = one_of(value, {"on", "off"}); !status) {
      return usage(name + ": " + status.error().message);
    }
    request_.hooks = value == "on";
    return Ok{};
  }

  Status take_passed(const PassedOption& option) {
    std::string value;
    RETURN_IF_ERROR(value_of(option.name, &value));
    if (auto status = option.check(value); !status) {
      return usage(std::string(option.name) + ": " + status.error().message);
    }
    if (option.emulated_only) {
      request_.asks_for_emulation = true;
      emulated_option_ = option.name;
    }
    auto& variables = request_.variables;
    const auto known = std::find_if(variables.begin(), variables.end(), [&](const auto& variable) {
      return variable.first == option.variable;
    });
    if (known == variables.end()) {
      variables.emplace_back(option.variable, value);
    } else {
      known->second = option.repeats ? known->second + "\n" + value : value;
    }
    return Ok{};
  }

  const std::vector<std::string>& arguments_;
  std::size_t at_ = 0;
  const std::string* inline_value_ = nullptr;  // the word that holds --option=value
  std::size_t value_at_ = 0;
  std::string emulated_option_;
  RunRequest request_;
};

}  // namespace

Result<RunRequest> parse_run_arguments(const std::vector<std::string>& arguments) {
  return Parser(arguments).parse();
}

}  // namespace drgpum::profiler
