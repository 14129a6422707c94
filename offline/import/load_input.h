// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the reading verbs take: a trace, or a file of another tool that a trace is made of on the
// way. What a file is, its content says.

#include <string>

#include "offline/trace/trace.h"

namespace drgpum {

enum class InputKind : std::uint8_t { kTrace, kHistory, kOther };

// kOther also for what cannot be read.
InputKind input_kind(const std::string& path);

// A trace as load_trace() loads it; a history as if it had been imported first. kOther is taken for
// a trace, whose reader says what is wrong.
Result<Trace> load_input(const std::string& path, const LoadOptions& options);

// The records of a history (read_history.h), to be handed to a sink. `progress` as LoadOptions has it.
Status feed_history(const std::string& path,
                    const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                    const RecordSink& sink);

}  // namespace drgpum
