// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program and its Sanitizer library, scripted: each method makes the callbacks that the call
// would make, in the library's order, and device memory is host memory. What the session writes
// comes back as text.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profiler/session.h"

namespace drgpum::profiler {

class ScriptedProgram {
 public:
  // With `maps_wait`, maps go to the thread that reduces them; there is no driver, so it reads them
  // whole, at some time before drain() returns or the context has ended.
  explicit ScriptedProgram(Options options = {}, bool emulated = true, bool maps_wait = false);
  ~ScriptedProgram();

  // Calls. Words are the parameters of the function, `inside` happens between enter and exit.
  void call(const char* function, std::vector<std::uint64_t> words,
            const std::function<void()>& inside = nullptr, std::int32_t result = 0);
  void create_context(std::uintptr_t handle = kContext, int device = 0);
  void destroy_context(std::uintptr_t handle = kContext);
  void create_stream(std::uintptr_t stream, std::uint32_t flags);
  void malloc(std::uint64_t address, std::uint64_t size);
  void free(std::uint64_t address, std::int32_t result = 0);
  void load_module(std::uintptr_t handle, const std::string& image);
  struct Access {
    std::uint64_t address;
    std::uint32_t size;
    std::uint32_t kind;
  };
  // The kernel runs at once: its accesses are marked before the call returns. Each is made by an
  // instruction of its own, 16 bytes after the one before, the first where the kernel begins.
  void launch(const char* kernel, std::vector<Access> accesses, std::uintptr_t stream = 0,
              std::uintptr_t module = kModule);
  struct Node {
    const char* kernel;
    std::vector<Access> accesses;
  };
  // As on a GPU: all nodes are told, then all run.
  void launch_graph(std::vector<Node> nodes, std::uintptr_t stream = 0);
  void copy(const char* function, std::uint64_t destination, std::uint64_t source,
            std::uint64_t bytes, sanitizer::CopyDirection direction, std::uintptr_t stream = 0);
  void synchronize() { call("cudaDeviceSynchronize", {}); }

  // Single callbacks.
  void memory_event(std::uint32_t id, std::uint64_t address, std::uint64_t size,
                    std::uint32_t flags = 0, std::uintptr_t stream = 0);
  template <typename T>
  void event(sanitizer::Domain domain, std::uint32_t id, const T& data) {
    session_->on_callback(domain, id, &data);
  }

  // Ends the trace and gives it as text, one record a line, without the records about the process
  // (its identity, host modules, call paths) and without times and threads.
  std::string trace();
  // The lines of trace() that begin with one of the words.
  std::string lines(std::vector<std::string> beginnings);

  Session& session() { return *session_; }
  [[nodiscard]] std::uint64_t bytes_on_device() const;
  [[nodiscard]] int patched_modules() const;
  [[nodiscard]] int waits_for_streams() const;
  void refuse_device_memory();

  static constexpr std::uintptr_t kContext = 0x100;
  static constexpr std::uintptr_t kModule = 0x300;

 private:
  bool intra_ = false;
  sanitizer::LaunchData launch_data(const char* kernel, std::uintptr_t stream,
                                    std::uintptr_t module);

  std::string folder_;
  std::string path_;
  std::unique_ptr<Session> session_;
};

}  // namespace drgpum::profiler
