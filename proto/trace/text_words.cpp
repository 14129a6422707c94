// SPDX-License-Identifier: Apache-2.0
// Splits a statement at blanks outside of quotes.
#include "proto/trace/text_words.h"

#include <charconv>

namespace drgpum::trace {
namespace {

Error bad(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

}  // namespace

Result<std::uint64_t> parse_number(std::string_view text) {
  const std::string_view whole = text;
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  const std::string_view unit = text.substr(static_cast<std::size_t>(stop - text.data()));
  unsigned shift = 0;
  if (unit == "K") shift = 10;
  if (unit == "M") shift = 20;
  if (unit == "G") shift = 30;
  if (error != std::errc() || (!unit.empty() && shift == 0) || (value << shift >> shift) != value)
    return bad("'" + std::string(whole) + "' is no number");
  return value << shift;
}

Result<Words> Words::split(std::string_view statement) {
  Words words;
  for (std::size_t at = 0; at < statement.size();) {
    if (is_blank(statement[at])) {
      ++at;
      continue;
    }
    Word word;
    for (; at < statement.size() && !is_blank(statement[at]); ++at) {
      if (statement[at] == '=' && word.key.empty() && !word.quoted) {
        word.key.swap(word.text);
      } else if (statement[at] != '"') {
        word.text += statement[at];
      } else {
        const std::size_t close = statement.find('"', at + 1);
        if (close == std::string_view::npos) return bad("a quote is not closed");
        word.text += statement.substr(at + 1, close - at - 1);
        word.quoted = true;
        at = close;
      }
    }
    words.words_.push_back(std::move(word));
  }
  return words;
}

Result<std::string> Words::take(std::string_view what) {
  for (std::size_t k = 0; k < words_.size(); ++k) {
    if (!words_[k].key.empty()) continue;
    std::string text = std::move(words_[k].text);
    words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(k));
    return text;
  }
  return bad(std::string(what) + " is missing");
}

bool Words::take_if(std::string_view word) {
  if (empty() || !words_.front().key.empty() || words_.front().text != word) return false;
  words_.erase(words_.begin());
  return true;
}

std::optional<std::string> Words::option(std::string_view key) {
  for (std::size_t k = 0; k < words_.size(); ++k) {
    if (words_[k].key != key) continue;
    std::string value = std::move(words_[k].text);
    words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(k));
    return value;
  }
  return std::nullopt;
}

bool Words::flag(std::string_view word) {
  for (std::size_t k = 0; k < words_.size(); ++k) {
    if (!words_[k].key.empty() || words_[k].quoted || words_[k].text != word) continue;
    words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(k));
    return true;
  }
  return false;
}

Result<std::uint64_t> Words::number_option(std::string_view key, std::uint64_t otherwise) {
  const auto value = option(key);
  if (!value) return otherwise;
  return parse_number(*value);
}

Result<std::vector<std::uint64_t>> Words::list_option(std::string_view key) {
  std::vector<std::uint64_t> numbers;
  const auto value = option(key);
  for (std::size_t at = 0; value && at <= value->size();) {
    const std::size_t comma = std::min(value->find(',', at), value->size());
    ASSIGN_OR_RETURN(const std::uint64_t number,
                     parse_number(std::string_view(*value).substr(at, comma - at)));
    numbers.push_back(number);
    at = comma + 1;
  }
  return numbers;
}

}  // namespace drgpum::trace
