// SPDX-License-Identifier: Apache-2.0
// Optimised C++ with much inlining, for host_lines.py: containers, algorithms, lambdas, templates,
// exceptions, virtual calls, local classes, code from macros.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace {

#define SCALE(v, by) \
  do {               \
    (v) *= (by);     \
    (v) += 1;        \
  } while (0)

template <int depth>
struct Chain {
  static long of(long x) { return Chain<depth - 1>::of(x * 3 + depth) ^ (x >> depth); }
};
template <>
struct Chain<0> {
  static long of(long x) { return x - 1; }
};

struct Shape {
  virtual ~Shape() = default;
  [[nodiscard]] virtual double area() const = 0;
};
struct Square : Shape {
  explicit Square(double s) : side(s) {}
  [[nodiscard]] double area() const override { return side * side; }
  double side;
};
struct Circle : Shape {
  explicit Circle(double r) : radius(r) {
    if (radius < 0) throw std::invalid_argument("radius " + std::to_string(r));
  }
  [[nodiscard]] double area() const override { return 3.14159 * radius * radius; }
  double radius;
};

struct Block {
  std::string name;
  std::size_t size = 0;
  std::vector<int> uses;
};

class Pool {
 public:
  std::size_t take(const std::string& name, std::size_t size) {
    const auto at = std::find_if(free_.begin(), free_.end(),
                                 [size](const auto& gap) { return gap.second >= size; });
    if (at == free_.end()) {
      blocks_[next_] = {name, size, {}};
      return std::exchange(next_, next_ + size);
    }
    const std::size_t offset = at->first;
    const std::size_t rest = at->second - size;
    free_.erase(at);
    if (rest > 0) free_.emplace(offset + size, rest);
    blocks_[offset] = {name, size, {}};
    return offset;
  }
  void give(std::size_t offset) {
    const auto found = blocks_.find(offset);
    if (found == blocks_.end()) throw std::out_of_range("no block at " + std::to_string(offset));
    free_.emplace(offset, found->second.size);
    blocks_.erase(found);
    merge();
  }
  template <typename See>
  void each(See see) const {
    for (const auto& [offset, block] : blocks_)
      see(offset, block);
  }

 private:
  void merge() {
    for (auto gap = free_.begin(); gap != free_.end();) {
      const auto next = std::next(gap);
      if (next == free_.end() || gap->first + gap->second != next->first) {
        ++gap;
        continue;
      }
      gap->second += next->second;
      free_.erase(next);
    }
  }
  std::map<std::size_t, std::size_t> free_;
  std::map<std::size_t, Block> blocks_;
  std::size_t next_ = 0;
};

using Value = std::variant<long, double, std::string>;

std::string text_of(const Value& value) {
  struct Printer {
    std::string operator()(long x) const { return std::to_string(x); }
    std::string operator()(double x) const { return std::to_string(x) + "f"; }
    std::string operator()(const std::string& x) const { return '"' + x + '"'; }
  };
  return std::visit(Printer{}, value);
}

template <typename T>
T sum_of(const std::vector<T>& values, const std::function<T(T)>& change) {
  return std::accumulate(values.begin(), values.end(), T{},
                         [&](T all, T one) { return all + change(one); });
}

std::vector<long> sorted_words(int seed) {
  std::unordered_map<std::string, long> counts;
  for (int k = 0; k < 100; ++k) {
    std::string word(1 + static_cast<std::size_t>((k * seed) % 7), static_cast<char>('a' + k % 26));
    std::reverse(word.begin(), word.end());
    ++counts[word];
  }
  std::vector<std::pair<std::string, long>> order(counts.begin(), counts.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<long> result;
  std::transform(order.begin(), order.end(), std::back_inserter(result),
                 [](const auto& entry) { return Chain<4>::of(entry.second); });
  std::stable_sort(result.begin(), result.end(), std::greater<>());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

double total_area(int count) {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int k = 0; k < count; ++k) {
    if (k % 2 == 0)
      shapes.push_back(std::make_unique<Square>(k));
    else
      shapes.push_back(std::make_unique<Circle>(k - 3));
  }
  double all = 0;
  for (const auto& shape : shapes) {
    double one = shape->area();
    SCALE(one, 2);
    all += one;
  }
  return all;
}

}  // namespace

__attribute__((noinline)) long run_pool(int rounds) {
  Pool pool;
  std::set<std::size_t> live;
  long check = 0;
  for (int k = 0; k < rounds; ++k) {
    live.insert(pool.take("block " + std::to_string(k), static_cast<std::size_t>(k % 13 + 1)));
    if (k % 3 == 0) {
      pool.give(*live.begin());
      live.erase(live.begin());
    }
    pool.each([&](std::size_t offset, const Block& block) {
      check += static_cast<long>(offset + block.size + block.name.size());
    });
  }
  return check;
}

int main(int argc, char**) {
  long check = 0;
  try {
    check += run_pool(argc * 40);
    for (const long value : sorted_words(argc))
      check += value;
    check += static_cast<long>(total_area(argc + 1));
    check += sum_of<long>({1, 2, 3, argc}, [argc](long x) { return x * argc; });
    check += static_cast<long>(text_of(check).size() + text_of(1.5).size());
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
  }
  std::printf("%ld %s\n", check, text_of(std::string("end")).c_str());
  return 0;
}
