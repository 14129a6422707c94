// SPDX-License-Identifier: Apache-2.0
#include "scripted_program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>

#include <gtest/gtest.h>

#include "proto/device/mark_access.h"
#include "proto/trace/trace_reader.h"
#include "proto/trace/trace_text.h"

namespace drgpum::profiler {
namespace {

using sanitizer::Code;
using sanitizer::Domain;

// The scripted library's state: there is one program at a time.
struct Library {
  std::map<void*, std::size_t> allocations;
  device::LaunchSlot* slot = nullptr;
  std::map<void*, device::LaunchSlot*> headers;  // user data of functions
  bool refuses_memory = false;
  int patched_modules = 0;
  int waits_for_streams = 0;
} library;

Code fake_alloc(sanitizer::Context, void** pointer, std::size_t size) {
  if (library.refuses_memory) return Code::kOutOfMemory;
  *pointer = std::aligned_alloc(256, (size + 255) / 256 * 256);
  std::memset(*pointer, 0xee, size);
  library.allocations[*pointer] = size;
  return Code::kSuccess;
}

Code fake_free(sanitizer::Context, void* pointer) {
  library.allocations.erase(pointer);
  std::free(pointer);
  return Code::kSuccess;
}

Code fake_copy(void* destination, void* source, std::size_t size, sanitizer::StreamHandle) {
  std::memcpy(destination, source, size);
  return Code::kSuccess;
}

// One number per name, as a library would have.
std::uint32_t number_of(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::uint32_t> numbers;
  const std::lock_guard lock(mutex);
  return numbers.try_emplace(name, static_cast<std::uint32_t>(numbers.size() + 1)).first->second;
}

// Every function of every module has a page of code.
std::uint64_t code_of(const char* function) {
  return 0x4000000 + 0x1000 * std::uint64_t{number_of(function)};
}

sanitizer::SanitizerApi fake_api() {
  sanitizer::SanitizerApi api{};
  api.add_patches = [](const void*, sanitizer::Context) { return Code::kSuccess; };
  api.patch_instructions = [](sanitizer::Instruction, sanitizer::Module, const char*) {
    return Code::kSuccess;
  };
  api.patch_module = [](sanitizer::Module) {
    ++library.patched_modules;
    return Code::kSuccess;
  };
  api.set_launch_callback_data = [](sanitizer::LaunchHandle, sanitizer::Function,
                                    sanitizer::StreamHandle, const void* user) {
    library.slot = static_cast<device::LaunchSlot*>(const_cast<void*>(user));
    return Code::kSuccess;
  };
  api.set_callback_data = [](sanitizer::Function function, const void* user) {
    library.headers[function] = static_cast<device::LaunchSlot*>(const_cast<void*>(user));
    return Code::kSuccess;
  };
  api.get_function_pc_and_size = [](sanitizer::Module, const char* function, std::uint64_t* begin,
                                    std::uint64_t* size) {
    *begin = code_of(function);
    *size = 0x1000;
    return Code::kSuccess;
  };
  api.alloc = fake_alloc;
  api.free = fake_free;
  api.memcpy_host_to_device_async = fake_copy;
  api.memcpy_device_to_host = fake_copy;
  api.memset = [](void* pointer, int value, std::size_t size, sanitizer::StreamHandle) {
    std::memset(pointer, value, size);
    return Code::kSuccess;
  };
  api.stream_synchronize = [](sanitizer::StreamHandle) {
    ++library.waits_for_streams;
    return Code::kSuccess;
  };
  api.get_stream_handle = [](sanitizer::Context, sanitizer::Stream stream,
                             sanitizer::StreamHandle* handle) {
    *handle = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(stream) + 0x9000);
    return Code::kSuccess;
  };
  return api;
}

struct HostMemory {
  template <typename T>
  static T* at(std::uint64_t address) {
    return reinterpret_cast<T*>(address);
  }
  template <typename T>
  static T load(const T* word) {
    return *word;
  }
  static void store(std::uint64_t* word, std::uint64_t value) { *word = value; }
  static void bit_or(std::uint32_t* word, std::uint32_t bits) { *word |= bits; }
  static void add(std::uint32_t* word, std::uint32_t value) { *word += value; }
  static void add(std::uint64_t* word, std::uint64_t value) { *word += value; }
  static std::uint32_t claim(std::uint32_t* word, std::uint32_t value) {
    const std::uint32_t found = *word;
    if (found == 0) *word = value;
    return found;
  }
  static std::uint32_t block_number() { return 0; }
  static std::uint32_t keep(std::uint32_t value) { return value; }
  static std::uint64_t keep(std::uint64_t value) { return value; }
};

void* handle(std::uintptr_t value) {
  return reinterpret_cast<void*>(value);
}
void* stream_handle(std::uintptr_t stream) {
  return handle(stream + 0x9000);
}

bool is_about_the_process(const std::string& line) {
  for (const char* word :
       {"process ", "host-module", "module ", "end-module", "path ", "call-path"}) {
    if (line.starts_with(word)) return true;
  }
  return false;
}

// The line without what differs from run to run.
std::string without_noise(std::string line) {
  for (const char* key : {" thread=", " call_path=", " host_begin_ns=", " host_end_ns="}) {
    const auto begin = line.find(key);
    if (begin == std::string::npos) continue;
    const auto end = std::min(line.find(' ', begin + 1), line.size());
    line.erase(begin, end - begin);
  }
  return line;
}

}  // namespace

