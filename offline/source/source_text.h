// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program's source files, as far as they are on this machine.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace drgpum {

struct SourcePlaces {
  std::vector<std::string> roots;                             // --source-root
  std::vector<std::pair<std::string, std::string>> path_map;  // --path-map A=B: A's files lie in B
  std::map<std::string, std::string> files;  // the path in reports, to a file: of a bundle
};

class SourceText {
 public:
  explicit SourceText(SourcePlaces places) : places_(std::move(places)) {}

  // Lines from 1; empty when the file or the line is not there.
  std::string_view line(const std::string& file, std::uint32_t number);
  std::uint32_t line_count(const std::string& file);  // 0: the file is not there
  // The statement that the line is part of, comments and line ends taken out; empty likewise.
  std::string statement(const std::string& file, std::uint32_t number);
  // How many allocation calls the line itself holds.
  int allocations_on(const std::string& file, std::uint32_t number);

 private:
  struct File {
    std::string text;
    std::vector<std::size_t> begins;  // of lines, and the end
  };
  File& open(const std::string& file);
  std::vector<std::string> candidates(const std::string& file) const;

  SourcePlaces places_;
  std::map<std::string, File> files_;
};

}  // namespace drgpum
