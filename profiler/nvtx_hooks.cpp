// SPDX-License-Identifier: Apache-2.0
#include "profiler/nvtx_hooks.h"

#include <map>
#include <mutex>
#include <set>

#include "profiler/told.h"

namespace drgpum::profiler::nvtx {
namespace {

// Handed out as domain handles and registered strings; they stay for good.
struct Names {
  std::mutex mutex;
  std::set<std::string> texts;
  const std::string* keep(std::string text) {
    const std::lock_guard lock(mutex);
    return &*texts.insert(std::move(text)).first;
  }
};

Names& names() {
  static Names& names = *new Names();  // outlives exit handlers
  return names;
}

std::string utf8(const wchar_t* wide) {
  std::string text;
  for (; wide != nullptr && *wide != L'\0'; ++wide) {
    const auto c = static_cast<std::uint32_t>(*wide);
    const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
    if (c < 0x80) {
      text += static_cast<char>(c);
    } else if (c < 0x800) {
      text += static_cast<char>(0xc0 | c >> 6);
      tail(0);
    } else if (c < 0x10000) {
      text += static_cast<char>(0xe0 | c >> 12);
      tail(6), tail(0);
    } else {
      text += static_cast<char>(0xf0 | (c >> 18 & 7));
      tail(12), tail(6), tail(0);
    }
  }
  return text;
}

std::string plain(const char* text) {
  return text == nullptr ? "" : text;
}

// A domain handle is the domain's name; null is the default domain.
std::string in_domain(std::string text, const void* domain) {
  return domain == nullptr ? text : text + "@" + *static_cast<const std::string*>(domain);
}

std::string text_of(const EventAttributes* attributes) {
  return attributes == nullptr ? "" : text_of(attributes->message_type, attributes->message);
}

void mark(const char* call, std::string name) noexcept {
  Told told;
  told.call = call;
  told.name = std::move(name);
  tell(std::move(told));
}

void name_stream(const char* call, std::uint64_t stream, std::string name) noexcept {
  Told told;
  told.kind = ToldKind::kStreamName;
  told.call = call;
  told.address = stream;
  told.name = std::move(name);
  tell(std::move(told));
}

// NVTX's functions, as it calls them. Nothing may throw into the program.
template <typename Body>
auto guarded(Body body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return decltype(body())();  // out of memory: it is not recorded
  }
}

void mark_ex(const EventAttributes* a) {
  guarded([&] { mark("nvtxMarkEx", text_of(a)); });
}
void mark_a(const char* text) {
  guarded([&] { mark("nvtxMarkA", plain(text)); });
}
void mark_w(const wchar_t* text) {
  guarded([&] { mark("nvtxMarkW", utf8(text)); });
}
std::uint64_t start_ex(const EventAttributes* a) {
  return guarded([&] { return start_range("nvtxRangeStartEx", text_of(a)); });
}
std::uint64_t start_a(const char* text) {
  return guarded([&] { return start_range("nvtxRangeStartA", plain(text)); });
}
std::uint64_t start_w(const wchar_t* text) {
  return guarded([&] { return start_range("nvtxRangeStartW", utf8(text)); });
}
void end(std::uint64_t range) {
  end_range("nvtxRangeEnd", range);
}
int push_ex(const EventAttributes* a) {
  return guarded([&] { return push_range(nullptr, "nvtxRangePushEx", text_of(a)); });
}
int push_a(const char* text) {
  return guarded([&] { return push_range(nullptr, "nvtxRangePushA", plain(text)); });
}
int push_w(const wchar_t* text) {
  return guarded([&] { return push_range(nullptr, "nvtxRangePushW", utf8(text)); });
}
int pop() {
  return pop_range(nullptr, "nvtxRangePop");
}

void domain_mark(const void* domain, const EventAttributes* a) {
  guarded([&] { mark("nvtxDomainMarkEx", in_domain(text_of(a), domain)); });
}
std::uint64_t domain_start(const void* domain, const EventAttributes* a) {
  return guarded(
      [&] { return start_range("nvtxDomainRangeStartEx", in_domain(text_of(a), domain)); });
}
void domain_end(const void*, std::uint64_t range) {
  end_range("nvtxDomainRangeEnd", range);
}
int domain_push(const void* domain, const EventAttributes* a) {
  return guarded(
      [&] { return push_range(domain, "nvtxDomainRangePushEx", in_domain(text_of(a), domain)); });
}
int domain_pop(const void* domain) {
  return pop_range(domain, "nvtxDomainRangePop");
}
const void* resource_create(const void*, const ResourceAttributes* a) {
  guarded([&] {
    const bool is_stream =
        a != nullptr && (a->type == kCudaStreamResource || a->type == kCudaRuntimeStreamResource);
    if (is_stream) {
      name_stream("nvtxDomainResourceCreate", a->identifier, text_of(a->message_type, a->message));
    }
  });
  return nullptr;
}
const void* register_a(const void*, const char* text) {
  return guarded([&] { return static_cast<const void*>(names().keep(plain(text))); });
}
const void* register_w(const void*, const wchar_t* text) {
  return guarded([&] { return static_cast<const void*>(names().keep(utf8(text))); });
}
const void* domain_create_a(const char* name) {
  return register_a(nullptr, name);
}
const void* domain_create_w(const wchar_t* name) {
  return register_w(nullptr, name);
}

void name_driver_stream_a(std::uint64_t stream, const char* name) {
  guarded([&] { name_stream("nvtxNameCuStreamA", stream, plain(name)); });
}
void name_driver_stream_w(std::uint64_t stream, const wchar_t* name) {
  guarded([&] { name_stream("nvtxNameCuStreamW", stream, utf8(name)); });
}
void name_runtime_stream_a(std::uint64_t stream, const char* name) {
  guarded([&] { name_stream("nvtxNameCudaStreamA", stream, plain(name)); });
}
void name_runtime_stream_w(std::uint64_t stream, const wchar_t* name) {
  guarded([&] { name_stream("nvtxNameCudaStreamW", stream, utf8(name)); });
}

struct Served {
  int module;
  unsigned function;
  Function ours;
};

template <typename F>
Function generic(F* function) {
  return reinterpret_cast<Function>(function);
}

const Served kServed[] = {
    {kCore, kMarkEx, generic(mark_ex)},
    {kCore, kMarkA, generic(mark_a)},
    {kCore, kMarkW, generic(mark_w)},
    {kCore, kRangeStartEx, generic(start_ex)},
    {kCore, kRangeStartA, generic(start_a)},
    {kCore, kRangeStartW, generic(start_w)},
    {kCore, kRangeEnd, generic(end)},
    {kCore, kRangePushEx, generic(push_ex)},
    {kCore, kRangePushA, generic(push_a)},
    {kCore, kRangePushW, generic(push_w)},
    {kCore, kRangePop, generic(pop)},
    {kDomains, kDomainMarkEx, generic(domain_mark)},
    {kDomains, kDomainRangeStartEx, generic(domain_start)},
    {kDomains, kDomainRangeEnd, generic(domain_end)},
    {kDomains, kDomainRangePushEx, generic(domain_push)},
    {kDomains, kDomainRangePop, generic(domain_pop)},
    {kDomains, kDomainResourceCreate, generic(resource_create)},
    {kDomains, kDomainRegisterStringA, generic(register_a)},
    {kDomains, kDomainRegisterStringW, generic(register_w)},
    {kDomains, kDomainCreateA, generic(domain_create_a)},
    {kDomains, kDomainCreateW, generic(domain_create_w)},
    {kCuda, kNameCuStreamA, generic(name_driver_stream_a)},
    {kCuda, kNameCuStreamW, generic(name_driver_stream_w)},
    {kCudaRuntime, kNameCudaStreamA, generic(name_runtime_stream_a)},
    {kCudaRuntime, kNameCudaStreamW, generic(name_runtime_stream_w)},
};

}  // namespace

std::string text_of(std::uint32_t type, const Message& message) {
  switch (type) {
    case kBytes:
      return plain(message.bytes);
    case kWide:
      return utf8(message.wide);
    case kRegistered:
      return message.registered == nullptr ? ""
                                           : *static_cast<const std::string*>(message.registered);
    default:
      return "";
  }
}

int serve_core(ExportTable export_table) noexcept {
  if (export_table == nullptr) return 0;
  constexpr std::uint32_t kServedVersion = 3;
  const auto* version = static_cast<const VersionTable*>(export_table(kVersion));
  if (version != nullptr && version->struct_size >= sizeof(VersionTable)) {
    version->set_tool_version(kServedVersion);
  }
  const auto* callbacks = static_cast<const CallbackTable*>(export_table(kCallbacks));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(CallbackTable)) return 0;
  for (const Served& served : kServed) {
    Function** table = nullptr;
    unsigned size = 0;
    if (callbacks->functions_of(served.module, &table, &size) == 0 || table == nullptr) continue;
    if (served.function < size && table[served.function] != nullptr) {
      *table[served.function] = served.ours;
    }
  }
  return 1;
}

}  // namespace drgpum::profiler::nvtx