ScriptedProgram::ScriptedProgram(Options options, bool emulated, bool maps_wait) {
  library = Library{};
  char folder[] = "/tmp/drgpum-test-XXXXXX";
  folder_ = mkdtemp(folder);
  path_ = folder_ + "/t.drgp";
  Session::Setup setup;
  setup.api = fake_api();
  setup.abi = "scripted";
  options.emulated = emulated;
  options.device_reduction &= !emulated && maps_wait;
  intra_ = options.mode == Mode::kIntra;
  setup.options = options;
  auto filter = KernelFilter::make(options);
  EXPECT_TRUE(filter) << filter.error().message;
  setup.filter = *std::move(filter);
  auto writer = trace::TraceWriter::create(path_, trace::ProcessRecord{});
  EXPECT_TRUE(writer) << writer.error().message;
  setup.writer = *std::move(writer);
  setup.trace_path = path_;
  session_ = std::make_unique<Session>(std::move(setup));
}

ScriptedProgram::~ScriptedProgram() {
  session_.reset();
  for (const auto& [pointer, size] : library.allocations)
    std::free(pointer);
  std::filesystem::remove_all(folder_);
}

void ScriptedProgram::call(const char* function, std::vector<std::uint64_t> words,
                           const std::function<void()>& inside, std::int32_t result) {
  words.resize(words.size() + 8);  // params structs end where they end; reading on is harmless here
  sanitizer::ApiData data{};
  data.function_name = function;
  data.parameters = words.data();
  data.context = handle(kContext);
  const std::uint32_t id = number_of(function);
  event(Domain::kRuntimeApi, id, data);
  if (inside) inside();
  data.site = sanitizer::ApiSite::kExit;
  data.return_value = &result;
  event(Domain::kRuntimeApi, id, data);
}

void ScriptedProgram::create_context(std::uintptr_t context, int device) {
  event(Domain::kResource, sanitizer::kContextCreationFinished,
        sanitizer::ContextData{handle(context), device});
}

void ScriptedProgram::destroy_context(std::uintptr_t context) {
  event(Domain::kResource, sanitizer::kContextDestroyStarting,
        sanitizer::ContextData{handle(context), 0});
}

void ScriptedProgram::create_stream(std::uintptr_t stream, std::uint32_t flags) {
  std::uint64_t out = 0;
  call("cudaStreamCreateWithFlags", {reinterpret_cast<std::uint64_t>(&out), flags}, [&] {
    event(Domain::kResource, sanitizer::kStreamCreated,
          sanitizer::StreamData{handle(kContext), handle(stream), stream_handle(stream)});
  });
}

void ScriptedProgram::memory_event(std::uint32_t id, std::uint64_t address, std::uint64_t size,
                                   std::uint32_t flags, std::uintptr_t stream) {
  sanitizer::MemoryData data{};
  data.address = address;
  data.size = size;
  data.context = handle(kContext);
  data.flags = flags;
  data.stream = handle(stream);
  data.stream_handle = stream_handle(stream);
  event(Domain::kResource, id, data);
}

void ScriptedProgram::malloc(std::uint64_t address, std::uint64_t size) {
  std::uint64_t out = address;
  call("cudaMalloc", {reinterpret_cast<std::uint64_t>(&out), size}, [&] {
    const std::uint64_t rounded = (size + 511) / 512 * 512;
    memory_event(sanitizer::kDeviceMemoryAlloc, address, rounded);
  });
}

void ScriptedProgram::free(std::uint64_t address, std::int32_t result) {
  call(
      "cudaFree", {address},
      [&] {
        if (result == 0 && address != 0) {
          memory_event(sanitizer::kDeviceMemoryFree, address, 0);
        }
      },
      result);
}

void ScriptedProgram::load_module(std::uintptr_t module, const std::string& image) {
  sanitizer::ModuleData data{};
  data.context = handle(kContext);
  data.module = handle(module);
  data.image = image.data();
  data.image_size = image.size();
  event(Domain::kResource, sanitizer::kModuleLoaded, data);
}

