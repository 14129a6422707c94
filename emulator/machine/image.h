// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the bytes that a program hands to the driver to a linked PTX program.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <cuda.h>

#include "emulator/machine/preset.h"
#include "emulator/ptx/program.h"

namespace drgpum::emulator {

struct Image {
  std::shared_ptr<const ptx::Program> program;
  std::shared_ptr<const std::string> text;  // the PTX that is executed
};

// Why an image cannot run here: the code for the program, and one line for a person.
struct ImageError {
  CUresult code = CUDA_ERROR_INVALID_IMAGE;
  std::string text;
};

// `image` is what cuModuleLoadData takes: PTX text, a fat binary or the wrapper that nvcc makes
// around one. Of several PTX texts the one for the newest architecture up to the device's is taken.
std::variant<Image, ImageError> load_image(const void* image, const Preset& preset);
// The same for bytes of known length, such as a file's.
std::variant<Image, ImageError> load_image(std::span<const std::byte> bytes, const Preset& preset);

// The PTX texts in an image, one for each translation unit.
using Texts = std::variant<std::vector<std::string>, ImageError>;
Texts texts_of(std::span<const std::byte> bytes, const Preset& preset);

// Parses texts and joins them into one program.
std::variant<Image, ImageError> link_texts(const std::vector<std::string>& texts);

}  // namespace drgpum::emulator
