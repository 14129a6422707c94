// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which frames of a call path are the developer's, and which only wrap an allocation.

#include <cstdint>
#include <string_view>

namespace drgpum {

// A library that comes with CUDA, the system or drgpum. `path` of a module.
bool is_system_module(std::string_view path);
// The Python interpreter's, or an installed package's: not the developer's. `path` of a module.
bool is_package_module(std::string_view path);
// A header or source that comes with CUDA, the compiler or the system.
bool is_system_file(std::string_view file);
// Of a frame that came with its line, not from a module: it is of an interpreter, of Python's library
// or an installed package (torch and the like), or has no file; the developer's code called it.
bool is_framework_frame(std::string_view function, std::string_view file);
// What runs before main and at a thread's start: _start, __libc_start_main, start_thread.
bool is_start_up(std::string_view function);
// A stub that nvcc makes for a kernel's launch.
bool is_launch_stub(std::string_view function, std::string_view file);
// The file that nvcc's host pass made from a source file: its lines are those of the source.
// Returns the source's name without ending ("s" of "tmpxft_0000_0000-6_s.cudafe1.cpp"), else
// nothing.
std::string_view generated_from(std::string_view file);
// The name says that the function allocates (my_malloc, Pool::allocate, operator new, make_buffer)
// or constructs.
bool has_allocator_name(std::string_view function);
// Qualifiers, template and call arguments taken off: drgpum::Pool<float>::get(int) is get.
std::string_view unqualified(std::string_view function);

}  // namespace drgpum
