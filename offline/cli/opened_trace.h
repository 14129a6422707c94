// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a path on the command line stands for: a trace, or a bundle, which is unpacked for as long
// as it is needed.

#include <map>
#include <string>
#include <vector>

#include "proto/base/result.h"

namespace drgpum {

struct OpenedTrace {
  std::string trace;   // to load
  std::string folder;  // of a bundle: lines of modules, images of device code; else empty
};

class OpenedTraces {
 public:
  OpenedTraces() = default;
  OpenedTraces(const OpenedTraces&) = delete;
  OpenedTraces& operator=(const OpenedTraces&) = delete;
  ~OpenedTraces();  // removes what was unpacked

  // Does not look at a trace. Errors: the bundle is damaged, or there is no room for it.
  Result<OpenedTrace> open(const std::string& path);

  // Source files of the bundles, by their path in reports.
  [[nodiscard]] const std::map<std::string, std::string>& sources() const { return sources_; }

 private:
  std::vector<std::string> folders_;
  std::map<std::string, std::string> sources_;
};

}  // namespace drgpum
