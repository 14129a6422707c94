// SPDX-License-Identifier: Apache-2.0
#pragma once
// How calls, places and findings are called in other programs' forms. All texts are valid UTF-8
// with control bytes made visible.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "offline/report/report.h"

namespace drgpum {

// The kernel of a launch, else the function called.
std::string call_words(const Report& report, std::uint32_t api);
std::string object_words(const Report& report, std::uint32_t object);
std::string stream_words(const Evidence& evidence, std::uint32_t stream);  // kNone: no stream
std::string device_words(const Evidence& evidence, std::uint16_t device);
// The call path of a call, innermost first; empty when nothing is known.
std::span<const SourceFrame> frames_of(const Report& report, std::uint32_t api);
// "f at a.cpp:12"; "f" where the file is not known.
std::string frame_words(const SourceFrame& frame);
// All frames, innermost first, joined by " < ".
std::string path_words(const Report& report, std::uint32_t api);

// Places in Report::findings by object, in rank order.
class FindingsByObject {
 public:
  explicit FindingsByObject(const Report& report);
  std::span<const std::uint32_t> of(std::uint32_t object) const;

 private:
  const Report& report_;
  std::vector<std::uint32_t> findings_;  // by object, then by rank
};

}  // namespace drgpum
