// SPDX-License-Identifier: Apache-2.0
#pragma once
// One statement of a text trace, taken apart into words.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/result.h"

namespace drgpum::trace {

class Words {
 public:
  static Result<Words> split(std::string_view statement);

  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] std::string_view peek() const {
    return empty() ? std::string_view() : std::string_view(words_.front().text);
  }
  // The next word that is no option; takes it.
  Result<std::string> take(std::string_view what);
  bool take_if(std::string_view word);

  // Options, wherever they stand; taken out, so that what is left over can be refused.
  std::optional<std::string> option(std::string_view key);
  bool flag(std::string_view word);
  Result<std::uint64_t> number_option(std::string_view key, std::uint64_t otherwise);
  Result<std::vector<std::uint64_t>> list_option(std::string_view key);

 private:
  struct Word {
    std::string text;
    std::string key;  // of key=value; then `text` is the value
    bool quoted = false;
  };
  std::vector<Word> words_;
};

// 12, 0x1f, 4K, 2M, 1G.
Result<std::uint64_t> parse_number(std::string_view text);

}  // namespace drgpum::trace
