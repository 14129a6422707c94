// SPDX-License-Identifier: Apache-2.0
// Carries the compiled device code inside the program; the build says where the files are.

#include "proto/device/patches.h"

#define DRGPUM_EMBED(symbol, file)                                                          \
  asm(".section .rodata\n.balign 64\n.hidden " #symbol "\n.global " #symbol "\n" #symbol    \
      ":\n.incbin \"" file "\"\n.hidden " #symbol "_end\n.global " #symbol "_end\n" #symbol \
      "_end:\n.byte 0\n.previous\n");                                                       \
  extern "C" __attribute__((visibility("hidden"))) const std::byte symbol[];                \
  extern "C" __attribute__((visibility("hidden"))) const std::byte symbol##_end[]

DRGPUM_EMBED(drgpum_patch_image, DRGPUM_PATCH_IMAGE);
DRGPUM_EMBED(drgpum_portable_patch_image, DRGPUM_PORTABLE_PATCH_IMAGE);
DRGPUM_EMBED(drgpum_pattern_image, DRGPUM_PATTERN_IMAGE);

namespace drgpum::device {

std::span<const std::byte> patch_image() {
  return {drgpum_patch_image, drgpum_patch_image_end};
}

std::span<const std::byte> portable_patch_image() {
  return {drgpum_portable_patch_image, drgpum_portable_patch_image_end};
}

std::span<const std::byte> pattern_image() {
  return {drgpum_pattern_image, drgpum_pattern_image_end};
}

}  // namespace drgpum::device
