// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a thread keeps for as long as it may still make calls.

#include <pthread.h>

namespace drgpum::emulator {

// The calling thread's T, made when it is first asked for. A program may call CUDA from destructors
// of static objects, which run behind those of thread_local objects: this one stays. It is deleted
// when a thread other than the main one ends; a library that uses it must not be unloaded before
// (-z nodelete). `Tag` tells several of one type apart.
template <typename T, typename Tag>
class OfThread {
 public:
  static T& get() {
    if (value_ == nullptr) {
      value_ = new T();
      pthread_setspecific(key(), value_);
    }
    return *value_;
  }

 private:
  static pthread_key_t key() {
    static const pthread_key_t made = [] {
      pthread_key_t fresh{};
      pthread_key_create(&fresh, [](void* value) {
        value_ = nullptr;  // a later destructor of the thread gets a new one
        delete static_cast<T*>(value);
      });
      return fresh;
    }();
    return made;
  }
  static thread_local T* value_;
};

template <typename T, typename Tag>
thread_local T* OfThread<T, Tag>::value_ = nullptr;

}  // namespace drgpum::emulator
