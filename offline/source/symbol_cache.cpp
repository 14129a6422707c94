// SPDX-License-Identifier: Apache-2.0
// One file for each module: a header, one message for each address, checked as a whole.
#include "offline/source/symbol_cache.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "offline/source/frame_codec.h"
#include "proto/base/crc32c.h"
#include "proto/wire.h"

namespace drgpum {
namespace {

constexpr std::uint16_t kFormat = 1;
// Another number whenever the frames that the same file gives change.
constexpr std::uint16_t kGeneration = 2;
constexpr std::uintmax_t kLargestFile = 256 << 20;
constexpr std::uint32_t kEntry = 1;    // repeated message
constexpr std::uint32_t kAddress = 1;  // of an entry
constexpr std::uint32_t kFrame = 2;    // repeated message

struct Header {
  char magic[8] = {'d', 'r', 'g', 'p', 's', 'y', 'm', '\n'};
  std::uint16_t format = kFormat;
  std::uint16_t generation = kGeneration;
  std::uint32_t crc = 0;  // of all that follows
};

std::optional<std::pair<std::uint64_t, std::vector<AddressFrame>>> decode_entry(
    std::span<const std::uint8_t> message) {
  std::pair<std::uint64_t, std::vector<AddressFrame>> entry;
  wire::Decoder fields(message);
  wire::Field field;
  while (fields.next(field)) {
    if (field.number == kAddress) entry.first = field.value;
    if (field.number != kFrame) continue;
    auto frame = decode_frame(field.bytes);
    if (!frame) return std::nullopt;
    entry.second.push_back(*std::move(frame));
  }
  if (fields.failed() || entry.second.empty()) return std::nullopt;
  return entry;
}

// Of a plain file that belongs to this user and that nobody else may write: whoever could would
// choose what reports say.
std::vector<std::uint8_t> own_bytes(const std::string& path) {
  if (path.empty()) return {};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return {};
  std::vector<std::uint8_t> bytes;
  struct stat found {};
  const bool good = ::fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
                    found.st_uid == ::geteuid() && (found.st_mode & 022) == 0 &&
                    static_cast<std::uintmax_t>(found.st_size) <= kLargestFile;
  if (good) bytes.resize(static_cast<std::size_t>(found.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(fd, bytes.data() + have, bytes.size() - have);
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  ::close(fd);
  if (have < bytes.size()) bytes.clear();
  return bytes;
}

bool write_all(int fd, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return true;
}

}  // namespace

std::string SymbolCache::path_of(const std::string& build_id) const {
  const bool is_hex =
      !build_id.empty() && std::all_of(build_id.begin(), build_id.end(), [](char c) {
        return std::isxdigit(static_cast<unsigned char>(c)) != 0;
      });
  return directory_.empty() || !is_hex ? "" : directory_ + "/" + build_id + ".lines";
}

CachedFrames SymbolCache::read(const std::string& build_id) const {
  const std::vector<std::uint8_t> bytes = own_bytes(path_of(build_id));
  if (bytes.size() < sizeof(Header)) return {};
  Header header;
  const Header expected;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto body = std::span<const std::uint8_t>(bytes).subspan(sizeof header);
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 ||
      header.format != kFormat ||
      (header.generation != kGeneration && older_ == Older::kForgotten) || header.crc != crc32c_extend(0, body.data(), body.size()))
    return {};
  CachedFrames frames;
  wire::Decoder entries(body);
  wire::Field field;
  while (entries.next(field)) {
    auto entry = decode_entry(field.bytes);
    if (entry) frames.insert(*std::move(entry));
  }
  return frames;
}

void SymbolCache::write(const std::string& build_id, const CachedFrames& frames) const {
  const std::string path = path_of(build_id);
  if (path.empty()) return;
  wire::Encoder body;
  for (const auto& [address, chain] : frames) {
    const std::size_t entry = body.begin_message(kEntry);
    body.varint_field(kAddress, address);
    for (const AddressFrame& frame : chain)
      encode_frame(kFrame, frame, body);
    body.end_message(entry);
  }
  if (body.failed() || body.bytes().size() > kLargestFile - sizeof(Header)) return;
  std::error_code error;
  const std::filesystem::path directory(directory_);
  std::filesystem::create_directories(directory.parent_path(), error);
  ::mkdir(directory_.c_str(), 0700);
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return;
  Header header;
  header.crc = crc32c_extend(0, body.bytes().data(), body.bytes().size());
  const bool whole =
      write_all(fd, {reinterpret_cast<const std::uint8_t*>(&header), sizeof header}) &&
      write_all(fd, body.bytes());
  ::close(fd);
  if (!whole || ::rename(temporary.c_str(), path.c_str()) != 0) ::unlink(temporary.c_str());
}

std::string lines_key(const std::string& build_id, const std::string& path) {
  if (!build_id.empty()) return build_id;
  std::uint64_t sum = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : path)
    sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum));
  return text;
}

std::string default_cache_directory() {
  if (const char* own = std::getenv("DRGPUM_CACHE_DIR")) return own;
  const char* shared = std::getenv("XDG_CACHE_HOME");
  if (shared != nullptr && *shared == '/') return std::string(shared) + "/drgpum";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/drgpum" : "";
}

}  // namespace drgpum
