// SPDX-License-Identifier: Apache-2.0
#include "offline/import/read_pprof.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "offline/import/history_builder.h"
#include "proto/wire.h"

namespace drgpum {
namespace {

using wire::Decoder;
using wire::Field;
using wire::WireType;
using Bytes = std::span<const std::uint8_t>;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // unpacked
constexpr std::uint64_t kMostObjects = 1'000'000;  // beyond, a sample's buffers become one object
constexpr std::uint64_t kMostCount = std::uint64_t{1} << 40;
constexpr std::uint32_t kMostDevices = 0xffff;

// Numbers of profile.proto.
enum Profile : std::uint32_t { kSampleType = 1, kSample = 2, kLocation = 4, kFunction = 5, kText = 6, kTime = 9 };

struct SampleType {
  std::uint64_t type = 0;
  std::uint64_t unit = 0;
};
struct Line {
  std::uint64_t function = 0;
  std::uint64_t line = 0;
};
struct Function {
  std::uint64_t name = 0;
  std::uint64_t file = 0;
};
struct Sample {
  std::vector<std::uint64_t> locations;
  std::vector<std::uint64_t> values;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> labels;  // texts: key, value
};

// Numbers lie packed or one by one.
bool take_numbers(const Field& field, std::vector<std::uint64_t>& out) {
  if (field.type == WireType::kVarint) {
    out.push_back(field.value);
    return true;
  }
  if (field.type != WireType::kBytes) return false;
  Decoder elements(field.bytes);
  std::uint64_t value = 0;
  while (elements.varint(value))
    out.push_back(value);
  return !elements.failed();
}

// The varints of a message by their numbers; others are passed over.
template <std::size_t n>
bool take_message(Bytes bytes, const std::uint32_t (&numbers)[n], std::uint64_t* const (&into)[n]) {
  Decoder decoder(bytes);
  Field field;
  while (decoder.next(field))
    for (std::size_t k = 0; k < n; ++k)
      if (field.number == numbers[k] && field.type == WireType::kVarint) *into[k] = field.value;
  return !decoder.failed();
}

// The device of "cuda:1", "CudaDevice(id=1)", "TFRT_CPU_1", "gpu 1".
std::optional<std::uint32_t> device_in(std::string_view label) {
  std::size_t at = label.find("id=");
  at = at == std::string_view::npos ? label.find_last_not_of("0123456789") + 1 : at + 3;
  std::uint32_t number = 0;
  const std::size_t begin = at;
  for (; at < label.size() && label[at] >= '0' && label[at] <= '9' && number <= kMostDevices; ++at)
    number = 10 * number + static_cast<std::uint32_t>(label[at] - '0');
  if (at == begin || number > kMostDevices) return std::nullopt;
  return number;
}

class PprofReader {
 public:
  Result<AllocatorHistory> run(Bytes bytes) {
    RETURN_IF_ERROR(read(bytes));
    RETURN_IF_ERROR(choose_values());
    out_.history.epoch_ns = time_ns_ == 0 ? std::nullopt : std::optional(time_ns_);
    for (std::size_t i = 0; i < samples_.size(); ++i)
      RETURN_IF_ERROR(take(samples_[i], "sample " + std::to_string(i + 1)));
    out_.fault(FaultKind::kHistoryCut,
               "the profile tells what lived at one moment: when it was allocated, and what lived "
               "before, is not known",
               out_.history.residents.size());
    return std::move(out_).finish();
  }

 private:
  static Error damaged(const std::string& what) {
    return {ErrorCode::kCorrupt, what + " is damaged or cut off"};
  }

  Status read(Bytes bytes) {
    Decoder decoder(bytes);
    Field field;
    while (decoder.next(field))
      if (!take(field)) return damaged("field " + std::to_string(field.number) + " of the profile");
    if (decoder.failed()) return damaged("the profile");
    return Ok{};
  }
  bool take(const Field& field) {
    if (field.number == kTime && field.type == WireType::kVarint)
      time_ns_ = static_cast<std::int64_t>(field.value);
    if (field.type != WireType::kBytes) return true;
    switch (field.number) {
      case kSampleType: {
        SampleType& type = types_.emplace_back();
        return take_message(field.bytes, {1, 2}, {&type.type, &type.unit});
      }
      case kSample:
        return take_sample(field.bytes);
      case kLocation:
        return take_location(field.bytes);
      case kFunction: {
        Function function;
        std::uint64_t id = 0;
        if (!take_message(field.bytes, {1, 2, 4}, {&id, &function.name, &function.file})) return false;
        functions_[id] = function;
        return true;
      }
      case kText:
        texts_.push_back(field.text());
        return true;
      default:
        return true;
    }
  }
  bool take_sample(Bytes bytes) {
    Sample& sample = samples_.emplace_back();
    Decoder decoder(bytes);
    Field field;
    while (decoder.next(field)) {
      if (field.number == 1 && !take_numbers(field, sample.locations)) return false;
      if (field.number == 2 && !take_numbers(field, sample.values)) return false;
      if (field.number != 3 || field.type != WireType::kBytes) continue;
      auto& [key, text] = sample.labels.emplace_back();
      if (!take_message(field.bytes, {1, 2}, {&key, &text})) return false;
    }
    return !decoder.failed();
  }
  bool take_location(Bytes bytes) {
    std::uint64_t id = 0;
    std::vector<Line> lines;
    Decoder decoder(bytes);
    Field field;
    while (decoder.next(field)) {
      if (field.number == 1 && field.type == WireType::kVarint) id = field.value;
      if (field.number != 4 || field.type != WireType::kBytes) continue;
      Line& line = lines.emplace_back();
      if (!take_message(field.bytes, {1, 2}, {&line.function, &line.line})) return false;
    }
    locations_[id] = std::move(lines);
    return !decoder.failed();
  }

