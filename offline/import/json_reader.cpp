// SPDX-License-Identifier: Apache-2.0
#include "offline/import/json_reader.h"

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "offline/import/byte_iterator.h"

namespace drgpum {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::uint64_t kProgressStep = 4 << 20;

class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonBuilder(ByteStream& bytes, SnapshotValues& values, const ReadProgress& progress)
      : bytes_(bytes), values_(values), progress_(progress) {}

  bool null() override { return add(values_.none()); }
  bool boolean(bool value) override { return add(values_.boolean(value)); }
  bool number_integer(std::int64_t value) override { return add(values_.integer(value)); }
  bool number_unsigned(std::uint64_t value) override {
    return add(values_.unsigned_integer(value));
  }
  bool number_float(double value, const std::string& text) override {
    const bool is_whole = text.find_first_of(".eE") == std::string::npos;
    return add(is_whole ? values_.huge() : values_.real(value));
  }
  bool string(std::string& text) override { return add(values_.text(text)); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool key(std::string& text) override {
    key_ = values_.text(text);
    return true;
  }
  bool start_object(std::size_t) override { return open(values_.new_dict()); }
  bool start_array(std::size_t) override { return open(values_.new_list()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    if (wrong_.empty()) fail_at(position == 0 ? 0 : position - 1, "is no JSON from here on");
    return false;
  }

  Result<SnapshotValue> result() const {
    if (bytes_.problem()) return *bytes_.problem();
    if (!wrong_.empty()) return Error{ErrorCode::kCorrupt, wrong_};
    return root_;
  }

 private:
  struct Level {
    SnapshotValue value;
    SnapshotValue key;
  };

  bool open(SnapshotValue value) {
    if (levels_.size() >= kMaxDepth) return fail_at(bytes_.offset(), "nests values deeper than 64");
    levels_.push_back({value, key_});
    if (progress_ && bytes_.offset() >= next_tell_) {
      progress_(bytes_.bytes_read(), bytes_.file_bytes());
      next_tell_ = bytes_.offset() + kProgressStep;
    }
    return true;
  }
  bool close() {
    const Level level = levels_.back();
    levels_.pop_back();
    key_ = level.key;
    return add(level.value);
  }
  // Puts a whole value where it belongs.
  bool add(SnapshotValue value) {
    if (levels_.empty()) {
      root_ = value;
      return true;
    }
    const SnapshotValue into = levels_.back().value;
    const SnapshotValue pair[2] = {key_, value};
    const char* wrong = into.is(SnapshotValue::kDict) ? values_.set_items(into, pair, 2)
                                                      : values_.append(into, &value, 1);
    return wrong == nullptr || fail_at(bytes_.offset(), wrong);
  }
  bool fail_at(std::uint64_t at, const std::string& what) {
    wrong_ = "byte " + std::to_string(at) + ": the file " + what;
    return false;
  }

  ByteStream& bytes_;
  SnapshotValues& values_;
  const ReadProgress& progress_;
  std::vector<Level> levels_;
  SnapshotValue key_;
  SnapshotValue root_;
  std::uint64_t next_tell_ = 0;
  std::string wrong_;
};

}  // namespace

Result<SnapshotValue> read_json(ByteStream& bytes, SnapshotValues& values,
                                const ReadProgress& progress) {
  JsonBuilder builder(bytes, values, progress);
  nlohmann::json::sax_parse(ByteIterator(&bytes), ByteIterator(nullptr), &builder);
  return builder.result();
}

}  // namespace drgpum
