// SPDX-License-Identifier: Apache-2.0
// A program without inlining, in whose functions tests of call paths place their frames.

namespace sample {

int get_memory(int x) {
  return x + 1;
}

int reserve_more(int x) {
  int result = get_memory(x);
  return result + get_memory(result);
}

}  // namespace sample

int main() {
  int sum = sample::reserve_more(1);
  return sum + sample::reserve_more(2);
}
