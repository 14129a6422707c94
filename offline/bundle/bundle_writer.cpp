// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "offline/bundle/bundle_file.h"
#include "proto/base/crc32c.h"

namespace drgpum::bundle {
namespace {

constexpr std::size_t kBlock = 1 << 20;
constexpr int kLevel = 6;

Error failed(const std::string& path) {
  return {ErrorCode::kIo, path + ": " + std::strerror(errno)};
}

}  // namespace

struct Writer::State {
  std::string path;
  std::string unfinished;
  std::FILE* file = nullptr;
  std::vector<char> out = std::vector<char>(ZSTD_CStreamOutSize());
  ZSTD_CCtx* packer = nullptr;
  ~State() {
    if (packer != nullptr) ZSTD_freeCCtx(packer);
    if (file != nullptr) std::fclose(file);
    if (!unfinished.empty()) ::unlink(unfinished.c_str());
  }
  bool put(const void* bytes, std::size_t size) { return std::fwrite(bytes, 1, size, file) == size; }

  // Packs a block; false: the disk is full.
  bool pack(std::string_view block, bool last, PartHeader& header) {
    header.bytes += block.size();
    header.crc = crc32c_extend(header.crc, block.data(), block.size());
    ZSTD_inBuffer in{block.data(), block.size(), 0};
    for (std::size_t left = 1; left != 0;) {
      ZSTD_outBuffer packed{out.data(), out.size(), 0};
      left = ZSTD_compressStream2(packer, &packed, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) || !put(out.data(), packed.pos)) return false;
      header.packed_bytes += packed.pos;
      if (!last && in.pos == in.size) break;
    }
    return true;
  }
};

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer::~Writer() = default;

Result<Writer> Writer::create(const std::string& path, bool replace) {
  struct stat found {};
  const bool there = ::stat(path.c_str(), &found) == 0;
  if (there && !replace)
    return Error{ErrorCode::kInvalidArgument, path + ": is there already; -f replaces it"};
  if (there && !S_ISREG(found.st_mode))
    return Error{ErrorCode::kInvalidArgument, path + ": is not a file; name one to write"};
  auto state = std::make_unique<State>();
  state->path = path;
  state->unfinished = path + ".XXXXXX";
  const int fd = ::mkostemp(state->unfinished.data(), O_CLOEXEC);
  if (fd < 0) {
    state->unfinished.clear();
    return failed(path);
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd, 0666 & ~mask);
  state->file = ::fdopen(fd, "wb");
  state->packer = ZSTD_createCCtx();
  if (state->file == nullptr || state->packer == nullptr) return failed(path);
  ZSTD_CCtx_setParameter(state->packer, ZSTD_c_compressionLevel, kLevel);
  const FileHeader header;
  if (!state->put(&header, sizeof header)) return failed(path);
  return Writer(std::move(state));
}

Status Writer::add(PartKind kind, std::string_view name, std::string_view bytes) {
  PartHeader header;
  header.kind = static_cast<std::uint32_t>(kind);
  header.name_bytes = static_cast<std::uint32_t>(name.size());
  const long at = std::ftell(state_->file);
  const bool whole = state_->put(&header, sizeof header) && state_->put(name.data(), name.size()) &&
                     state_->pack(bytes, true, header) &&
                     std::fseek(state_->file, at, SEEK_SET) == 0 &&
                     state_->put(&header, sizeof header) &&
                     std::fseek(state_->file, 0, SEEK_END) == 0;
  if (!whole) return failed(state_->path);
  return Ok{};
}

// Block by block: traces may be larger than memory.
Status Writer::add_file(PartKind kind, std::string_view name, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return failed(path);
  PartHeader header;
  header.kind = static_cast<std::uint32_t>(kind);
  header.name_bytes = static_cast<std::uint32_t>(name.size());
  const long at = std::ftell(state_->file);
  if (!state_->put(&header, sizeof header) || !state_->put(name.data(), name.size()))
    return failed(state_->path);
  std::vector<char> block(kBlock);
  for (bool last = false; !last;) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    if (file.bad()) return failed(path);
    last = file.eof();
    if (!state_->pack({block.data(), static_cast<std::size_t>(file.gcount())}, last, header))
      return failed(state_->path);
  }
  if (std::fseek(state_->file, at, SEEK_SET) != 0 || !state_->put(&header, sizeof header) ||
      std::fseek(state_->file, 0, SEEK_END) != 0)
    return failed(state_->path);
  return Ok{};
}

Status Writer::finish() {
  const PartHeader end;
  const bool whole = state_->put(&end, sizeof end) && std::fflush(state_->file) == 0;
  const bool closed = std::fclose(std::exchange(state_->file, nullptr)) == 0;
  if (!whole || !closed || ::rename(state_->unfinished.c_str(), state_->path.c_str()) != 0)
    return failed(state_->path);
  state_->unfinished.clear();
  return Ok{};
}

}  // namespace drgpum::bundle
