// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Python functions that the calling thread is in, read from the interpreter's own frames: no
// GIL, no lock, and no call into Python but one that reads a thread-local variable. Of CPython 3.11
// only; with others, paths stay native.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "profiler/python_abi.h"
#include "proto/trace/record.h"

namespace drgpum::profiler {

// The interpreter in this process.
struct PythonInterpreter {
  const python::Thread* (*this_thread)() = nullptr;  // null: there is none that is known
  const void* code_type = nullptr;                   // of every code object
  std::uint64_t loop_begin = 0;                      // the function that runs Python code;
  std::uint64_t loop_end = 0;                        // equal: not known
  std::uint64_t begin = 0;                           // the module it lies in
  std::uint64_t end = 0;
};

// Takes the dynamic linker's lock: to be called where no other is held.
PythonInterpreter find_python();

// Not thread-safe.
class PythonFrames {
 public:
  explicit PythonFrames(const PythonInterpreter& python) : python_(python) {}

  // The calling thread's path with Python's frames, as numbers, in the place of the interpreter's;
  // `native` itself where there are none. The result is good until the next call.
  std::span<const std::uint64_t> merged(std::span<const std::uint64_t> native);

  // What the numbers that are new since the last call stand for.
  std::vector<trace::SourceFrameRecord> take_new();

 private:
  struct Frame {
    const python::Code* code = nullptr;
    std::int64_t instruction = 0;  // in units of two bytes; negative: not begun
    bool is_entry = false;
    friend bool operator==(const Frame&, const Frame&) = default;
  };
  // A code object may be freed and another made in its place: then some of these differ.
  struct Key {
    Frame frame;
    const void* file = nullptr;
    const void* name = nullptr;
    const void* lines = nullptr;
    std::int64_t first_line = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
  };

  bool read_stack();
  std::uint64_t number(const Frame& frame);

  PythonInterpreter python_;
  std::vector<Frame> stack_;
  std::vector<std::uint64_t> merged_;
  std::unordered_map<Key, std::uint64_t, Hash> numbers_;
  std::vector<trace::SourceFrameRecord> new_;
  bool proven_ = false;  // a first stack was read with care, and was as expected
};

// The line of an instruction, from a code object's table (CPython's Objects/locations.md); 0: none.
std::uint32_t python_line(std::span<const unsigned char> table, std::int64_t first_line,
                          std::int64_t instruction);

}  // namespace drgpum::profiler
