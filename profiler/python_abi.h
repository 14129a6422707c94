// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layouts of CPython 3.11 on 64-bit machines, as far as call paths need them, in our own words.
// Source: its pycore_frame.h, cpython/pystate.h, cpython/code.h, cpython/unicodeobject.h,
// cpython/bytesobject.h; python_abi_test compares where these are installed. Builds with
// Py_TRACE_REFS differ and are told by the type of their code objects.

#include <cstddef>
#include <cstdint>

namespace drgpum::profiler::python {

struct Object {
  std::int64_t references;
  const void* type;
};

struct Sized : Object {
  std::int64_t size;
};

struct Bytes : Sized {
  std::int64_t hash;
  unsigned char data[1];  // `size` of them
};

// Characters follow: after `wide` when ASCII, else after three words more.
struct Text : Object {
  std::int64_t length;
  std::int64_t hash;
  std::uint32_t state;  // 2 bits interned, 3 bytes per character, 1 compact, 1 ASCII, 1 ready
  std::uint32_t padding;
  const void* wide;
};

struct Code : Sized {
  const void* constants;
  const void* names;
  const void* exception_table;
  std::int32_t flags;
  std::int16_t counters[2];
  std::int32_t arguments[3];
  std::int32_t stack_size;
  std::int32_t first_line;
  std::int32_t variables[5];
  const void* variable_names[2];
  const Text* file;
  const Text* name;
  const Text* qualified_name;
  const Bytes* line_table;
  const void* weak_references;
  const void* cached_code;
  const void* cached_lines;
  std::int32_t first_traceable;
  const void* extra;
  std::uint16_t instructions[1];
};

struct Frame {
  const void* function;
  const void* name_spaces[3];
  const Code* code;
  const void* frame_object;
  const Frame* previous;
  const std::uint16_t* last_instruction;  // before its first: it has not begun
  std::int32_t stack_top;
  bool is_entry;  // C called the interpreter for it
  char owner;
};

struct Calls {
  std::uint8_t use_tracing;
  const Frame* current;
  const Calls* previous;
};

struct Thread {
  const void* links[2];
  const void* interpreter;
  std::int32_t words[7];
  const Calls* calls;
};

inline constexpr std::uint32_t kVersion = 0x030b;  // Py_Version >> 16

}  // namespace drgpum::profiler::python
