// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/read_csv.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace drgpum {
namespace {

// Walks over the lines of a table and cuts each into fields; remembers where it is for messages.
class Table {
 public:
  Table(std::string_view text, const std::string& source) : rest_(text), source_(source) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // a byte order mark
  }

  // False at the end. Blank lines are skipped.
  bool next() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
        line.remove_suffix(1);
      if (line.empty()) continue;
      split(line);
      return true;
    }
    return false;
  }

  const std::vector<std::string_view>& fields() const { return fields_; }

  Error error(const std::string& what) const {
    return {ErrorCode::kCorrupt, source_ + ":" + std::to_string(line_) + ": " + what};
  }

  Result<std::int64_t> number(std::size_t column, std::string_view name) const {
    return number_in(fields_[column], name);
  }

  Result<std::int64_t> number_in(std::string_view text, std::string_view name) const {
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc::result_out_of_range)
      return error(std::string(name) + " '" + std::string(text) + "' does not fit 64 bits");
    if (code != std::errc() || end != text.data() + text.size())
      return error(std::string(name) + " '" + std::string(text) + "' is not a whole number");
    return value;
  }

 private:
  void split(std::string_view line) {
    fields_.clear();
    while (true) {
      const std::size_t end = end_of_field(line);
      fields_.push_back(trimmed(line.substr(0, end)));
      if (end >= line.size()) return;
      line.remove_prefix(end + 1);
    }
  }

  static std::size_t end_of_field(std::string_view line) {
    std::size_t from = 0;
    if (line.starts_with('"')) from = std::min(line.find('"', 1), line.size());
    return std::min(line.find(',', from), line.size());
  }

  static std::string_view trimmed(std::string_view field) {
    while (!field.empty() && field.front() == ' ')
      field.remove_prefix(1);
    while (!field.empty() && field.back() == ' ')
      field.remove_suffix(1);
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
      return field.substr(1, field.size() - 2);
    return field;
  }

  std::string_view rest_;
  const std::string& source_;
  std::vector<std::string_view> fields_;
  std::size_t line_ = 0;
};

constexpr std::size_t kAbsent = SIZE_MAX;

struct Columns {
  std::size_t id = kAbsent, lower = kAbsent, upper = kAbsent, size = kAbsent;
  std::size_t alignment = kAbsent, offset = kAbsent, gaps = kAbsent;
  std::size_t time = kAbsent, op = kAbsent;
  std::size_t count = 0;
};

std::size_t* column_named(Columns& columns, std::string_view name) {
  const std::array<std::pair<std::string_view, std::size_t*>, 13> names = {
      {{"id", &columns.id},
       {"buffer", &columns.id},
       {"buffer_id", &columns.id},
       {"lower", &columns.lower},
       {"start", &columns.lower},
       {"upper", &columns.upper},
       {"end", &columns.upper},
       {"size", &columns.size},
       {"alignment", &columns.alignment},
       {"offset", &columns.offset},
       {"gaps", &columns.gaps},
       {"time_ns", &columns.time},
       {"op", &columns.op}}};
  for (const auto& [known, column] : names)
    if (known == name) return column;
  return nullptr;
}

Result<Columns> read_header(const Table& table) {
  Columns columns;
  for (std::size_t i = 0; i < table.fields().size(); ++i) {
    const std::string name(table.fields()[i]);
    std::size_t* column = column_named(columns, name);
    if (column == nullptr)
      return table.error(
          "column '" + name +
          "' is unknown; known are id, lower, upper, size, alignment, offset, gaps, time_ns, op");
    if (*column != kAbsent) return table.error("column '" + name + "' occurs twice");
    *column = i;
  }
  columns.count = table.fields().size();
  const bool events = columns.op != kAbsent || columns.time != kAbsent;
  const bool complete = events ? columns.op != kAbsent && columns.time != kAbsent &&
                                     columns.id != kAbsent && columns.size != kAbsent
                               : columns.id != kAbsent && columns.lower != kAbsent &&
                                     columns.upper != kAbsent && columns.size != kAbsent;
  if (!complete)
    return table.error(
        std::string("the header lacks a column: ") +
        (events ? "events need time_ns,op,id,size" : "lifetimes need id,lower,upper,size"));
  return columns;
}

