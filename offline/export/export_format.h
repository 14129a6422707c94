// SPDX-License-Identifier: Apache-2.0
#pragma once
// The forms of other programs that a report can be written in. One writer, one file for each; the
// list is kept by hand in export_format.cpp. docs/export.md says what each form holds.

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "offline/export/call_facts.h"
#include "offline/report/report.h"
#include "proto/base/result.h"

namespace drgpum {

struct ExportInput {
  const Report& report;  // built with the call paths of every object
  const CallFacts& calls;
  std::string tool_version;
};

// kIo where a form needs a scratch file that cannot be had. What the stream did not take, its state
// says.
using ExportWriter = Status (*)(const ExportInput& input, std::ostream& out);

struct ExportFormat {
  std::string_view name;  // of --type
  std::string_view what;  // for a person
  bool is_binary = false;
  ExportWriter write = nullptr;
};

std::span<const ExportFormat> export_formats();
const ExportFormat* export_format(std::string_view name);  // null: there is none of that name

// Perfetto's trace format: a stream of TracePacket messages. Field numbers are those of
// protos/perfetto/trace/ in Perfetto's published sources.
Status export_perfetto(const ExportInput& input, std::ostream& out);
// Trace events in JSON, for Perfetto and Chromium's own viewer.
// Source: Google's "Trace Event Format".
Status export_chrome(const ExportInput& input, std::ostream& out);
// The same in the layout of the published tool's liveness.json: the level in the dependency graph
// as time, boxes called KIND(stream, number), a row for each object, largest first.
Status export_chrome_published(const ExportInput& input, std::ostream& out);
// A gzipped Profile of allocation sites. Field numbers are those of pprof's proto/profile.proto.
Status export_pprof(const ExportInput& input, std::ostream& out);
// Flame graphs of allocation sites. Source: speedscope's file-format-schema.json.
Status export_speedscope(const ExportInput& input, std::ostream& out);
// A database: see sqlite_schema.h.
Status export_sqlite(const ExportInput& input, std::ostream& out);
// A PyTorch memory snapshot (pickle, protocol 4), which memory_viz and `drgpum import` open.
Status export_torch(const ExportInput& input, std::ostream& out);

}  // namespace drgpum
