// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a stream or a graph node does, with every argument resolved and checked.

#include <cstdint>
#include <variant>
#include <vector>

#include <cuda.h>

#include "emulator/exec/executor.h"
#include "emulator/machine/array.h"
#include "emulator/machine/module.h"
#include "emulator/machine/pool.h"
#include "emulator/machine/stream.h"

namespace drgpum::emulator {

struct Graph;

struct KernelWork {
  Function* function = nullptr;
  exec::Dim3 grid, block, cluster;
  std::uint32_t shared_bytes = 0;  // dynamic
  bool cooperative = false;
  std::vector<std::byte> parameters;
  std::vector<void*> pointers;  // into `parameters`, for programs that read a node's arguments
};

// One side of a copy: linear memory with pitches, or an array. Offsets in bytes, rows and slices.
struct CopyEnd {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;  // bytes from row to row
  std::uint64_t rows = 0;   // from slice to slice
  Array* array = nullptr;
  std::uint64_t x = 0, y = 0, z = 0;
  Context* context = nullptr;
};

struct CopyWork {
  CopyEnd source, destination;
  std::uint64_t width = 0;  // bytes of a row
  std::uint64_t height = 1;
  std::uint64_t depth = 1;
  bool is_async = false;
};

struct SetWork {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;
  std::uint32_t element_size = 1;
  std::uint32_t value = 0;
  std::uint64_t width = 0;  // elements of a row
  std::uint64_t height = 1;
  bool is_async = false;
};

struct HostWork {
  CUhostFn function = nullptr;
  void* data = nullptr;
};

struct EventRecordWork {
  Event* event = nullptr;
};

struct EventWaitWork {
  Event* event = nullptr;
};

// Of a graph: the address is the node's own for good, the memory behind it comes and goes.
struct AllocWork {
  int device = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

struct FreeWork {
  std::uint64_t address = 0;
};

struct ChildWork {
  Graph* graph = nullptr;
};

struct EmptyWork {};

// A value written into memory, or waited for.
struct ValueWork {
  std::uint64_t address = 0;
  std::uint64_t value = 0;
  std::uint32_t bytes = 4;
};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, SetWork, HostWork, EventRecordWork,
                          EventWaitWork, AllocWork, FreeWork, ChildWork, ValueWork>;

}  // namespace drgpum::emulator
