// SPDX-License-Identifier: Apache-2.0
#pragma once
// An array of plain values that grows in place where it can: large ones are remapped, not copied,
// and pages that were never written cost nothing. Millions of values are held in these.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace drgpum {

template <typename T>
class PodArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PodArray() = default;
  PodArray(PodArray&& from) noexcept
      : data_(std::exchange(from.data_, nullptr)),
        size_(std::exchange(from.size_, 0)),
        capacity_(std::exchange(from.capacity_, 0)) {}
  PodArray& operator=(PodArray&& from) noexcept {
    std::swap(data_, from.data_);
    std::swap(size_, from.size_);
    std::swap(capacity_, from.capacity_);
    return *this;
  }
  ~PodArray() { std::free(data_); }

  void push_back(T value) {  // by value: it may lie in here
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }
  void append(const T* values, std::size_t count) {
    if (size_ + count > capacity_) grow(size_ + count);
    if (count > 0) std::memcpy(data_ + size_, values, count * sizeof(T));
    size_ += count;
  }
  void resize(std::size_t size, T fill) {
    if (size > capacity_) grow(size);
    for (std::size_t i = size_; i < size; ++i)
      data_[i] = fill;
    size_ = size;
  }
  void pop_back() { --size_; }
  void shrink(std::size_t size) { size_ = size; }
  void clear() { size_ = 0; }
  void release() { *this = PodArray(); }

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<const T> view() const { return {data_, size_}; }

 private:
  void grow(std::size_t least) {
    std::size_t wanted = capacity_ + capacity_ / 2 + 8;
    if (wanted < least) wanted = least;
    void* wider = std::realloc(static_cast<void*>(data_), wanted * sizeof(T));
    if (wider == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(wider);
    capacity_ = wanted;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace drgpum