Status need_fields(const Table& table, const Columns& columns) {
  if (table.fields().size() == columns.count) return Ok{};
  return table.error(std::to_string(table.fields().size()) + " fields where the header has " +
                     std::to_string(columns.count));
}

Result<std::vector<TimeRange>> read_gaps(const Table& table, std::string_view text) {
  std::vector<TimeRange> gaps;
  while (!text.empty()) {
    const std::string_view gap = text.substr(0, std::min(text.find(' '), text.size()));
    text.remove_prefix(std::min(gap.size() + 1, text.size()));
    if (gap.empty()) continue;
    const std::size_t dash = gap.find('-', 1);
    if (dash == std::string_view::npos)
      return table.error("gap '" + std::string(gap) + "' is not of the form lower-upper");
    ASSIGN_OR_RETURN(const std::int64_t lower, table.number_in(gap.substr(0, dash), "gap"));
    ASSIGN_OR_RETURN(const std::int64_t upper, table.number_in(gap.substr(dash + 1), "gap"));
    gaps.push_back({lower, upper});
  }
  std::sort(gaps.begin(), gaps.end(),
            [](const TimeRange& a, const TimeRange& b) { return a.lower < b.lower; });
  return gaps;
}

Status read_optional_columns(const Table& table, const Columns& columns, PlanObject& object) {
  const auto given = [&](std::size_t column) {
    return column != kAbsent && !table.fields()[column].empty();
  };
  if (given(columns.alignment)) {
    ASSIGN_OR_RETURN(object.alignment, table.number(columns.alignment, "alignment"));
  }
  if (given(columns.offset)) {
    ASSIGN_OR_RETURN(object.fixed_offset, table.number(columns.offset, "offset"));
  }
  if (given(columns.gaps)) {
    ASSIGN_OR_RETURN(object.gaps, read_gaps(table, table.fields()[columns.gaps]));
  }
  return Ok{};
}

Result<PlanObject> read_lifetime(const Table& table, const Columns& columns) {
  PlanObject object;
  object.id = std::string(table.fields()[columns.id]);
  ASSIGN_OR_RETURN(object.life.lower, table.number(columns.lower, "lower"));
  ASSIGN_OR_RETURN(object.life.upper, table.number(columns.upper, "upper"));
  ASSIGN_OR_RETURN(object.size, table.number(columns.size, "size"));
  if (object.life.upper <= object.life.lower)
    return table.error("object '" + object.id + "': upper " + std::to_string(object.life.upper) +
                       " is not greater than lower " + std::to_string(object.life.lower));
  if (object.size < 0)
    return table.error("object '" + object.id + "': size " + std::to_string(object.size) +
                       " is negative");
  RETURN_IF_ERROR(read_optional_columns(table, columns, object));
  return object;
}

Status add_size(const Table& table, const PlanObject& object, std::int64_t& sum) {
  if (!__builtin_add_overflow(sum, object.size, &sum)) return Ok{};
  return table.error("object '" + object.id + "': size " + std::to_string(object.size) +
                     " makes the sum of all sizes overflow 63 bits");
}

Result<Problem> read_lifetimes(Table& table, const Columns& columns, const std::string& source) {
  Problem problem;
  problem.source = source;
  std::unordered_map<std::string, bool> seen;
  std::int64_t sum = 0;
  while (table.next()) {
    RETURN_IF_ERROR(need_fields(table, columns));
    ASSIGN_OR_RETURN(PlanObject object, read_lifetime(table, columns));
    if (!seen.emplace(object.id, true).second)
      return table.error("id '" + object.id + "' occurs twice; ids have to be unique");
    RETURN_IF_ERROR(add_size(table, object, sum));
    problem.objects.push_back(std::move(object));
  }
  return problem;
}

// Turns the lines of an event table into events and objects.
class EventReader {
 public:
  EventReader(Table& table, const Columns& columns) : table_(table), columns_(columns) {}

