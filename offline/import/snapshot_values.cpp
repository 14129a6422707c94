// SPDX-License-Identifier: Apache-2.0
// Values as they come, and what becomes of them when they are closed.
#include "offline/import/snapshot_values.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "offline/import/snapshot_keys.h"

namespace drgpum {

using namespace snapshot;

namespace {

constexpr std::size_t kLargeStorage = 4096;  // values; larger storage is not kept for others

}  // namespace

SnapshotValues::SnapshotValues() {
  for (const std::string_view word : kWords)
    history_.texts.number_of(word);
  history_.stack_begin.push_back(0);
  history_.stack_begin.push_back(0);
  history_.notes.emplace_back();
  history_.streams.push_back(0);
  stream_of_.emplace(0, 0);
  history_.pools.emplace_back(0, 0);
  history_.format = "PyTorch memory snapshot";
}

SnapshotValue SnapshotValues::real(double value) {
  return wide({std::bit_cast<std::uint64_t>(value), Wide::kReal});
}

SnapshotValues::Values& SnapshotValues::storage_of(Slot& slot) {
  if (slot.at == kNoStorage) {
    if (free_storage_.empty()) {
      slot.at = static_cast<std::uint32_t>(storage_.size());
      storage_.emplace_back();
    } else {
      slot.at = free_storage_.back();
      free_storage_.pop_back();
    }
  }
  return storage_[slot.at];
}

void SnapshotValues::give_back(Slot& slot, State state, std::uint32_t at) {
  if (slot.at != kNoStorage) {
    Values& values = storage_[slot.at];
    if (values.size() > kLargeStorage) values.release();
    values.clear();
    free_storage_.push_back(slot.at);
  }
  slot.state = state;
  slot.at = at;
}

const char* SnapshotValues::set_items(SnapshotValue dict, const SnapshotValue* pairs,
                                      std::size_t count) {
  if (!dict.is(SnapshotValue::kDict)) return "sets items of what is no dictionary";
  Slot& slot = slots_[dict.place()];
  if (slot.state != kOpenDict)
    return "changes a dictionary after it was put into another value, which no plain data does";
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_container(pairs[i])) continue;
    if (const char* wrong = close(pairs[i], slot)) return wrong;
  }
  if (count > 0) storage_of(slot).append(pairs, count);
  return nullptr;
}

const char* SnapshotValues::append(SnapshotValue list, const SnapshotValue* values,
                                   std::size_t count) {
  if (!list.is(SnapshotValue::kList)) return "appends to what is no list";
  Slot& slot = slots_[list.place()];
  if (slot.state != kOpenList)
    return "changes a list after it was put into another value, which no plain data does";
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_container(values[i]) || slots_[values[i].place()].state == kFrame) continue;
    if (const char* wrong = close(values[i], slot)) return wrong;
  }
  if (count > 0) storage_of(slot).append(values, count);
  return nullptr;
}

const char* SnapshotValues::close(SnapshotValue value, Slot& into) {
  Slot& slot = slots_[value.place()];
  if (&slot == &into) return "puts a value into itself";
  if (slot.state == kOpenDict) close_dict(slot);
  if (slot.state == kOpenList) close_list(slot);
  if (slot.state != kDict && slot.state != kList) return nullptr;
  if (slot.depth >= kMaxDepth) return "nests values deeper than 60";
  into.depth = std::max<std::uint8_t>(into.depth, static_cast<std::uint8_t>(slot.depth + 1));
  return nullptr;
}

// A dictionary is told by the keys that only its kind has.
void SnapshotValues::close_dict(Slot& slot) {
  slot.state = kDict;
  if (slot.at == kNoStorage) return;
  const Values& dict = storage_[slot.at];
  State kind = kDict;
  for (std::size_t i = 0; i < dict.size() && kind == kDict; i += 2) {
    if (!dict[i].is(SnapshotValue::kText)) continue;
    switch (dict[i].place()) {
      case kAction:
        kind = kEvent;
        break;
      case kFilename:
        kind = kFrame;
        break;
      case kState:
        kind = kBlock;
        break;
      case kBlocks:
        kind = kSegment;
        break;
      case kStage:
        kind = kAnnotation;
        break;
      default:
        break;
    }
  }
  if (kind == kDict) return;
  // An event of an annotation has both keys.
  if (kind == kAnnotation && find(dict, kAction).bits != none().bits) kind = kEvent;
  const std::uint32_t row = kind == kEvent     ? to_event(dict)
                            : kind == kFrame   ? to_frame(dict)
                            : kind == kBlock   ? to_block(dict)
                            : kind == kSegment ? to_segment(dict)
                                               : to_annotation(dict);
  give_back(slot, row == kNoStorage ? kDropped : kind, row);
}

