// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traces as text: what tests are written in, and what `drgpum info --records` prints.
//
// One statement a line (or up to a ';'); '#' begins a comment. A call may carry its number, which
// is then checked. Sizes and offsets take 0x, K, M and G (powers of 1024). Names are words or
// "quoted"; a name stands for an id, given out from 0 in order of appearance. Options are words or
// key=value, in any order. Where nothing is said, there is one emulated device, one context and
// its legacy default stream `0`, and the process is "app".
//
// Declarations
//   process [exe=PATH] [mode=MODE] [pid=N] [rank=N] [arg=WORD]...      first of all, if it is there
//   device [gpu] [memory=BYTES] [name="..."]        the first replaces the one taken for granted
//   context NAME [device=N]                         later statements are in it; a new one brings
//   its
//                                                   own stream 0
//   cubin [hash=HEX] [saved=FILE]                   kernels named for the first time from here on are of
//                                                   this device module, until the next context
//   stream NAME [legacy|per-thread|blocking|non-blocking] [name="..."]      blocking by default
//   end-stream NAME    end-context [NAME]    end-object OBJECT    name OBJECT "..."
//   global OBJECT SIZE                              a __device__ variable
//   path NAME 0xADDR...                             a call path, innermost frame first
//   module NAME 0xBEGIN 0xEND [path="..."] [bias=ADDR] [build-id=HEX]    end-module NAME
// Calls
//   alloc OBJECT SIZE [pitched|managed|async|pinned|array|virtual|imported|heap|sub] [at=ADDR]
//         [parent=OBJECT] [pitch=N width=N] [opaque]
//   alloc-failed SIZE [error=N]                     error 2 by default: out of memory
//   free OBJECT|0xADDR [async] [error=N]
//   memcpy h2d TO | d2h FROM | h2d FROM TO | d2h FROM TO | d2d FROM TO | h2h [FROM TO]   [async]
//         [peer=STREAM]
//         the host's side may be left out: it is pageable then, else a pinned object;
//         peer: between devices, the stream of the source's context
//   memset RANGE [value=N] [element=N] [async]
//   launch KERNEL [reads RANGE...] [writes RANGE...] [updates RANGE...] [atomics RANGE...]
//         [uninstrumented] [grid=X,Y,Z] [block=X,Y,Z] [shared=N] [access=MIN,MAX]
//         updates: reads and writes; access: bytes of the narrowest and widest access
//   record EVENT    wait EVENT                      wait: a stream waits for the latest record
//   sync device|context|stream [STREAM]|event EVENT    query stream [STREAM]|event EVENT
//   graph NAME                                      calls after it with `node` belong to it
//   host-function
//   push NAME    pop    mark NAME    iteration NAME    capture-start    capture-stop
//   of all calls: [on=STREAM] [thread=N] [host=BEGIN,END] [time=BEGIN,END] [path=NAME]
//         [call=FUNCTION] [blocks|unblocked] [node] [after=N,N...]    (after: calls of its graph)
// A RANGE is OBJECT (all of it), OBJECT[BEGIN:END), or OBJECT[BEGIN:END)xROWS/PITCH; for a launch
// OBJECT alone means that the bytes are not known.
// Facts about the call before, unless api=N says otherwise
//   map OBJECT cell=N [exact] [blocks=N] [reads=A:B,C:D] [writes=A:B] [counted=N] [mean=X]
//         [variance=X] [histogram=N,N...] [hot=A:B] [heat=N,N...]
//   site OBJECT FUNCTION OFFSET [reads=N] [writes=N]
//   coverage KIND [api=N] [object=OBJECT] [count=N] ["text"]      KIND as in names.h
//   end [exit=N]
//
// Unless `on=` says otherwise, copies, sets, launches, records, waits and stream-ordered
// allocations are on stream 0, other calls on none. Copies that are not async to or from the host,
// frees that are not async, and synchronisations block the host. Call N begins at 1000 N ns and
// takes 500 ns.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/result.h"
#include "proto/trace/record.h"

namespace drgpum::trace {

// The error names the line.
Result<std::vector<Record>> trace_from_text(std::string_view text);

// One line per record: its kind, then field=value for every field that is not empty, none or no.
// Text is quoted and bytes that are no printable ASCII are escaped. Made for reading:
// trace_from_text does not take it.
std::string to_text(const Record& record);
std::string to_text(std::span<const Record> records);

}  // namespace drgpum::trace
