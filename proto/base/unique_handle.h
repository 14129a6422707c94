// SPDX-License-Identifier: Apache-2.0
#pragma once
// One line of RAII for each C handle: using ElfHandle = UniqueHandle<Elf, elf_end>;

#include <memory>

namespace drgpum {

template <auto release>
struct Releaser {
  template <typename T>
  void operator()(T* handle) const noexcept {
    static_cast<void>(release(handle));  // a destructor has nobody to tell
  }
};

template <typename T, auto release>
using UniqueHandle = std::unique_ptr<T, Releaser<release>>;

}  // namespace drgpum