void SnapshotValues::close_list(Slot& slot) {
  slot.state = kList;
  if (slot.at == kNoStorage) {
    slot = {0, kStack, 0};
  } else if (gather_frames(storage_[slot.at])) {
    give_back(slot, kStack, to_stack());
  }
}

// Fills scratch_; false when the list is no stack.
bool SnapshotValues::gather_frames(const Values& list) {
  scratch_.clear();
  for (const SnapshotValue value : list) {
    if (!is_container(value) || slots_[value.place()].state != kFrame) return false;
    scratch_.push_back(slots_[value.place()].at);
  }
  return true;
}

const SnapshotValues::Slot* SnapshotValues::slot_in(SnapshotValue value, State state) const {
  if (!value.is(SnapshotValue::kDict) && !value.is(SnapshotValue::kList)) return nullptr;
  const Slot& slot = slots_[value.place()];
  return slot.state == state ? &slot : nullptr;
}

SnapshotValue SnapshotValues::find(const Values& dict, std::uint32_t key) const {
  SnapshotValue found = none();
  const std::uint64_t wanted = SnapshotValue::of(SnapshotValue::kText, key).bits;
  for (std::size_t i = 0; i + 1 < dict.size(); i += 2)
    if (dict[i].bits == wanted) found = dict[i + 1];
  return found;
}

SnapshotValue SnapshotValues::find(SnapshotValue dict, std::uint32_t key) const {
  if (!dict.is(SnapshotValue::kDict)) return none();
  const Slot& slot = slots_[dict.place()];
  if ((slot.state != kDict && slot.state != kOpenDict) || slot.at == kNoStorage) return none();
  return find(storage_[slot.at], key);
}

bool SnapshotValues::take_unsigned(SnapshotValue value, std::uint64_t& out) const {
  if (value.is(SnapshotValue::kInt)) {
    out = static_cast<std::uint64_t>(value.number());
    return value.number() >= 0;
  }
  if (!value.is(SnapshotValue::kWide)) return false;
  const Wide& wide = wides_[value.place()];
  out = wide.bits;
  return wide.kind == Wide::kUnsigned;
}

bool SnapshotValues::take_signed(SnapshotValue value, std::int64_t& out) const {
  if (value.is(SnapshotValue::kInt)) {
    out = value.number();
    return true;
  }
  if (!value.is(SnapshotValue::kWide)) return false;
  const Wide& wide = wides_[value.place()];
  out = static_cast<std::int64_t>(wide.bits);
  if (wide.kind == Wide::kSigned) return true;
  if (wide.kind == Wide::kUnsigned) return out >= 0;
  const double real = std::bit_cast<double>(wide.bits);
  if (wide.kind != Wide::kReal || !(std::abs(real) < 9e18)) return false;
  out = static_cast<std::int64_t>(real);
  return true;
}

std::int64_t SnapshotValues::time_of(SnapshotValue value) {
  std::int64_t time = kNoTick;
  if (!take_signed(value, time)) {
    fault("times that are no number of microseconds");
    return kNoTick;
  }
  return time;
}

// kUnknownBytes when it cannot be.
std::uint64_t SnapshotValues::bytes_of(SnapshotValue value, const char* what) {
  std::uint64_t bytes = 0;
  if (take_unsigned(value, bytes) && bytes != kUnknownBytes) return bytes;
  fault(what);
  return kUnknownBytes;
}

std::uint32_t SnapshotValues::text_of(SnapshotValue value) const {
  return value.is(SnapshotValue::kText) ? static_cast<std::uint32_t>(value.place()) : 0;
}

std::uint32_t SnapshotValues::stack_of(SnapshotValue value) const {
  const Slot* slot = slot_in(value, kStack);
  return slot == nullptr ? 0 : slot->at;
}

std::uint16_t SnapshotValues::stream_of(SnapshotValue value) {
  if (value.bits == 0) return 0;  // the number 0, the usual
  std::uint64_t handle = 0;
  if (!take_unsigned(value, handle)) {
    fault("streams that are no handle");
    return 0;
  }
  const auto known = stream_of_.find(handle);
  if (known != stream_of_.end()) return known->second;
  if (history_.streams.size() > 0xffff) {
    fault("streams beyond the first 65,536, taken for the default stream");
    return 0;
  }
  const auto number = static_cast<std::uint16_t>(history_.streams.size());
  history_.streams.push_back(handle);
  stream_of_.emplace(handle, number);
  return number;
}

