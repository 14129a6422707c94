// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the user asked for, as `drgpum run` hands it to the injected library: DRGPUM_* variables.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "proto/base/result.h"

namespace drgpum::profiler {

enum class Mode : std::uint8_t { kObject, kIntra };
enum class KernelMatch : std::uint8_t { kNameEquals, kNameContains, kRegex };

// One --kernel-regex: kns= (name contains), kne= (name equals) or regex= (POSIX extended). Tried on
// the mangled and on the demangled name.
struct KernelPattern {
  KernelMatch match = KernelMatch::kNameContains;
  std::string text;
};

// Every member has the value that it has without its variable, named beside it.
struct Options {
  std::string output = "drgpum-%a.%p.drgp";  // DRGPUM_OUTPUT, a template: output_name.h
  bool replace_output = false;               // DRGPUM_FORCE=1
  std::uint64_t max_bytes = 0;               // DRGPUM_MAX_SIZE, of the trace; 0: no limit
  Mode mode = Mode::kObject;                 // DRGPUM_MODE=object|intra
  std::vector<KernelPattern> only;           // DRGPUM_KERNEL_REGEX, one a line
  std::vector<KernelPattern> except;         // DRGPUM_KERNEL_REGEX_EXCLUDE, one a line
  std::string whitelist;                     // DRGPUM_WHITELIST, a file of kernel names
  std::uint64_t sampling = 1;                // DRGPUM_KERNEL_SAMPLING: every N-th launch
  std::uint64_t launch_skip = 0;             // DRGPUM_LAUNCH_SKIP, of the matching launches
  std::uint64_t launch_count = UINT64_MAX;   // DRGPUM_LAUNCH_COUNT, after those
  std::uint64_t block_every = 1;             // DRGPUM_BLOCK_SAMPLING: maps of every N-th block
  std::uint64_t map_memory = 0;              // DRGPUM_MAP_MEMORY, bytes; 0: 5 % of the device
  // DRGPUM_CAPTURE_RANGE: what bounds the recording: "cudaProfilerApi" (cudaProfilerStart and Stop,
  // drgpum_start and _stop) or the name of a range; empty: nothing
  std::string capture_range;
  std::uint64_t application_pid = 0;         // DRGPUM_APPLICATION_PID: record only this process
  bool emulated = false;                     // DRGPUM_DEVICE_KIND=emulated
  // DRGPUM_MAP_REDUCTION=device|host: who reduces access maps, the pattern kernels or the host. The
  // kernels, without it, but on the emulated device their native twin, the host's reduction.
  bool device_reduction = true;
  std::string sanitizer_library;             // DRGPUM_SANITIZER_LIB
  std::string report_to;                     // DRGPUM_STATUS_FILE: told the trace and failures
  bool timing = false;                       // DRGPUM_PASS=timing: times, and no accesses
  std::string cupti_library;                 // DRGPUM_CUPTI_LIB, for the timing pass
};

// Value of an environment variable, or nullptr.
using Environment = std::function<const char*(const char* name)>;

// kInvalidArgument names the variable and its value.
Result<Options> options_from(const Environment& environment);

// A number of bytes: digits with an optional K, M, G or T, an optional i and an optional B; all of
// them powers of 1,024 ("64MiB", "64M", "67108864").
Result<std::uint64_t> parse_bytes(const std::string& text);
Result<std::uint64_t> parse_number(const std::string& text);
Result<KernelPattern> parse_kernel_pattern(const std::string& text);

// "key=value" lines of the variables above that are set; for the trace.
std::string options_in_force(const Environment& environment);

}  // namespace drgpum::profiler
