// SPDX-License-Identifier: Apache-2.0
#include "profiler/module_globals.h"

#include <cctype>
#include <cstdlib>

namespace drgpum::profiler {
namespace {

// Words of one declaration, up to its initial value: ".global .align 4 .b8 name[400]".
std::vector<std::string_view> words_of(std::string_view declaration) {
  declaration = declaration.substr(0, declaration.find('='));
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = declaration.find_first_not_of(" \t\n\r", at)) != std::string_view::npos) {
    const std::size_t end = std::min(declaration.find_first_of(" \t\n\r", at), declaration.size());
    words.push_back(declaration.substr(at, end - at));
    at = end;
  }
  return words;
}

// Bytes of an element of type ".b8", ".f32", ".v4"; 0 for words that are no type.
std::uint64_t element_bytes(std::string_view word) {
  if (word == ".f16x2" || word == ".bf16x2") return 4;
  const std::size_t digits = word.find_first_of("0123456789");
  const bool is_type = word.size() > 2 && word[0] == '.' && digits != std::string_view::npos &&
                       word.find_first_not_of("0123456789", digits) == std::string_view::npos &&
                       std::string_view("busf").find(word[1]) != std::string_view::npos;
  if (!is_type) return 0;
  return std::strtoull(std::string(word.substr(digits)).c_str(), nullptr, 10) / 8;
}

// "name[4][100]": the name, and the elements that it stands for.
std::uint64_t elements_of(std::string_view word, std::string* name) {
  std::size_t at = word.find('[');
  *name = std::string(word.substr(0, at));
  std::uint64_t elements = 1;
  for (; at != std::string_view::npos; at = word.find('[', at + 1)) {
    elements *= std::strtoull(std::string(word.substr(at + 1)).c_str(), nullptr, 10);
  }
  return elements;
}

ModuleGlobal parse_declaration(std::string_view text) {
  ModuleGlobal global;
  std::uint64_t bytes = 0, vector = 1;
  for (const std::string_view word : words_of(text)) {
    if (word == ".extern") return {};
    if (word == ".v2") vector = 2;
    if (word == ".v4") vector = 4;
    if (const std::uint64_t element = element_bytes(word)) bytes = element;
    const bool is_name = word[0] != '.' && std::isdigit(static_cast<unsigned char>(word[0])) == 0;
    if (is_name && bytes != 0) {
      global.size = bytes * vector * elements_of(word, &global.name);
    }
  }
  return global;
}

}  // namespace

std::vector<ModuleGlobal> globals_in_ptx(std::string_view image) {
  std::vector<ModuleGlobal> globals;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < image.size(); ++at) {
    const char character = image[at];
    if (character == '/' && image.substr(at).starts_with("//")) {
      at = std::min(image.find('\n', at), image.size());
      if (depth == 0 && image.substr(begin, at - begin).find('.') == std::string_view::npos) {
        begin = at;
      }
    } else if (character == '{') {
      ++depth;
    } else if (character == '}') {
      --depth;
      if (depth == 0 && image.substr(begin, at - begin).find('=') == std::string_view::npos) {
        begin = at + 1;
      }
    } else if (character == ';' && depth == 0) {
      const std::string_view declaration = image.substr(begin, at - begin);
      begin = at + 1;
      const bool is_variable = declaration.find(".global") != std::string_view::npos ||
                               declaration.find(".const") != std::string_view::npos;
      if (!is_variable) continue;
      const std::size_t space = std::min(declaration.find(".global"), declaration.find(".const"));
      const std::size_t line = declaration.rfind('\n', space);
      ModuleGlobal global = parse_declaration(
          line == std::string_view::npos ? declaration : declaration.substr(line));
      global.is_constant = declaration.substr(space).starts_with(".const");
      if (!global.name.empty()) globals.push_back(std::move(global));
    }
  }
  return globals;
}

std::vector<std::size_t> match_globals(const std::vector<ModuleGlobal>& globals,
                                       const std::vector<std::uint64_t>& sizes) {
  std::vector<char> taken(globals.size());
  std::vector<std::size_t> matches;
  for (const std::uint64_t size : sizes) {
    std::size_t i = 0;
    while (i < globals.size() && (taken[i] != 0 || globals[i].size != size))
      ++i;
    if (i < globals.size()) taken[i] = 1;
    matches.push_back(i);
  }
  return matches;
}

}  // namespace drgpum::profiler
