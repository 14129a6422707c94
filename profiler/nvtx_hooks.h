// SPDX-License-Identifier: Apache-2.0
#pragma once
// Serves NVTX: ranges and marks become marks of the trace, heaps and regions of its memory
// extension become pools and blocks, names of streams and regions are kept. What a program says in
// a domain is written "text@domain".

#include <string>

#include "profiler/nvtx_abi.h"

namespace drgpum::profiler::nvtx {

// InitializeInjectionNvtx2: 1, or 0 when the tables are not as they should be.
int serve_core(ExportTable export_table) noexcept;
// InitializeInjectionNvtxExtension: always 1; other extensions than memory are left alone.
int serve_extension(ExtensionModule* module) noexcept;

// In UTF-8; "" when there is none.
std::string text_of(std::uint32_t type, const Message& message);

}  // namespace drgpum::profiler::nvtx