std::uint16_t SnapshotValues::pool_of(SnapshotValue value) {
  if (const Slot* slot = slot_in(value, kPool)) return static_cast<std::uint16_t>(slot->at);
  const Slot* slot = slot_in(value, kList);
  std::pair<std::int64_t, std::int64_t> id;
  if (slot == nullptr || storage_[slot->at].size() != 2 ||
      !take_signed(storage_[slot->at][0], id.first) ||
      !take_signed(storage_[slot->at][1], id.second)) {
    if (value.bits != none().bits) fault("pools that are no pair of numbers");
    return 0;
  }
  if (history_.pools.size() > 0xffff && !pool_of_.contains(id)) {
    fault("pools beyond the first 65,535");
    return 0;
  }
  const auto [at, fresh] =
      pool_of_.try_emplace(id, static_cast<std::uint16_t>(history_.pools.size()));
  if (fresh) history_.pools.push_back(id);
  const std::uint16_t number = at->second;
  give_back(slots_[value.place()], kPool, number);
  return number;
}

std::uint32_t SnapshotValues::note_of(std::uint32_t text, std::uint32_t context) {
  if (context == kNotApplicable) context = 0;
  if (text == 0 && context == 0) return 0;
  const std::uint64_t key = std::uint64_t{text} << 32 | context;
  const auto [at, fresh] =
      note_of_.try_emplace(key, static_cast<std::uint32_t>(history_.notes.size()));
  if (fresh) history_.notes.push_back({text, context});
  return at->second;
}

// Metadata may be a text, a number or a dictionary: shown as one text.
std::uint32_t SnapshotValues::rendered(SnapshotValue value) {
  constexpr std::size_t kMost = 4096;
  if (value.is(SnapshotValue::kText)) return static_cast<std::uint32_t>(value.place());
  if (value.bits == none().bits) return 0;
  if (const Slot* known = slot_in(value, kRendered)) return known->at;
  std::string text;
  render(value, text);
  if (text.size() > kMost) text.resize(kMost);
  const std::uint32_t number = history_.texts.number_of(text);
  if (slot_in(value, kDict) != nullptr || slot_in(value, kList) != nullptr) {
    drop(value);
    slots_[value.place()] = {number, kRendered, 0};
  }
  return number;
}

void SnapshotValues::render(SnapshotValue value, std::string& out) const {
  constexpr std::size_t kEnough = 8192;
  if (out.size() > kEnough) return;
  switch (value.kind()) {
    case SnapshotValue::kInt:
      out += std::to_string(value.number());
      return;
    case SnapshotValue::kText:
      out += history_.texts[static_cast<std::uint32_t>(value.place())];
      return;
    case SnapshotValue::kSpecial:
      out += value.place() == SnapshotValue::kTrue    ? "true"
             : value.place() == SnapshotValue::kFalse ? "false"
                                                      : "none";
      return;
    case SnapshotValue::kWide: {
      const Wide& wide = wides_[value.place()];
      if (wide.kind == Wide::kSigned) out += std::to_string(static_cast<std::int64_t>(wide.bits));
      if (wide.kind == Wide::kUnsigned) out += std::to_string(wide.bits);
      if (wide.kind == Wide::kReal) out += std::to_string(std::bit_cast<double>(wide.bits));
      if (wide.kind == Wide::kHuge) out += "?";
      return;
    }
    default:
      break;
  }
  const Slot& slot = slots_[value.place()];
  if (slot.state == kRendered) out += history_.texts[slot.at];
  if ((slot.state != kDict && slot.state != kList) || slot.at == kNoStorage) return;
  const bool is_dict = slot.state == kDict;
  const Values& values = storage_[slot.at];
  for (std::size_t i = 0; i < values.size(); i += is_dict ? 2 : 1) {
    if (i > 0) out += ", ";
    render(values[i], out);
    if (!is_dict) continue;
    out += '=';
    render(values[i + 1], out);
  }
}

// Lets go of what nothing will ask for.
void SnapshotValues::drop(SnapshotValue value) {
  if (!value.is(SnapshotValue::kDict) && !value.is(SnapshotValue::kList)) return;
  Slot& slot = slots_[value.place()];
  if (slot.state != kDict && slot.state != kList) return;
  if (slot.at != kNoStorage) {
    const std::size_t count = storage_[slot.at].size();
    for (std::size_t i = 0; i < count; ++i)
      drop(storage_[slot.at][i]);
  }
  give_back(slot, kDropped, 0);
}

void SnapshotValues::fault(const std::string& what) {
  const auto [at, fresh] = fault_of_.try_emplace(what, history_.faults.size());
  if (fresh) history_.faults.push_back({what, 0});
  ++history_.faults[at->second].count;
}

}  // namespace drgpum
