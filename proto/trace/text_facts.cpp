// SPDX-License-Identifier: Apache-2.0
// Facts about calls in a text trace: access maps, sites, coverage, the end.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "proto/trace/text_parser.h"

namespace drgpum::trace {
namespace {

Result<std::vector<ByteRange>> ranges_of(Words& words, std::string_view key) {
  std::vector<ByteRange> ranges;
  const std::string text = words.option(key).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::size_t colon = text.find(':', at);
    if (colon >= comma) return bad_text("'" + text + "' is no list of ranges A:B");
    ByteRange range;
    ASSIGN_OR_RETURN(range.begin, parse_number(text.substr(at, colon - at)));
    ASSIGN_OR_RETURN(range.end, parse_number(text.substr(colon + 1, comma - colon - 1)));
    ranges.push_back(range);
    at = comma + 1;
  }
  return ranges;
}

// Whatever the locale.
Result<double> real_option(Words& words, std::string_view key) {
  const std::string text = words.option(key).value_or("0");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return bad_text("'" + text + "' is no number");
  return value;
}

}  // namespace

// The call that a fact is about.
Result<ApiId> TextParser::subject(Words& words) const {
  if (next_api_ == 0) return bad_text("there is no call yet that this could be about");
  ASSIGN_OR_RETURN(const std::uint64_t api, words.number_option("api", next_api_ - 1));
  return ApiId{api};
}

Status TextParser::map(Words& words) {
  AccessMapRecord map;
  ASSIGN_OR_RETURN(const std::string name, words.take("the object"));
  ASSIGN_OR_RETURN(const Object found, object(name));
  map.object = found.id;
  ASSIGN_OR_RETURN(map.api, subject(words));
  ASSIGN_OR_RETURN(const std::uint64_t cell, words.number_option("cell", 1));
  map.cell_bytes = static_cast<std::uint32_t>(cell);
  map.exact = words.flag("exact");
  if (const auto blocks = words.option("blocks")) {
    ASSIGN_OR_RETURN(map.block_every, parse_number(*blocks));
  }
  ASSIGN_OR_RETURN(map.read_ranges, ranges_of(words, "reads"));
  ASSIGN_OR_RETURN(map.written_ranges, ranges_of(words, "writes"));
  ASSIGN_OR_RETURN(map.counted_cells, words.number_option("counted", 0));
  ASSIGN_OR_RETURN(map.count_mean, real_option(words, "mean"));
  ASSIGN_OR_RETURN(map.count_variance, real_option(words, "variance"));
  ASSIGN_OR_RETURN(map.count_histogram, words.list_option("histogram"));
  ASSIGN_OR_RETURN(const std::vector<ByteRange> hot, ranges_of(words, "hot"));
  if (!hot.empty()) map.hot_range = hot.front();
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> heat, words.list_option("heat"));
  for (const std::uint64_t cells : heat)
    map.heat_strip.push_back(static_cast<std::uint32_t>(cells));
  records_.push_back(map);
  return Ok{};
}

Status TextParser::site(Words& words) {
  AccessSiteRecord site;
  ASSIGN_OR_RETURN(const std::string name, words.take("the object"));
  ASSIGN_OR_RETURN(const Object found, object(name));
  site.object = found.id;
  ASSIGN_OR_RETURN(const std::string function, words.take("the function"));
  ASSIGN_OR_RETURN(const std::string offset, words.take("the offset"));
  ASSIGN_OR_RETURN(site.offset, parse_number(offset));
  ASSIGN_OR_RETURN(site.api, subject(words));
  ASSIGN_OR_RETURN(site.reads, words.number_option("reads", 0));
  ASSIGN_OR_RETURN(site.writes, words.number_option("writes", 0));
  site.function = kernel(function);
  records_.push_back(site);
  return Ok{};
}

Status TextParser::coverage(Words& words) {
  CoverageRecord coverage;
  ASSIGN_OR_RETURN(const std::string kind, words.take("the kind"));
  const auto known = enum_of<CoverageKind>(kind);
  if (!known) return bad_text("no coverage is called '" + kind + "'");
  coverage.kind = *known;
  if (const auto api = words.option("api")) {
    ASSIGN_OR_RETURN(const std::uint64_t id, parse_number(*api));
    coverage.api = ApiId{id};
  }
  ASSIGN_OR_RETURN(coverage.object, object_option(words, "object"));
  ASSIGN_OR_RETURN(coverage.count, words.number_option("count", 1));
  if (!words.empty()) {
    ASSIGN_OR_RETURN(coverage.text, words.take("the text"));
  }
  records_.push_back(coverage);
  return Ok{};
}

Status TextParser::end(Words& words) {
  EndRecord end;
  end.api_count = {next_api_};
  if (const auto code = words.option("exit")) {
    end.exit_code_known = true;
    end.exit_code = std::atoi(code->c_str());
  }
  records_.push_back(end);
  return Ok{};
}

}  // namespace drgpum::trace
