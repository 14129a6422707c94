// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gives a loaded image its place in a context: memory for its variables, addresses for its code.

#include <variant>

#include "emulator/machine/core.h"

namespace drgpum::emulator {

// Not told to observers. `kind`: whose memory the variables take, the program's (kGlobal) or a
// tool's (kTool).
std::variant<std::unique_ptr<Module>, ImageError> make_module(Section& section, Context& context,
                                                              Image image, BlockKind kind);

// Makes a module, registers it and tells observers of it and of its variables. Problems are
// reported as they are to be seen by a person.
CUresult load_module(Section& section, Context& context, Image image, Library* library,
                     Module** module);

// Tells observers, then takes the module and its memory away.
void unload_module(Section& section, Module& module);

// load_image with its error reported.
CUresult load_image_or_report(MachineCore& core, const void* image, const Preset& preset,
                              Image* result);

// The module of a library in a context, loaded when first asked for.
CUresult module_of(Section& section, Library& library, Context& context, Module** module);

}  // namespace drgpum::emulator
