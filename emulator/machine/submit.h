// SPDX-License-Identifier: Apache-2.0
#pragma once
// The way of all work into the device: into a graph where its stream is being recorded, else it
// runs here and now, on the calling thread, in issue order. Its place in virtual time comes from
// the streams' rules and the engines' queues. A kernel that waits for work issued after it would
// wait for ever; no other ordering rule of CUDA can tell the difference.

#include "emulator/machine/core.h"

namespace drgpum::emulator {

// Where in a graph launch a piece of work stands.
struct NodePlace {
  GraphExec* exec = nullptr;
  GraphNode* node = nullptr;
  std::uint64_t launch_id = 0;
  std::uint64_t ready_ns = 0;  // when what it depends on is done
};

enum class HostWaits : std::uint8_t { kNo, kYes };

// With kYes the host waits in virtual time for the work's end, as blocking copies do.
CUresult submit(Section& section, Stream& stream, Work work, HostWaits waits = HostWaits::kNo);

// The same for a node of a running graph. `when` becomes its span.
CUresult run_node(Section& section, Stream& stream, const Work& work, const NodePlace& place,
                  Span& when);

// What each kind of work does; the lock is held on entry and exit.
CUresult run_kernel(Section& section, Stream& stream, const KernelWork& work,
                    const NodePlace* place, Span& when);
CUresult run_copy(Section& section, Stream& stream, const CopyWork& work, const NodePlace* place,
                  Span& when);
CUresult run_set(Section& section, Stream& stream, const SetWork& work, const NodePlace* place,
                 Span& when);
CUresult run_graph(Section& section, Stream& stream, GraphExec& exec);

// The host waits for a stream, or a context, in virtual time and for its host functions, and sees
// what its kernels printed.
void synchronize_stream(Section& section, Stream& stream);
void synchronize_context(Section& section, Context& context);
void flush_printed(Context& context);

// Memory that the device, not the host, holds.
bool is_on_device(const DeviceMemory& memory, std::uint64_t address);

// Ends the context's life with an error and says so once.
void fail(Section& section, Context& context, const exec::Fault& fault);

// Begin and end of `duration` for work that no engine queues.
Span place_in_stream(Section& section, Stream& stream, const NodePlace* place,
                     std::uint64_t duration);
std::uint64_t ready_time(Section& section, Stream& stream, const NodePlace* place);

// The handle by which the program knows a stream; null and 2 for the default streams.
Handle handle_of(Stream& stream);

// What observers of a graph learn of a node beyond its place; at most one is set.
struct NodeDetail {
  const LaunchEvent* kernel = nullptr;
  const CopyEvent* copy = nullptr;
  const SetEvent* set = nullptr;
  const MemoryEvent* memory = nullptr;
};
void tell_node(Section& section, Stream& stream, const NodePlace& place, GraphAction action,
               const NodeDetail& detail);

// Records work as a node of the graph that the stream is recorded into.
CUresult capture_work(Section& section, Stream& stream, Work work);

}  // namespace drgpum::emulator
