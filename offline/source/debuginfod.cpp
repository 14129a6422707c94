// SPDX-License-Identifier: Apache-2.0
#include "offline/source/debuginfod.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <dlfcn.h>
#include <unistd.h>

namespace drgpum {
namespace {

struct Client;

// The three functions that are needed of the library; null: it is not there.
struct Library {
  Client* (*begin)() = nullptr;
  int (*find)(Client*, const unsigned char*, int, char**) = nullptr;
  void (*end)(Client*) = nullptr;
};

const Library& library() {
  static const Library loaded = [] {
    Library functions;
    void* handle = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return functions;
    functions.begin = reinterpret_cast<Client* (*)()>(::dlsym(handle, "debuginfod_begin"));
    functions.find = reinterpret_cast<int (*)(Client*, const unsigned char*, int, char**)>(
        ::dlsym(handle, "debuginfod_find_debuginfo"));
    functions.end = reinterpret_cast<void (*)(Client*)>(::dlsym(handle, "debuginfod_end"));
    return functions;
  }();
  return loaded;
}

}  // namespace

Result<std::string> fetch_debug_file(const std::string& build_id) {
  if (build_id.empty()) return Error{ErrorCode::kNotFound, "the module has no build id"};
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0')
    return Error{ErrorCode::kUnsupported, "DEBUGINFOD_URLS names no server"};
  const Library& functions = library();
  if (functions.begin == nullptr || functions.find == nullptr || functions.end == nullptr)
    return Error{ErrorCode::kUnsupported, "libdebuginfod.so.1 is not installed"};
  const std::unique_ptr<Client, void (*)(Client*)> client(functions.begin(), functions.end);
  if (!client) return Error{ErrorCode::kIo, "libdebuginfod could not start"};
  char* path = nullptr;
  const auto* id = reinterpret_cast<const unsigned char*>(build_id.c_str());
  const int fd = functions.find(client.get(), id, 0, &path);  // 0: hexadecimal
  const std::unique_ptr<char, decltype(&std::free)> found(path, &std::free);
  if (fd >= 0) ::close(fd);
  if (fd == -ENOENT) return Error{ErrorCode::kNotFound, "no debuginfod server has its debug file"};
  if (fd < 0 || !found)
    return Error{ErrorCode::kIo, std::string("debuginfod: ") + std::strerror(fd < 0 ? -fd : EIO)};
  return std::string(found.get());
}

}  // namespace drgpum
