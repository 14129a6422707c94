// SPDX-License-Identifier: Apache-2.0
// How streams of a context wait for each other.

#include "emulator/machine/context.h"

#include <algorithm>

namespace drgpum::emulator {

std::uint64_t Context::earliest(const Stream& stream, std::uint64_t now) const {
  std::uint64_t ready = std::max(now, stream.ready_ns);
  if (stream.kind == StreamKind::kLegacy) return std::max({ready, legacy_ns, blocking_ns});
  return stream.is_blocking() ? std::max(ready, legacy_ns) : ready;
}

std::uint64_t Context::awaited_ticket(const Stream& stream) const {
  if (stream.kind == StreamKind::kLegacy)
    return std::max({stream.host_ticket, legacy_ticket, blocking_ticket});
  return stream.is_blocking() ? std::max(stream.host_ticket, legacy_ticket) : stream.host_ticket;
}

void Context::occupy(Stream& stream, std::uint64_t until_ns, std::uint64_t ticket) {
  const auto raise = [](std::uint64_t& value, std::uint64_t to) { value = std::max(value, to); };
  raise(stream.ready_ns, until_ns);
  raise(stream.host_ticket, ticket);
  raise(busy_until_ns, until_ns);
  raise(last_ticket, ticket);
  if (stream.kind == StreamKind::kLegacy) {
    raise(legacy_ns, until_ns);
    raise(legacy_ticket, ticket);
  } else if (stream.is_blocking()) {
    raise(blocking_ns, until_ns);
    raise(blocking_ticket, ticket);
  }
}

}  // namespace drgpum::emulator
