// SPDX-License-Identifier: Apache-2.0
#include "offline/export/export_words.h"

#include <algorithm>
#include <numeric>

#include "offline/report/units.h"

namespace drgpum {

std::string call_words(const Report& report, std::uint32_t api) {
  if (!report.has_call(api)) return "the end";
  const std::string kernel = report.kernel_of(api);
  if (!kernel.empty()) return printable(kernel);
  const std::string& name = report.evidence.names[report.evidence.apis[api].name];
  return name.empty() ? "?" : printable(name);
}

std::string object_words(const Report& report, std::uint32_t object) {
  return printable(report.label(object));
}

std::string stream_words(const Evidence& evidence, std::uint32_t stream) {
  if (stream == kNone) return "no stream";
  const Stream& about = evidence.streams[stream];
  const std::string text = "stream " + std::to_string(about.id);
  if (about.name == 0)
    return about.kind == trace::StreamKind::kLegacyDefault ? text + " (default)" : text;
  return text + " (" + printable(evidence.names[about.name]) + ")";
}

std::string device_words(const Evidence& evidence, std::uint16_t device) {
  const std::string text = "device " + std::to_string(device);
  for (const trace::DeviceRecord& about : evidence.devices)
    if (about.id.value == device && !about.name.empty()) return text + ", " + printable(about.name);
  return text;
}

std::span<const SourceFrame> frames_of(const Report& report, std::uint32_t api) {
  if (!report.has_call(api)) return {};
  const auto path = report.call_paths.find(report.evidence.apis[api].call_path);
  if (path == report.call_paths.end()) return {};
  return path->second.frames;
}

std::string frame_words(const SourceFrame& frame) {
  const std::string function = frame.function.empty() ? "?" : printable(frame.function);
  if (frame.file.empty()) return function;
  return function + " at " + printable(frame.file) + ":" + std::to_string(frame.line);
}

std::string path_words(const Report& report, std::uint32_t api) {
  std::string text;
  for (const SourceFrame& frame : frames_of(report, api))
    text += (text.empty() ? "" : " < ") + frame_words(frame);
  return text;
}

FindingsByObject::FindingsByObject(const Report& report)
    : report_(report), findings_(report.findings.size()) {
  std::iota(findings_.begin(), findings_.end(), 0u);
  std::stable_sort(findings_.begin(), findings_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return report.findings[a].object < report.findings[b].object;
  });
}

std::span<const std::uint32_t> FindingsByObject::of(std::uint32_t object) const {
  const auto before = [&](std::uint32_t f, std::uint32_t o) {
    return report_.findings[f].object < o;
  };
  const auto first = std::lower_bound(findings_.begin(), findings_.end(), object, before);
  const auto last = std::lower_bound(first, findings_.end(), object + 1, before);
  return {first, last};
}

}  // namespace drgpum
