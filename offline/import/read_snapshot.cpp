// SPDX-License-Identifier: Apache-2.0
#include "offline/import/read_snapshot.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "offline/import/json_reader.h"
#include "offline/import/pickle_reader.h"
#include "offline/import/snapshot_keys.h"
#include "offline/import/snapshot_values.h"

namespace drgpum {
namespace {

enum class Content : std::uint8_t { kPickle, kJson, kOther };

Content content_of(ByteStream& bytes) {
  constexpr std::size_t kEnough = 64;
  (void)bytes.need(kEnough);
  const std::uint8_t* begin = bytes.data();
  const std::uint8_t* end = begin + std::min(bytes.available(), kEnough);
  const std::uint8_t* first = std::find_if(begin, end, [](std::uint8_t byte) {
    return byte != ' ' && byte != '\n' && byte != '\r' && byte != '\t';
  });
  if (first == end) return Content::kOther;
  if (*first == '{' || *first == '[') return Content::kJson;
  // Protocol 0 begins with the mark or the empty dictionary of its outermost value.
  const bool pickle = *begin == 0x80 || *begin == '(' || *begin == '}' || *begin == ']';
  return pickle ? Content::kPickle : Content::kOther;
}

// JSON of other kinds (reports, plans) has other keys.
bool begins_as_snapshot(ByteStream& bytes) {
  constexpr std::size_t kFar = 4096;
  (void)bytes.need(kFar);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.available(), kFar));
  const std::size_t begin = text.find('"');
  const std::size_t end = text.find('"', begin + 1);
  if (begin == std::string_view::npos || end == std::string_view::npos) return false;
  const std::string_view key = text.substr(begin + 1, end - begin - 1);
  return key != "" && std::ranges::find(snapshot::kWords, key) != snapshot::kWords.end();
}

}  // namespace

Result<AllocatorHistory> read_snapshot(ByteStream bytes, const ReadProgress& progress) {
  const Content content = content_of(bytes);
  if (bytes.problem()) return *bytes.problem();
  SnapshotValues values;
  Result<SnapshotValue> root = content == Content::kJson ? read_json(bytes, values, progress)
                                                         : read_pickle(bytes, values, progress);
  if (!root) return std::move(root).error();
  return std::move(values).finish(*root);
}

bool looks_like_snapshot(ByteStream& bytes) {
  const Content content = content_of(bytes);
  return content == Content::kPickle || (content == Content::kJson && begins_as_snapshot(bytes));
}

}  // namespace drgpum
