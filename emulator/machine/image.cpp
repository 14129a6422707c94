// SPDX-License-Identifier: Apache-2.0
// Finds the PTX in an image, parses and links it.

#include "emulator/machine/image.h"

#include <cstring>

#include "emulator/ptx/fatbin.h"
#include "emulator/ptx/linker.h"
#include "emulator/ptx/parser.h"
#include "emulator/ptx/verifier.h"

namespace drgpum::emulator {
namespace {

constexpr std::uint32_t kContainerMagic = 0xba55ed50;
constexpr std::uint32_t kWrapperMagic = 0x466243b1;

using Units = std::vector<std::vector<ptx::FatbinEntry>>;
using Loaded = std::variant<Image, ImageError>;

std::uint32_t capability_of(const Preset& preset) {
  return static_cast<std::uint32_t>(preset.compute_major * 10 + preset.compute_minor);
}

CUresult code_of(const Error& error) {
  return error.code == ErrorCode::kUnsupported ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                                               : CUDA_ERROR_INVALID_PTX;
}

Texts pick_texts(const Units& units, const Preset& preset) {
  std::vector<std::string> texts;
  for (const auto& entries : units) {
    if (entries.empty()) continue;
    auto picked = ptx::pick_ptx(entries, capability_of(preset));
    if (!picked)
      return ImageError{CUDA_ERROR_NO_BINARY_FOR_GPU,
                        picked.error().message + " (CMake: set CUDA_ARCHITECTURES to 75-virtual)"};
    texts.emplace_back((*picked)->text());
  }
  return texts;
}

Loaded load_texts(Texts texts) {
  if (auto* error = std::get_if<ImageError>(&texts)) return std::move(*error);
  return link_texts(std::get<std::vector<std::string>>(texts));
}

std::uint32_t first_word(const void* image) {
  std::uint32_t word = 0;
  std::memcpy(&word, image, sizeof word);
  return word;
}

bool is_elf(const void* image) {
  return std::memcmp(image,
                     "\x7f"
                     "ELF",
                     4) == 0;
}

ImageError machine_code_only() {
  return {
      CUDA_ERROR_NO_BINARY_FOR_GPU,
      "the program loads a cubin, which holds machine code alone: the emulated device runs PTX. "
      "Load PTX or a fat binary with PTX instead (nvcc -ptx or -fatbin)"};
}

}  // namespace

Loaded link_texts(const std::vector<std::string>& texts) {
  std::vector<ptx::Program> programs;
  auto joined = std::make_shared<std::string>();
  for (const std::string& text : texts) {
    auto program = ptx::parse(text);
    if (!program) return ImageError{code_of(program.error()), program.error().message};
    programs.push_back(*std::move(program));
    joined->append(text, 0, text.find('\0'));
  }
  if (programs.empty()) return Image{std::make_shared<const ptx::Program>(), std::move(joined)};
  auto linked = ptx::link(std::move(programs));
  if (!linked) return ImageError{code_of(linked.error()), linked.error().message};
  if (auto sound = ptx::verify(*linked); !sound)
    return ImageError{code_of(sound.error()), sound.error().message};
  return Image{std::make_shared<const ptx::Program>(*std::move(linked)), std::move(joined)};
}

Texts texts_of(std::span<const std::byte> bytes, const Preset& preset) {
  if (bytes.size() >= 4 && first_word(bytes.data()) == kContainerMagic) {
    auto entries = ptx::read_fatbin(bytes);
    if (!entries) return ImageError{CUDA_ERROR_INVALID_IMAGE, entries.error().message};
    return pick_texts({*std::move(entries)}, preset);
  }
  if (bytes.size() >= 4 && is_elf(bytes.data())) return machine_code_only();
  return std::vector{std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
}

Loaded load_image(std::span<const std::byte> bytes, const Preset& preset) {
  return load_texts(texts_of(bytes, preset));
}

Loaded load_image(const void* image, const Preset& preset) {
  const auto* bytes = static_cast<const std::byte*>(image);
  switch (first_word(image)) {
    case kContainerMagic:
      return load_image({bytes, ptx::fatbin_size(image)}, preset);
    case kWrapperMagic: {
      auto units = ptx::read_fatbin_wrapper(image);
      if (!units) return ImageError{CUDA_ERROR_INVALID_IMAGE, units.error().message};
      return load_texts(pick_texts(*units, preset));
    }
    default:
      break;
  }
  if (is_elf(image)) return machine_code_only();
  return load_image({bytes, std::strlen(static_cast<const char*>(image))}, preset);
}

}  // namespace drgpum::emulator
