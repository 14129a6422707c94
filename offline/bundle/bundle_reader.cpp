// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include "offline/bundle/bundle_file.h"
#include "proto/base/crc32c.h"

namespace drgpum::bundle {
namespace {

constexpr std::uint32_t kLongestName = 4096;
constexpr std::size_t kMostParts = 1'000'000;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

struct FreeUnpacker {
  void operator()(ZSTD_DCtx* unpacker) const { ZSTD_freeDCtx(unpacker); }
};

bool is_hex(const std::string& text) {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0;
  });
}

class Unpacker {
 public:
  Unpacker(std::string path, std::string folder, std::uint64_t most_bytes)
      : path_(std::move(path)), folder_(std::move(folder)), left_(most_bytes) {}

  Result<Unpacked> run() {
    file_.reset(std::fopen(path_.c_str(), "rbe"));
    if (!file_) return Error{errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, path_ + ": " + std::strerror(errno)};
    FileHeader header;
    if (!get(&header, sizeof header) || header.magic != kMagic) return damaged("is no bundle");
    if (header.major != kMajor)
      return Error{ErrorCode::kUnsupported, path_ + ": is a bundle of version " +
                                                std::to_string(header.major) +
                                                "; this drgpum reads version 1"};
    for (std::size_t count = 0; count < kMostParts; ++count) {
      PartHeader part;
      if (!get(&part, sizeof part)) return damaged("ends early");
      if (part.kind == static_cast<std::uint32_t>(PartKind::kEnd)) return finish();
      RETURN_IF_ERROR(take(part));
    }
    return damaged("has more than 1,000,000 parts");
  }

 private:
  bool get(void* bytes, std::size_t size) { return std::fread(bytes, 1, size, file_.get()) == size; }

  Error damaged(const std::string& what) const {
    return {ErrorCode::kCorrupt, path_ + ": " + what + ", at byte " +
                                     std::to_string(file_ ? std::ftell(file_.get()) : 0)};
  }

  Result<Unpacked> finish() {
    if (unpacked_.trace.empty()) return damaged("holds no trace");
    return std::move(unpacked_);
  }

  // Where the part goes; empty: to be skipped.
  std::string place_of(PartKind kind, const std::string& name) {
    switch (kind) {
      case PartKind::kTrace:
        return unpacked_.trace = folder_ + "/trace";
      case PartKind::kImage:
        return is_hex(name) ? folder_ + "/" + name : "";
      case PartKind::kLines:
        return is_hex(name) ? folder_ + "/" + name + ".lines" : "";
      case PartKind::kSource: {
        const std::string file = folder_ + "/source-" + std::to_string(unpacked_.sources.size());
        unpacked_.sources.emplace_back(name, file);
        return file;
      }
      case PartKind::kEnd:
        break;
    }
    return "";  // of a later version
  }

  Status take(const PartHeader& part) {
    if (part.name_bytes > kLongestName) return damaged("has a part whose name is too long");
    std::string name(part.name_bytes, '\0');
    if (!get(name.data(), name.size())) return damaged("ends early");
    const std::string place = place_of(static_cast<PartKind>(part.kind), name);
    if (place.empty()) return skip(part.packed_bytes);
    if (part.bytes > left_)
      return Error{ErrorCode::kUnsupported, path_ + ": unpacks to more than there is room for"};
    left_ -= part.bytes;
    return unpack_to(place, part);
  }

  Status skip(std::uint64_t bytes) {
    char block[4096];
    for (; bytes > 0; bytes -= std::min<std::uint64_t>(bytes, sizeof block))
      if (!get(block, static_cast<std::size_t>(std::min<std::uint64_t>(bytes, sizeof block))))
        return damaged("ends early");
    return Ok{};
  }

  Status unpack_to(const std::string& place, const PartHeader& part) {
    const int fd = ::open(place.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    File out(fd < 0 ? nullptr : ::fdopen(fd, "wb"));
    if (!out) return Error{ErrorCode::kIo, place + ": " + std::strerror(errno)};
    const std::unique_ptr<ZSTD_DCtx, FreeUnpacker> unpacker(ZSTD_createDCtx());
    std::vector<char> packed(ZSTD_DStreamInSize());
    std::vector<char> plain(ZSTD_DStreamOutSize());
    std::uint64_t written = 0;
    std::uint32_t crc = 0;
    bool ended = false;
    for (std::uint64_t left = part.packed_bytes; left > 0;) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, packed.size()));
      if (!get(packed.data(), size)) return damaged("ends early");
      left -= size;
      for (ZSTD_inBuffer in{packed.data(), size, 0}; in.pos < in.size;) {
        ZSTD_outBuffer to{plain.data(), plain.size(), 0};
        const std::size_t state = ZSTD_decompressStream(unpacker.get(), &to, &in);
        written += to.pos;
        if (ZSTD_isError(state) || written > part.bytes) return damaged("is damaged");
        crc = crc32c_extend(crc, plain.data(), to.pos);
        ended = state == 0;
        if (std::fwrite(plain.data(), 1, to.pos, out.get()) != to.pos)
          return Error{ErrorCode::kIo, place + ": " + std::strerror(errno)};
      }
    }
    if (!ended || written != part.bytes || crc != part.crc) return damaged("is damaged");
    if (std::fclose(out.release()) != 0)
      return Error{ErrorCode::kIo, place + ": " + std::strerror(errno)};
    return Ok{};
  }

  std::string path_;
  std::string folder_;
  std::uint64_t left_;
  File file_;
  Unpacked unpacked_;
};

}  // namespace

bool is_bundle(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  std::array<char, 8> magic{};
  const bool read_all = ::read(fd, magic.data(), magic.size()) == static_cast<ssize_t>(magic.size());
  ::close(fd);
  return read_all && magic == kMagic;
}

Result<Unpacked> unpack(const std::string& path, const std::string& folder,
                        std::uint64_t most_bytes) {
  return Unpacker(path, folder, most_bytes).run();
}

}  // namespace drgpum::bundle
