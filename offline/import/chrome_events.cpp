// SPDX-License-Identifier: Apache-2.0
#include "offline/import/chrome_events.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "offline/import/byte_iterator.h"

namespace drgpum {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::uint64_t kProgressStep = 4 << 20;

constexpr std::array<std::string_view, static_cast<std::size_t>(ChromeArg::kCount)> kArgNames{
    "Addr",   "Bytes",  "Device Type", "Device Id", "Total Allocated", "Total Reserved",
    "device", "stream", "correlation", "bytes"};

// Microseconds with up to three digits behind the point, as they stand there: a double of the time
// since 1970 is a quarter of a microsecond off.
std::optional<std::int64_t> nanoseconds(const std::string& text, double value) {
  if (text.find_first_of("eE") != std::string::npos) {
    if (!(std::abs(value) < 9e15)) return std::nullopt;
    return static_cast<std::int64_t>(std::llround(value * 1000));
  }
  std::int64_t ns = 0;
  int behind = -1;
  for (const char c : text) {
    if (c == '.') behind = 0;
    if (c < '0' || c > '9') continue;
    if (behind >= 3) break;
    behind += behind >= 0;
    if (__builtin_mul_overflow(ns, 10, &ns) || __builtin_add_overflow(ns, c - '0', &ns))
      return std::nullopt;
  }
  for (behind = std::max(behind, 0); behind < 3; ++behind)
    if (__builtin_mul_overflow(ns, 10, &ns)) return std::nullopt;
  return text.starts_with('-') ? -ns : ns;
}

class EventParser : public nlohmann::json_sax<nlohmann::json> {
 public:
  EventParser(ByteStream& bytes, const ChromeSink& sink, const ReadProgress& progress)
      : bytes_(bytes), sink_(sink), progress_(progress) {}

  bool null() override { return true; }
  bool boolean(bool) override { return number({true, false, false, 0}, "", 0); }
  bool number_integer(std::int64_t value) override {
    return number({true, true, false, value}, std::to_string(value), static_cast<double>(value));
  }
  bool number_unsigned(std::uint64_t value) override {
    return number({true, true, value > INT64_MAX, static_cast<std::int64_t>(value)},
                  std::to_string(value), static_cast<double>(value));
  }
  bool number_float(double value, const std::string& text) override {
    return number({true, false, false, 0}, text, value);
  }
  bool string(std::string& text) override;
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool key(std::string& text) override {
    key_ = text;
    return true;
  }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    if (!error_) fail_at(position == 0 ? 0 : position - 1, "is no JSON from here on");
    return false;
  }

  Status result() const {
    if (bytes_.problem()) return *bytes_.problem();
    if (error_) return *error_;
    return Ok{};
  }

 private:
  enum Level : std::uint8_t { kRoot, kEvents, kEvent, kArgs, kGrid, kBlock, kDevices, kDevice, kOther };

  Level at() const { return levels_.empty() ? kOther : levels_.back(); }
  Level below(bool object) const;
  bool open(bool object);
  bool close();
  bool number(ChromeNumber value, const std::string& text, double real);
  void event_number(const ChromeNumber& value, const std::string& text, double real);
  void device_number(const ChromeNumber& value);
  bool fail_at(std::uint64_t at, const std::string& what) {
    error_ = Error{ErrorCode::kCorrupt, "byte " + std::to_string(at) + ": the file " + what};
    return false;
  }

  ByteStream& bytes_;
  const ChromeSink& sink_;
  const ReadProgress& progress_;
  std::vector<Level> levels_;
  std::string key_;
  ChromeEvent event_;
  ChromeDevice device_;
  std::size_t element_ = 0;  // of a grid or block
  std::uint64_t events_ = 0;
  std::uint64_t next_tell_ = 0;
  std::optional<Error> error_;
};