  Result<Problem> read(const std::string& source) {
    problem_.source = source;
    problem_.has_times = true;
    while (table_.next()) {
      RETURN_IF_ERROR(need_fields(table_, columns_));
      RETURN_IF_ERROR(read_event());
    }
    const auto end = static_cast<std::int64_t>(problem_.events.size());
    for (const auto& [id, use] : ids_)
      if (use.live != kNoObject) problem_.objects[use.live].life.upper = end;
    return std::move(problem_);
  }

 private:
  struct Use {
    std::uint32_t live = kNoObject;
    int count = 0;
  };

  Status read_event() {
    PlanEvent event;
    ASSIGN_OR_RETURN(event.time_ns, table_.number(columns_.time, "time_ns"));
    if (!problem_.events.empty() && event.time_ns < problem_.events.back().time_ns)
      return table_.error("time_ns " + std::to_string(event.time_ns) +
                          " falls below the line before, " +
                          std::to_string(problem_.events.back().time_ns));
    const std::string_view op = table_.fields()[columns_.op];
    const std::string id(table_.fields()[columns_.id]);
    if (op == "malloc") return start_object(event, id);
    if (op == "iteration") return add(event, EventKind::kIteration, kNoObject);
    if (op == "layer") {
      problem_.layer_names.push_back(id);
      return add(event, EventKind::kLayer,
                 static_cast<std::uint32_t>(problem_.layer_names.size() - 1));
    }
    return touch_object(event, id, op);
  }

  Status touch_object(PlanEvent event, const std::string& id, std::string_view op) {
    if (op != "free" && op != "read" && op != "write")
      return table_.error("op '" + std::string(op) +
                          "' is unknown; known are malloc, free, read, write, iteration, layer");
    Use& use = ids_[id];
    if (use.live == kNoObject)
      return table_.error(std::string(op) + " of '" + id + "', which is not allocated");
    const std::uint32_t object = use.live;
    if (op == "free") {
      problem_.objects[object].life.upper = static_cast<std::int64_t>(problem_.events.size());
      use.live = kNoObject;
      return add(event, EventKind::kFree, object);
    }
    return add(event, op == "read" ? EventKind::kRead : EventKind::kWrite, object);
  }

  Status start_object(PlanEvent event, const std::string& id) {
    Use& use = ids_[id];
    if (use.live != kNoObject)
      return table_.error("malloc of '" + id +
                          "', which is still allocated: free it first or use another id");
    PlanObject object;
    object.id = ++use.count == 1 ? id : id + "#" + std::to_string(use.count);
    ASSIGN_OR_RETURN(object.size, table_.number(columns_.size, "size"));
    if (object.size < 0)
      return table_.error("object '" + id + "': size " + std::to_string(object.size) +
                          " is negative");
    RETURN_IF_ERROR(add_size(table_, object, sum_));
    object.life.lower = static_cast<std::int64_t>(problem_.events.size());
    use.live = static_cast<std::uint32_t>(problem_.objects.size());
    problem_.objects.push_back(std::move(object));
    return add(event, EventKind::kMalloc, use.live);
  }

  Status add(PlanEvent event, EventKind kind, std::uint32_t object) {
    event.kind = kind;
    event.object = object;
    problem_.events.push_back(event);
    return Ok{};
  }

  Table& table_;
  const Columns& columns_;
  Problem problem_;
  std::unordered_map<std::string, Use> ids_;
  std::int64_t sum_ = 0;
};

}  // namespace

Result<Problem> parse_problem_csv(std::string_view text, const std::string& source) {
  Table table(text, source);
  if (!table.next())
    return Error{ErrorCode::kCorrupt,
                 source + ": the file is empty; a header such as id,lower,upper,size is needed"};
  ASSIGN_OR_RETURN(const Columns columns, read_header(table));
  Result<Problem> problem = columns.op != kAbsent ? EventReader(table, columns).read(source)
                                                  : read_lifetimes(table, columns, source);
  if (!problem) return problem;
  RETURN_IF_ERROR(validate(*problem));
  return problem;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error{errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                 path + ": " + std::strerror(errno)};
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return Error{ErrorCode::kIo, path + ": cannot be read to its end"};
  return text;
}

Result<Problem> read_problem_csv(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  return parse_problem_csv(text, path);
}

}  // namespace drgpum
