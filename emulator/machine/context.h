// SPDX-License-Identifier: Apache-2.0
#pragma once
// A context: streams, limits, the error that ended it, and its place in virtual time.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include <cuda.h>

#include "emulator/machine/device.h"
#include "emulator/machine/stream.h"

namespace drgpum::emulator {

struct Context {
  Device* device = nullptr;
  bool is_primary = false;
  unsigned flags = 0;
  std::uint64_t id = 0;
  CUresult sticky = CUDA_SUCCESS;  // an error that no later call gets past
  Stream legacy;
  std::map<std::thread::id, std::unique_ptr<Stream>> per_thread;
  std::set<Stream*> streams;  // the created ones
  std::set<Context*> peers;   // whose memory may be reached from here
  std::map<CUlimit, std::size_t> limits;
  CUfunc_cache cache_config = CU_FUNC_CACHE_PREFER_NONE;
  std::string printed;  // device printf since the last flush
  std::uint64_t heap_used = 0;

  // Virtual time: of the last work in the legacy stream, in any blocking stream, in any stream.
  std::uint64_t legacy_ns = 0;
  std::uint64_t blocking_ns = 0;
  std::uint64_t busy_until_ns = 0;
  // Host functions that work in those streams waits for.
  std::uint64_t legacy_ticket = 0;
  std::uint64_t blocking_ticket = 0;
  std::uint64_t last_ticket = 0;

  // When work issued at `now` to the stream may start: after the stream's own, and, by the rules of
  // the default stream, after others'.
  [[nodiscard]] std::uint64_t earliest(const Stream& stream, std::uint64_t now) const;
  // The last host function that such work has to wait for; 0 for none.
  [[nodiscard]] std::uint64_t awaited_ticket(const Stream& stream) const;
  void occupy(Stream& stream, std::uint64_t until_ns, std::uint64_t ticket = 0);
};

}  // namespace drgpum::emulator
