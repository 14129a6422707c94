// SPDX-License-Identifier: Apache-2.0
#pragma once
// Debug files from the servers that DEBUGINFOD_URLS names, by build id, through elfutils'
// libdebuginfod, which is loaded only when it is asked for. It keeps what it fetched in a cache of
// its own (debuginfod_find_debuginfo(3)).

#include <string>

#include "proto/base/result.h"

namespace drgpum {

// The path of the debug file. Uses the network: only when the user asked for it. kNotFound: no
// server has it; kUnsupported: libdebuginfod or DEBUGINFOD_URLS is missing; kIo: the rest.
Result<std::string> fetch_debug_file(const std::string& build_id);

}  // namespace drgpum