EventParser::Level EventParser::below(bool object) const {
  if (levels_.empty()) return object ? kRoot : kEvents;
  switch (at()) {
    case kRoot:
      if (!object && key_ == "traceEvents") return kEvents;
      return !object && key_ == "deviceProperties" ? kDevices : kOther;
    case kEvents:
      return object ? kEvent : kOther;
    case kEvent:
      return object && key_ == "args" ? kArgs : kOther;
    case kArgs:
      if (object) return kOther;
      return key_ == "grid" ? kGrid : key_ == "block" ? kBlock : kOther;
    case kDevices:
      return object ? kDevice : kOther;
    default:
      return kOther;
  }
}

bool EventParser::open(bool object) {
  if (levels_.size() >= kMaxDepth) return fail_at(bytes_.offset(), "nests values deeper than 64");
  const Level level = below(object);
  if (level == kEvent) {
    event_ = ChromeEvent();
    event_.number = ++events_;
  }
  if (level == kDevice) device_ = ChromeDevice();
  if (level == kGrid || level == kBlock) element_ = 0;
  levels_.push_back(level);
  if (progress_ && bytes_.offset() >= next_tell_) {
    progress_(bytes_.bytes_read(), bytes_.file_bytes());
    next_tell_ = bytes_.offset() + kProgressStep;
  }
  return true;
}

bool EventParser::close() {
  const Level level = at();
  levels_.pop_back();
  if (level == kDevice && sink_.device) sink_.device(device_);
  if (level != kEvent) return true;
  event_.byte = bytes_.offset();
  Status taken = sink_.event(event_);
  if (!taken) error_ = std::move(taken).error();
  return !error_;
}

bool EventParser::string(std::string& text) {
  if (at() == kDevice && key_ == "name") device_.name = text;
  if (at() == kArgs) return number({true, false, false, 0}, "", 0);
  if (at() != kEvent) return true;
  if (key_ == "ph") event_.phase = text;
  if (key_ == "cat") event_.category = text;
  if (key_ == "name") event_.name = text;
  if (key_ == "pid") event_.process = text;
  if (key_ == "tid") event_.thread = text;
  return true;
}

bool EventParser::number(ChromeNumber value, const std::string& text, double real) {
  switch (at()) {
    case kEvent:
      event_number(value, text, real);
      break;
    case kArgs:
      for (std::size_t k = 0; k < kArgNames.size(); ++k)
        if (key_ == kArgNames[k]) event_.args[k] = value;
      break;
    case kGrid:
    case kBlock:
      if (element_ < 3 && value.whole && value.value >= 0 && value.value <= UINT32_MAX)
        (at() == kGrid ? event_.grid : event_.block).at(element_) =
            static_cast<std::uint32_t>(value.value);
      ++element_;
      break;
    case kDevice:
      if (value.whole && !value.beyond_signed) device_number(value);
      break;
    default:
      break;
  }
  return true;
}

void EventParser::event_number(const ChromeNumber& value, const std::string& text, double real) {
  if (key_ == "pid") event_.process = text;
  if (key_ == "tid") event_.thread = text;
  if (key_ == "dur") event_.length_ns = nanoseconds(text, real).value_or(0);
  if (key_ == "ts" && (value.whole || !text.empty())) event_.begin_ns = nanoseconds(text, real);
}

void EventParser::device_number(const ChromeNumber& value) {
  if (key_ == "id") device_.id = value.value;
  if (key_ == "totalGlobalMem") device_.memory_bytes = value.value;
  if (key_ == "computeMajor") device_.compute_major = value.value;
  if (key_ == "computeMinor") device_.compute_minor = value.value;
}

}  // namespace

Status read_chrome_events(ByteStream& bytes, const ChromeSink& sink, const ReadProgress& progress) {
  EventParser parser(bytes, sink, progress);
  nlohmann::json::sax_parse(ByteIterator(&bytes), ByteIterator(nullptr), &parser);
  return parser.result();
}

}  // namespace drgpum
