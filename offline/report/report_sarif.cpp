// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <ostream>

#include "offline/patterns/explain.h"
#include "offline/patterns/patterns.h"
#include "offline/report/json_writer.h"
#include "offline/report/report_formats.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

// Code hosts show 5,000 results, refuse 25,000, and refuse files of more than 10 MB, compressed.
constexpr std::size_t kMaxResults = 5000;
constexpr std::size_t kMaxText = 1000;  // bytes of one text: names of templates have no end

// Percent-encoded; relative to a source root where the file lies below one, else absolute.
std::string uri_of(const std::string& file, const std::vector<std::string>& roots) {
  std::string path = file;
  bool relative = file.empty() || file.front() != '/';
  for (const std::string& root : roots) {
    const std::string folder = root.ends_with('/') ? root : root + "/";
    if (!file.starts_with(folder)) continue;
    path = file.substr(folder.size());
    relative = true;
    break;
  }
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = relative ? "" : "file://";
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri;
}

// Cut between two characters.
std::string shortened(std::string text) {
  if (text.size() <= kMaxText) return text;
  std::size_t end = kMaxText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return text.substr(0, end) + "...";
}

std::string name_of_program(const Report& report) {
  const trace::ProcessRecord& process = report.evidence.process;
  const std::string& path = process.argv.empty() ? process.executable : process.argv.front();
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.empty() ? "program" : name;
}

class SarifWriter {
 public:
  SarifWriter(const Report& report, const SarifPlaces& places, std::ostream& out)
      : report_(report),
        places_(places),
        program_(uri_of(name_of_program(report), {})),
        json_(out) {}

  void write() {
    json_.begin_object();
    json_.field("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_.field("version", "2.1.0");
    json_.key("runs").begin_array().begin_object();
    tool();
    invocation();
    json_.field("columnKind", "utf16CodeUnits");
    json_.key("results").begin_array();
    const std::size_t count = std::min(report_.findings.size(), kMaxResults);
    for (std::size_t i = 0; i < count; ++i)
      result(i);
    json_.end_array().end_object().end_array().end_object();
  }

 private:
  void message(std::string_view key, std::string_view text) {
    json_.key(key).begin_object();
    json_.field("text", text);
    json_.end_object();
  }
  void tool();
  void invocation();
  void result(std::size_t index);
  void physical_location(const SourceFrame* site);
  void location(const Finding& f);
  void related(const Finding& f);

  const Report& report_;
  const SarifPlaces& places_;
  std::string program_;  // a URI
  JsonWriter json_;
  std::map<std::string, std::uint64_t> seen_;  // fingerprints, so that each is different
};

void SarifWriter::tool() {
  json_.key("tool").begin_object().key("driver").begin_object();
  json_.field("name", "drgpum");
  json_.field("semanticVersion", places_.tool_version);
  json_.key("rules").begin_array();
  for (const PatternEntry& entry : kPatterns) {
    const PatternText& text = text_of(entry.pattern);
    json_.begin_object();
    json_.field("id", entry.name);
    message("shortDescription", text.title);
    message("fullDescription", text.when);
    message("help", explain(entry.pattern));
    json_.key("defaultConfiguration").begin_object();
    json_.field("level", "warning");
    json_.end_object();
    json_.key("properties").begin_object();
    json_.key("tags").begin_array().text("gpu-memory").text("performance").end_array();
    json_.end_object().end_object();
  }
  json_.end_array().end_object().end_object();
}

void SarifWriter::invocation() {
  json_.key("invocations").begin_array().begin_object();
  json_.field("executionSuccessful", report_.complete);
  json_.key("toolExecutionNotifications").begin_array();
  const auto note = [&](std::string_view level, const std::string& text) {
    json_.begin_object();
    json_.field("level", level);
    message("message", text);
    json_.end_object();
  };
  if (!report_.complete) note("error", "the trace is not complete: " + report_.incomplete_because);
  if (report_.findings.size() > kMaxResults)
    note("warning", exact_bytes(report_.findings.size() - kMaxResults) +
                        " findings of lower rank were left out");
  json_.end_array().end_object().end_array();
}

// Code hosts refuse a result without a file and a line. What has none points at the program.
void SarifWriter::physical_location(const SourceFrame* site) {
  const bool known = site != nullptr && !site->file.empty();
  json_.key("physicalLocation").begin_object();
  json_.key("artifactLocation").begin_object();
  json_.field("uri", known ? uri_of(site->file, places_.source_roots) : program_);
  json_.end_object();
  json_.key("region").begin_object();
  json_.field("startLine", known && site->line > 0 ? site->line : 1u);
  json_.end_object().end_object();
}

void SarifWriter::location(const Finding& f) {
  const SourceFrame* site = report_.site_of(report_.evidence.objects[f.object].alloc);
  json_.key("locations").begin_array().begin_object();
  physical_location(site);
  if (site != nullptr && !site->function.empty()) {
    json_.key("logicalLocations").begin_array().begin_object();
    json_.field("fullyQualifiedName", shortened(site->function));
    json_.field("kind", "function");
    json_.end_object().end_array();
  }
  json_.end_object().end_array();
}

// The calls that bound the finding's interval, where their lines are known.
void SarifWriter::related(const Finding& f) {
  json_.key("relatedLocations").begin_array();
  std::uint32_t id = 0;
  for (const std::uint32_t api : {f.from, f.to}) {
    const SourceFrame* site = report_.site_of(api);
    if (site == nullptr || site->file.empty()) continue;
    json_.begin_object();
    json_.field("id", ++id);
    physical_location(site);
    message("message", shortened(report_.describe_call(api)));
    json_.end_object();
  }
  json_.end_array();
}

void SarifWriter::result(std::size_t index) {
  const Finding& f = report_.findings[index];
  const bool proven = f.certainty == Certainty::kProven;
  const bool saves = f.joint_saving_bytes > 0 || f.peak_saving_bytes > 0;
  json_.begin_object();
  json_.field("ruleId", name_of(f.pattern));
  json_.field("ruleIndex", static_cast<std::size_t>(f.pattern));
  json_.field("level", proven && saves ? "warning" : "note");
  std::string text = advice_for(report_, f) + " " +
                     iec_bytes(report_.evidence.objects[f.object].size) + " of memory";
  if (saves)
    text += "; takes " + iec_bytes(f.peak_saving_bytes) + " off the peak alone, " +
            iec_bytes(f.joint_saving_bytes) + " on top of the other fixes";
  message("message", shortened(text) + ".");
  location(f);
  related(f);
  const SourceFrame* site = report_.site_of(report_.evidence.objects[f.object].alloc);
  const std::string key =
      shortened(std::string(name_of(f.pattern)) + "|" + report_.label(f.object) + "|" +
                (site == nullptr ? "" : site->function));
  json_.key("partialFingerprints").begin_object();
  json_.field("drgpum/v1", key + "|" + std::to_string(seen_[key]++));
  json_.end_object();
  json_.key("properties").begin_object();
  json_.field("certainty", proven ? "proven" : "possible");
  json_.field("wasted_bytes", f.wasted_bytes);
  json_.field("peak_saving_bytes", f.peak_saving_bytes);
  json_.field("joint_saving_bytes", f.joint_saving_bytes);
  json_.end_object();
  json_.end_object();
}

}  // namespace

void write_sarif(const Report& report, const SarifPlaces& places, std::ostream& out) {
  SarifWriter(report, places, out).write();
}

}  // namespace drgpum
