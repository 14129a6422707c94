// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reports are the same bytes whatever the locale of the program that writes them.

#include <locale>
#include <ostream>

namespace drgpum {

// Takes grouping and the like off a stream while it lives.
class ClassicStream {
 public:
  explicit ClassicStream(std::ostream& out) : out_(out), before_(out.imbue(std::locale::classic())) {}
  ~ClassicStream() { out_.imbue(before_); }
  ClassicStream(const ClassicStream&) = delete;
  ClassicStream& operator=(const ClassicStream&) = delete;

 private:
  std::ostream& out_;
  std::locale before_;
};

}  // namespace drgpum
