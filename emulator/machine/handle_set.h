// SPDX-License-Identifier: Apache-2.0
#pragma once
// The live objects of one type that programs hold handles to.

#include <memory>
#include <unordered_map>

namespace drgpum::emulator {

// A handle is the object's address; one that was never given out, or is gone, is found out.
template <typename T>
class HandleSet {
 public:
  T* add(std::unique_ptr<T> object) {
    T* handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  T* make() { return add(std::make_unique<T>()); }

  [[nodiscard]] T* get(const void* handle) const {
    const auto it = objects_.find(handle);
    return it != objects_.end() ? it->second.get() : nullptr;
  }

  void remove(const void* handle) { objects_.erase(handle); }

  std::unique_ptr<T> take(const void* handle) {
    auto node = objects_.extract(handle);
    return node ? std::move(node.mapped()) : nullptr;
  }

  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [handle, object] : objects_)
      visit(*object);
  }

 private:
  std::unordered_map<const void*, std::unique_ptr<T>> objects_;
};

}  // namespace drgpum::emulator