  std::string_view text(std::uint64_t number) const {
    return number < texts_.size() ? texts_[number] : std::string_view();
  }

  // JAX writes "allocations" in "count" and "space" in "bytes".
  Status choose_values() {
    for (std::size_t i = 0; i < types_.size(); ++i) {
      if (text(types_[i].type) == "allocations") count_ = i;
      if (text(types_[i].type) == "space" && text(types_[i].unit) == "bytes") bytes_ = i;
    }
    if (count_ && bytes_) return Ok{};
    std::string found;
    for (const SampleType& type : types_)
      found += (found.empty() ? "" : ", ") + std::string(text(type.type)).substr(0, 40);
    return Error{ErrorCode::kUnsupported,
                 "is a pprof profile of " + (found.empty() ? "nothing" : found) +
                     ", not JAX's of device memory (allocations, space)"};
  }

  Result<std::uint64_t> value(const Sample& sample, std::size_t which, const char* name,
                              const std::string& where) const {
    if (which >= sample.values.size())
      return Error{ErrorCode::kCorrupt, where + ": has no '" + name + "'"};
    const auto number = static_cast<std::int64_t>(sample.values[which]);
    if (number < 0) return bad_value(where, name, std::to_string(number), "it cannot be negative");
    return sample.values[which];
  }

  Status take(const Sample& sample, const std::string& where) {
    ASSIGN_OR_RETURN(const std::uint64_t count, value(sample, *count_, "allocations", where));
    ASSIGN_OR_RETURN(const std::uint64_t bytes, value(sample, *bytes_, "space", where));
    if (count > kMostCount)
      return bad_value(where, "allocations", std::to_string(count), "no device holds so many");
    if (count == 0 || bytes == 0) return Ok{};
    HistoryResident one;
    std::string name;
    for (const auto& [key, label] : sample.labels) {
      if (text(key) == "kind") name = text(label);
      if (text(key) == "device") one.device = device_of(std::string(text(label)));
    }
    one.stack = stack_of(sample);
    const bool alike = bytes % count == 0;  // all of a sample's are of one size
    const bool apart = alike && count <= kMostObjects - std::min<std::uint64_t>(
                                                            out_.history.residents.size(), kMostObjects);
    if (!apart && count > 1) name = std::to_string(count) + " of kind " + name;
    one.name = out_.text(name == "buffer" ? "" : name);
    one.bytes = apart ? bytes / count : bytes;
    out_.history.residents.insert(out_.history.residents.end(), apart ? count : 1, one);
    return Ok{};
  }

  std::uint32_t device_of(const std::string& label) {
    const auto known = device_of_.find(label);
    if (known != device_of_.end()) return known->second;
    std::uint32_t number = device_in(label).value_or(0);
    const auto taken = [&] {
      return std::any_of(device_of_.begin(), device_of_.end(),
                         [&](const auto& one) { return one.second == number; });
    };
    while (taken() && number < kMostDevices)
      ++number;
    device_of_.emplace(label, number);
    out_.history.devices.push_back({number, label, 0, 0, 0});
    return number;
  }

  std::uint32_t stack_of(const Sample& sample) {
    std::vector<std::uint32_t> frames;
    for (const std::uint64_t location : sample.locations) {
      const auto found = locations_.find(location);
      if (found == locations_.end()) continue;
      for (const Line& line : found->second) {
        const Function& function = functions_[line.function];
        frames.push_back(out_.frame(text(function.name), text(function.file),
                                    static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                        line.line, std::numeric_limits<std::uint32_t>::max()))));
      }
    }
    return out_.stack(frames);
  }

  HistoryBuilder out_{"device memory profile of JAX"};
  std::vector<SampleType> types_;
  std::vector<Sample> samples_;
  std::unordered_map<std::uint64_t, std::vector<Line>> locations_;
  std::unordered_map<std::uint64_t, Function> functions_;
  std::vector<std::string_view> texts_;
  std::int64_t time_ns_ = 0;
  std::optional<std::size_t> count_;
  std::optional<std::size_t> bytes_;
  std::map<std::string, std::uint32_t> device_of_;
};

}  // namespace

// The first field, of number 1, holds two small numbers.
bool looks_like_pprof(ByteStream& bytes) {
  if (!bytes.need(3)) return false;
  const std::uint8_t* first = bytes.data();
  return first[0] == 0x0a && first[1] >= 2 && first[1] <= 12 && (first[2] == 0x08 || first[2] == 0x10);
}

Result<AllocatorHistory> read_pprof(ByteStream bytes, const ReadProgress& progress) {
  std::string whole;
  while (bytes.need(1)) {
    whole.append(reinterpret_cast<const char*>(bytes.data()), bytes.available());
    bytes.advance(bytes.available());
    if (whole.size() > kMostBytes)
      return Error{ErrorCode::kUnsupported, "is larger than 1 GiB when unpacked"};
    if (progress) progress(bytes.bytes_read(), bytes.file_bytes());
  }
  if (bytes.problem()) return *bytes.problem();
  return PprofReader().run({reinterpret_cast<const std::uint8_t*>(whole.data()), whole.size()});
}

}  // namespace drgpum
