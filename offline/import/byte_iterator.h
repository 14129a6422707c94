// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ByteStream as the input iterator that the JSON parser takes; the end is a stream that has none
// left.

#include <cstddef>
#include <iterator>

#include "offline/import/byte_stream.h"

namespace drgpum {

class ByteIterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = char;
  using pointer = const char*;
  using reference = char;
  using iterator_category = std::input_iterator_tag;

  explicit ByteIterator(ByteStream* bytes) : bytes_(bytes) {}
  char operator*() const { return static_cast<char>(*bytes_->data()); }
  ByteIterator& operator++() {
    bytes_->advance(1);
    return *this;
  }
  ByteIterator operator++(int) {
    ByteIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const ByteIterator& other) const { return is_end() == other.is_end(); }
  bool operator!=(const ByteIterator& other) const { return !(*this == other); }

 private:
  bool is_end() const { return bytes_ == nullptr || !bytes_->need(1); }
  ByteStream* bytes_;
};

}  // namespace drgpum
