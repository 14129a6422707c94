// SPDX-License-Identifier: Apache-2.0
// A program to look up addresses in: inlining, templates, lambdas, namespaces, cold parts. Built
// with several kinds of debug information; source_program.h says what is in it.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace sample {
namespace {

inline int innermost(int x) {
  return std::to_string(x).size() > 2 ? x * 3 : x + 1;
}

inline int middle(int x) {
  int sum = 0;
  for (int k = 0; k < x; ++k)
    sum += innermost(k * x);
  return sum;
}

template <typename T>
__attribute__((noinline)) T outer(T x) {
  if (x > 1000000) throw std::runtime_error("too large: " + std::to_string(x));
  return static_cast<T>(middle(static_cast<int>(x))) + x;
}

}  // namespace

struct Worker {
  std::vector<int> values;
  __attribute__((noinline)) int run(int count);
};

int Worker::run(int count) {
  const auto add = [this](int x) { values.push_back(innermost(x)); };
  for (int k = 0; k < count; ++k)
    add(k);
  int total = 0;
  for (const int value : values)
    total += value;
  return total;
}

}  // namespace sample

extern "C" __attribute__((noinline)) int c_function(int x) {
  return x ^ 0x55;
}

int main(int argc, char**) {
  sample::Worker worker;
  std::printf("%d %ld %d %d\n", sample::outer(argc), sample::outer(static_cast<long>(argc)),
              worker.run(argc + 3), c_function(argc));
  return 0;
}
