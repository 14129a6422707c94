// SPDX-License-Identifier: Apache-2.0
#include "offline/export/export_format.h"

#include <array>

namespace drgpum {
namespace {

constexpr std::array kFormats{
    ExportFormat{"perfetto",
                 "a timeline for ui.perfetto.dev: streams, objects, live bytes, findings", true,
                 export_perfetto},
    ExportFormat{"chrome", "the same as trace events in JSON", false, export_chrome},
    ExportFormat{"pprof", "a profile of allocation sites for `go tool pprof`", true, export_pprof},
    ExportFormat{"speedscope", "flame graphs of allocation sites for speedscope.app", false,
                 export_speedscope},
    ExportFormat{"torch", "a PyTorch memory snapshot for memory_viz, or to import again", true,
                 export_torch},
    ExportFormat{"sqlite", "all of it as a database", true, export_sqlite},
};

}  // namespace

std::span<const ExportFormat> export_formats() {
  return kFormats;
}

const ExportFormat* export_format(std::string_view name) {
  for (const ExportFormat& format : kFormats)
    if (format.name == name) return &format;
  return nullptr;
}

}  // namespace drgpum
