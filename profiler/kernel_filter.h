// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which kernels and which of their launches are observed.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "profiler/options.h"
#include "proto/base/result.h"
#include "proto/base/strong_id.h"

namespace drgpum::profiler {

// The demangled form of a C++ name, or the name itself.
std::string demangled(const std::string& name);

// By name: --kernel-regex, --kernel-regex-exclude, --whitelist. Without any, every kernel passes.
class KernelFilter {
 public:
  // kInvalidArgument: a regular expression that does not compile, a whitelist that cannot be read.
  static Result<KernelFilter> make(const Options& options);

  [[nodiscard]] bool passes(const std::string& mangled) const;
  [[nodiscard]] bool passes_all() const { return only_.empty() && except_.empty() && !listed_; }

 private:
  std::vector<KernelPattern> only_;
  std::vector<KernelPattern> except_;
  bool listed_ = false;
  std::unordered_set<std::string> whitelist_;  // mangled or demangled, with or without parameters
};

// By number: --launch-skip, --launch-count, --kernel-sampling. Counts the launches of kernels that
// passed the filter; of each kernel and call path it takes the first and then every N-th.
class LaunchSampler {
 public:
  explicit LaunchSampler(const Options& options)
      : skip_(options.launch_skip), count_(options.launch_count), every_(options.sampling) {}

  bool takes(KernelId kernel, CallPathId path);

 private:
  std::uint64_t skip_;
  std::uint64_t count_;
  std::uint64_t every_;
  std::uint64_t seen_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> launches_;  // (kernel, path) -> so far
};

// Names of the kernels in a device module's image, a cubin or PTX text; empty when none is found.
std::vector<std::string> kernel_names_in(std::string_view image);

// log2 of the narrowest access that the kernels of a module may make, 2 (4 bytes) at most. Read off
// PTX; machine code does not say it in plain, and gives 2.
std::uint32_t narrowest_access_shift(std::string_view image);

}  // namespace drgpum::profiler
