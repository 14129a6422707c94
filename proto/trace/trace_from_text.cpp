// SPDX-License-Identifier: Apache-2.0
// Reads a text trace, statement by statement: what a statement is, what its names stand for, and
// what all calls share.
#include <algorithm>
#include <utility>

#include "proto/trace/text_parser.h"
#include "proto/trace/trace_text.h"

namespace drgpum::trace {
namespace {

constexpr std::uint64_t kNsPerCall = 1000;
constexpr std::uint64_t kCallNs = 500;
constexpr std::uint64_t kAlignment = 512;  // of cudaMalloc

// Where the statement that begins at `at` ends: a line's end, a ';' or a '#', outside of quotes.
std::size_t statement_end(std::string_view text, std::size_t at) {
  for (bool quoted = false; at < text.size(); ++at) {
    if (text[at] == '"') quoted = !quoted;
    if (text[at] == '\n' || (!quoted && (text[at] == ';' || text[at] == '#'))) break;
  }
  return at;
}

}  // namespace

const std::map<std::string_view, TextParser::Handler>& TextParser::declarations() {
  static const std::map<std::string_view, Handler> table{{"cubin", &TextParser::cubin},
                                                         {"stream", &TextParser::stream},
                                                         {"end-stream", &TextParser::end_stream},
                                                         {"end-context", &TextParser::end_context},
                                                         {"end-object", &TextParser::end_object},
                                                         {"name", &TextParser::name},
                                                         {"global", &TextParser::global},
                                                         {"path", &TextParser::path},
                                                         {"module", &TextParser::module},
                                                         {"end-module", &TextParser::end_module},
                                                         {"map", &TextParser::map},
                                                         {"site", &TextParser::site},
                                                         {"coverage", &TextParser::coverage},
                                                         {"end", &TextParser::end}};
  return table;
}

const std::map<std::string_view, TextParser::CallHandler>& TextParser::calls() {
  static const std::map<std::string_view, CallHandler> table{
      {"alloc", &TextParser::alloc},         {"alloc-failed", &TextParser::alloc_failed},
      {"free", &TextParser::free},           {"memcpy", &TextParser::memcpy},
      {"memset", &TextParser::memset},       {"launch", &TextParser::launch},
      {"record", &TextParser::record_event}, {"wait", &TextParser::wait},
      {"sync", &TextParser::sync},           {"query", &TextParser::query},
      {"graph", &TextParser::graph},         {"host-function", &TextParser::host_function},
      {"push", &TextParser::push},           {"pop", &TextParser::pop},
      {"mark", &TextParser::instant},        {"iteration", &TextParser::iteration},
      {"capture-start", &TextParser::start}, {"capture-stop", &TextParser::stop}};
  return table;
}

Status TextParser::statement(Words words) {
  if (words.empty()) return Ok{};
  std::optional<std::uint64_t> number;
  if (auto read = parse_number(words.peek())) {
    number = *read;
    if (*read != next_api_) return bad_text("this is call " + std::to_string(next_api_));
    ASSIGN_OR_RETURN(const std::string taken, words.take("the number"));
  }
  ASSIGN_OR_RETURN(const std::string verb, words.take("the statement"));
  if (const auto found = calls().find(verb); found != calls().end()) {
    begin_context_if_none();
    RETURN_IF_ERROR(call(words, found->second));
  } else if (number) {
    return bad_text("'" + verb + "' is no call and has no number");
  } else if (verb == "process") {
    RETURN_IF_ERROR(process(words));
  } else if (verb == "device") {
    RETURN_IF_ERROR(device(words));
  } else if (verb == "context") {
    RETURN_IF_ERROR(context(words));
  } else if (const auto other = declarations().find(verb); other != declarations().end()) {
    begin_context_if_none();
    RETURN_IF_ERROR((this->*other->second)(words));
  } else {
    return bad_text("no statement is called '" + verb + "'");
  }
  if (!words.empty()) return bad_text("'" + std::string(words.peek()) + "' does not belong here");
  return Ok{};
}

Status TextParser::call(Words& words, CallHandler handler) {
  Call call;
  RETURN_IF_ERROR(common(words, call));
  RETURN_IF_ERROR((this->*handler)(words, call));
  ++next_api_;
  const ApiId id = call.api.id;
  records_.push_back(std::move(call.api));
  for (AccessRecord& access : call.accesses)
    records_.push_back(access);
  if (call.time) records_.push_back(TimeRecord{id, call.time->first, call.time->second});
  return Ok{};
}

Status TextParser::common(Words& words, Call& call) {
  GpuApi& api = call.api;
  api.id = {next_api_};
  api.context = context_;
  ASSIGN_OR_RETURN(const std::uint64_t thread, words.number_option("thread", 0));
  api.thread = {static_cast<std::uint32_t>(thread)};
  ASSIGN_OR_RETURN(const auto host, words.list_option("host"));
  api.host_begin_ns = host.empty() ? next_api_ * kNsPerCall : host.front();
  api.host_end_ns = host.empty() ? api.host_begin_ns + kCallNs : host.back();
  ASSIGN_OR_RETURN(const auto time, words.list_option("time"));
  if (!time.empty()) call.time = {time.front(), time.back()};
  if (const auto on = words.option("on")) {
    ASSIGN_OR_RETURN(api.stream, find_stream(*on));
  }
  if (const auto path = words.option("path")) {
    if (!paths_.contains(*path)) return bad_text("there is no path '" + *path + "'");
    api.call_path = paths_[*path];
  }
  api.name = words.option("call").value_or("");
  if (words.flag("node")) api.graph_launch = graph_launches_;
  ASSIGN_OR_RETURN(const auto after, words.list_option("after"));
  for (const std::uint64_t before : after)
    api.depends_on.push_back({before});
  return Ok{};
}

void set_rest(GpuApi& api, ApiKind kind, const char* name, bool blocks, Words& words) {
  api.kind = kind;
  if (api.name.empty()) api.name = name;
  api.blocks_host =
      words.flag("blocked") || words.flag("blocks") || (blocks && !words.flag("unblocked"));
}

void TextParser::set_stream(Call& call) const {
  if (call.api.stream == kNoStream) call.api.stream = default_streams_.at(context_.value);
}

Result<ObjectRecord> TextParser::new_object(Words& words, ObjectKind kind) {
  ObjectRecord made;
  ASSIGN_OR_RETURN(const std::string name, words.take("the object's name"));
  ASSIGN_OR_RETURN(const std::string size, words.take("the size"));
  ASSIGN_OR_RETURN(made.size, parse_number(size));
  for (std::size_t k = 0; k < kEnumNames<ObjectKind>.size(); ++k)
    if (words.flag(kEnumNames<ObjectKind>[k])) kind = static_cast<ObjectKind>(k);
  made.id = {objects_made_++};
  made.kind = kind;
  ASSIGN_OR_RETURN(made.parent, object_option(words, "parent"));
  made.device = device_;
  made.context = context_;
  ASSIGN_OR_RETURN(made.address, words.number_option("at", next_address_));
  next_address_ += (made.size + kAlignment) / kAlignment * kAlignment;
  ASSIGN_OR_RETURN(made.pitch, words.number_option("pitch", 0));
  ASSIGN_OR_RETURN(made.width, words.number_option("width", 0));
  made.allocated_by = {next_api_};
  made.name = words.option("name").value_or(name);
  made.opaque = words.flag("opaque");
  objects_[name] = {made.id, made.size, made.address};
  return made;
}

Result<TextParser::Object> TextParser::object(const std::string& name) const {
  const auto found = objects_.find(name);
  if (found == objects_.end()) return bad_text("there is no object '" + name + "'");
  return found->second;
}

Result<ObjectId> TextParser::object_option(Words& words, std::string_view key) const {
  const auto name = words.option(key);
  if (!name) return kNoObject;
  ASSIGN_OR_RETURN(const Object found, object(*name));
  return found.id;
}

Result<StreamId> TextParser::find_stream(const std::string& name) const {
  if (name == "0") return default_streams_.at(context_.value);
  const auto found = streams_.find(name);
  if (found == streams_.end()) return bad_text("there is no stream '" + name + "'");
  return found->second;
}

// OBJECT, OBJECT[BEGIN:END), OBJECT[BEGIN:END)xROWS/PITCH.
Result<TextRange> TextParser::range(const std::string& text) const {
  TextRange range;
  const std::size_t bracket = text.find('[');
  ASSIGN_OR_RETURN(const Object found, object(text.substr(0, bracket)));
  range.object = range.region.object = found.id;
  range.region.width = found.size;
  range.whole = bracket == std::string::npos;
  if (range.whole) return range;
  const std::size_t colon = text.find(':', bracket);
  const std::size_t close = text.find(')', bracket);
  if (colon >= close || close == std::string::npos) return bad_text("'" + text + "' is no range");
  const std::string_view whole = text;
  ASSIGN_OR_RETURN(range.region.offset,
                   parse_number(whole.substr(bracket + 1, colon - bracket - 1)));
  ASSIGN_OR_RETURN(const std::uint64_t end,
                   parse_number(whole.substr(colon + 1, close - colon - 1)));
  if (end < range.region.offset) return bad_text("'" + text + "' ends before it begins");
  range.region.width = end - range.region.offset;
  if (close + 1 == text.size()) return range;
  const std::size_t slash = text.find('/', close);
  if (text[close + 1] != 'x' || slash == std::string::npos)
    return bad_text("'" + text + "': rows are given as xROWS/PITCH");
  ASSIGN_OR_RETURN(range.region.height, parse_number(whole.substr(close + 2, slash - close - 2)));
  ASSIGN_OR_RETURN(range.region.pitch, parse_number(whole.substr(slash + 1)));
  return range;
}

KernelId TextParser::kernel(const std::string& name) {
  const auto next = static_cast<std::uint32_t>(kernels_.size());
  const auto [found, made] = kernels_.emplace(std::pair{cubin_.value, name}, KernelId{next});
  if (made) records_.push_back(KernelRecord{found->second, cubin_, name});
  return found->second;
}

EventId TextParser::event(const std::string& name) {
  return events_.emplace(name, EventId{static_cast<std::uint32_t>(events_.size())}).first->second;
}

Result<std::vector<Record>> trace_from_text(std::string_view text) {
  TextParser parser;
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = statement_end(text, at);
    const std::string where = "line " + std::to_string(line);
    auto words = Words::split(text.substr(at, end - at));
    if (!words) return std::move(words).error().while_doing(where);
    if (Status status = parser.statement(*std::move(words)); !status)
      return std::move(status).error().while_doing(where);
    if (end < text.size() && text[end] == '#') end = std::min(text.find('\n', end), text.size());
    if (end < text.size() && text[end] == '\n') ++line;
    at = end + 1;
  }
  return parser.finish();
}

}  // namespace drgpum::trace