sanitizer::LaunchData ScriptedProgram::launch_data(const char* kernel, std::uintptr_t stream,
                                                   std::uintptr_t module) {
  sanitizer::LaunchData data{};
  data.context = handle(kContext);
  data.stream = handle(stream);
  data.stream_handle = stream_handle(stream);
  data.module = handle(module);
  data.function = handle(0x5000 + number_of(kernel));
  data.function_name = kernel;
  for (int i = 0; i < 3; ++i) {
    data.grid[i] = data.block[i] = data.cluster[i] = 1;
  }
  data.launch = handle(0x7777);
  return data;
}

void ScriptedProgram::launch(const char* kernel, std::vector<Access> accesses,
                             std::uintptr_t stream, std::uintptr_t module) {
  const sanitizer::LaunchData data = launch_data(kernel, stream, module);
  call("cudaLaunchKernel", {0, 0, 0, 0, 0, 48}, [&] {
    library.slot = library.headers[data.function];
    event(Domain::kLaunch, sanitizer::kLaunchBegin, data);
    std::uint64_t pc = code_of(kernel);
    for (const Access& access : accesses) {
      if (intra_) {
        device::map_access<HostMemory>(library.slot, pc, access.address, access.size, access.kind);
      } else {
        device::mark_access<HostMemory>(library.slot, access.address, access.size, access.kind);
      }
      pc += 16;
    }
    event(Domain::kLaunch, sanitizer::kLaunchEnd, data);
  });
}

void ScriptedProgram::launch_graph(std::vector<Node> nodes, std::uintptr_t stream) {
  sanitizer::GraphLaunchData graph{};
  graph.context = handle(kContext);
  graph.stream = handle(stream);
  graph.stream_handle = stream_handle(stream);
  graph.exec = handle(0x800);
  call("cudaGraphLaunch", {0x800, stream}, [&] {
    event(Domain::kGraphs, sanitizer::kGraphLaunchBegin, graph);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      sanitizer::GraphNodeData data{};
      data.exec = graph.exec;
      data.node = handle(0x810 + i);
      data.launch = launch_data(nodes[i].kernel, stream, kModule);
      event(Domain::kGraphs, sanitizer::kGraphNodeLaunchBegin, data);
      event(Domain::kGraphs, sanitizer::kGraphNodeLaunchEnd, data);
    }
    for (const Node& node : nodes) {
      device::LaunchSlot* slot = library.headers[handle(0x5000 + number_of(node.kernel))];
      for (const Access& access : node.accesses) {
        device::mark_access<HostMemory>(slot, access.address, access.size, access.kind);
      }
    }
    event(Domain::kGraphs, sanitizer::kGraphLaunchEnd, graph);
  });
}

void ScriptedProgram::copy(const char* function, std::uint64_t destination, std::uint64_t source,
                           std::uint64_t bytes, sanitizer::CopyDirection direction,
                           std::uintptr_t stream) {
  sanitizer::MemcpyData data{};
  data.source_context = data.destination_context = handle(kContext);
  data.source_stream = data.destination_stream = handle(stream);
  data.source_stream_handle = data.destination_stream_handle = stream_handle(stream);
  data.source_address = source;
  data.destination_address = destination;
  data.size = bytes;
  data.is_async = std::string(function).ends_with("Async") ? 1 : 0;
  data.direction = direction;
  call(function, {destination, source, bytes},
       [&] { event(Domain::kMemcpy, sanitizer::kMemcpyStarting, data); });
}

std::string ScriptedProgram::trace() {
  session_->finish(true, 0);
  EXPECT_EQ(session_->failure(), "");
  auto reader = drgpum::trace::TraceReader::open(path_);
  EXPECT_TRUE(reader) << reader.error().message;
  std::vector<drgpum::trace::Record> records;
  drgpum::trace::Record record;
  while (reader->next(record))
    records.push_back(record);
  EXPECT_EQ(reader->summary().completeness, drgpum::trace::Completeness::kComplete)
      << reader->summary().reason;
  std::stringstream all(drgpum::trace::to_text(records));
  std::string line, text;
  while (std::getline(all, line)) {
    if (!is_about_the_process(line)) text += without_noise(line) + "\n";
  }
  return text;
}

std::string ScriptedProgram::lines(std::vector<std::string> beginnings) {
  std::stringstream all(trace());
  std::string line, text;
  while (std::getline(all, line)) {
    for (const std::string& beginning : beginnings) {
      if (!line.starts_with(beginning)) continue;
      text += line + "\n";
      break;
    }
  }
  return text;
}

std::uint64_t ScriptedProgram::bytes_on_device() const {
  std::uint64_t bytes = 0;
  for (const auto& [pointer, size] : library.allocations)
    bytes += size;
  return bytes;
}

int ScriptedProgram::waits_for_streams() const {
  return library.waits_for_streams;
}

int ScriptedProgram::patched_modules() const {
  return library.patched_modules;
}

void ScriptedProgram::refuse_device_memory() {
  library.refuses_memory = true;
}

}  // namespace drgpum::profiler
