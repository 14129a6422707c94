// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_filter.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>

#include <cxxabi.h>
#include <regex.h>

namespace drgpum::profiler {
namespace {

// A compiled POSIX expression.
class Expression {
 public:
  explicit Expression(const std::string& text)
      : error_(regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB)) {}
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  ~Expression() {
    if (error_ == 0) regfree(&compiled_);
  }
  [[nodiscard]] bool matches(const std::string& text) const {
    return error_ == 0 && regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0;
  }
  [[nodiscard]] Status status(const std::string& text) const {
    if (error_ == 0) return Ok{};
    char why[128];
    regerror(error_, &compiled_, why, sizeof why);
    return Error{ErrorCode::kInvalidArgument, "regular expression '" + text + "': " + why};
  }

 private:
  regex_t compiled_;
  int error_;
};

std::string without_parameters(const std::string& name) {
  return name.substr(0, name.find('('));
}

bool pattern_matches(const KernelPattern& pattern, const std::string& name) {
  switch (pattern.match) {
    case KernelMatch::kNameEquals:
      return name == pattern.text || without_parameters(name) == pattern.text;
    case KernelMatch::kNameContains:
      return name.find(pattern.text) != std::string::npos;
    case KernelMatch::kRegex:
      return Expression(pattern.text).matches(name);
  }
  return false;
}

bool any_matches(const std::vector<KernelPattern>& patterns, const std::string& mangled,
                 const std::string& plain) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const KernelPattern& pattern) {
    return pattern_matches(pattern, mangled) || pattern_matches(pattern, plain);
  });
}

Status check(const std::vector<KernelPattern>& patterns) {
  for (const KernelPattern& pattern : patterns) {
    if (pattern.match != KernelMatch::kRegex) continue;
    RETURN_IF_ERROR(Expression(pattern.text).status(pattern.text));
  }
  return Ok{};
}

Status read_whitelist(const std::string& path, std::unordered_set<std::string>* names) {
  std::ifstream file(path);
  if (!file) return Error{ErrorCode::kIo, "cannot read the whitelist '" + path + "'"};
  std::string line;
  while (std::getline(file, line)) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
      line.pop_back();
    if (!line.empty() && line[0] != '#') names->insert(line);
  }
  return Ok{};
}

// Every name that follows `mark` in the image.
std::vector<std::string> names_after(std::string_view image, std::string_view mark) {
  constexpr std::string_view kNameCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$";
  std::vector<std::string> names;
  for (auto at = image.find(mark); at != std::string_view::npos; at = image.find(mark, at)) {
    at += mark.size();
    const auto end = std::min(image.find_first_not_of(kNameCharacters, at), image.size());
    if (end > at) names.emplace_back(image.substr(at, end - at));
  }
  return names;
}

}  // namespace

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? std::string(text.get()) : name;
}

Result<KernelFilter> KernelFilter::make(const Options& options) {
  RETURN_IF_ERROR(check(options.only));
  RETURN_IF_ERROR(check(options.except));
  KernelFilter filter;
  filter.only_ = options.only;
  filter.except_ = options.except;
  if (!options.whitelist.empty()) {
    RETURN_IF_ERROR(read_whitelist(options.whitelist, &filter.whitelist_));
    filter.listed_ = true;
  }
  return filter;
}

bool KernelFilter::passes(const std::string& mangled) const {
  if (passes_all()) return true;
  const std::string plain = demangled(mangled);
  if (any_matches(except_, mangled, plain)) return false;
  if (!only_.empty() && !any_matches(only_, mangled, plain)) return false;
  return !listed_ || whitelist_.contains(mangled) || whitelist_.contains(plain) ||
         whitelist_.contains(without_parameters(plain));
}

bool LaunchSampler::takes(KernelId kernel, CallPathId path) {
  const std::uint64_t number = seen_++;
  if (number < skip_ || number - skip_ >= count_) return false;
  if (every_ <= 1) return true;
  const std::uint64_t key = std::uint64_t{kernel.value} << 32 | path.value;
  return launches_[key]++ % every_ == 0;
}

std::vector<std::string> kernel_names_in(std::string_view image) {
  const bool is_elf = image.starts_with(
      "\x7f"
      "ELF");
  return names_after(image, is_elf ? ".text." : ".entry ");
}

std::uint32_t narrowest_access_shift(std::string_view image) {
  constexpr std::uint32_t kFourBytes = 2;
  std::uint32_t shift = kFourBytes;
  for (std::size_t at = 0; at < image.size();) {
    const std::size_t end = std::min(image.find_first_of(";\n", at), image.size());
    const std::string_view statement = image.substr(at, end - at);
    at = end + 1;
    const auto names = [&](std::string_view word) {
      return statement.find(word) != std::string_view::npos;
    };
    const bool accesses = names("ld.") || names("st.") || names("atom.") || names("red.");
    if (!accesses || names(".shared") || names(".local") || names(".param")) continue;
    if (names(".u8") || names(".s8") || names(".b8")) return 0;
    if (names(".u16") || names(".s16") || names(".b16")) shift = 1;
  }
  return shift;
}

}  // namespace drgpum::profiler
