// SPDX-License-Identifier: Apache-2.0
#include "offline/import/byte_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>


namespace drgpum {
namespace {

constexpr std::size_t kWindow = 1 << 18;
constexpr std::size_t kInput = 1 << 17;  // packed bytes held at once
// Snapshots shrink 10 to 200 fold. What grows more than this was made to fill memory or time.
constexpr std::uint64_t kMaxGrowth = 1000;
constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{64} << 20;

Error io_error(const std::string& what) {
  return {ErrorCode::kIo, what + ": " + std::strerror(errno)};
}

// Bytes of the file as they lie there.
class Raw {
 public:
  explicit Raw(int descriptor) : descriptor_(descriptor) {}
  explicit Raw(std::string bytes) : bytes_(std::move(bytes)) {}
  Raw(const Raw&) = delete;
  ~Raw() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  // 0 at the end or on failure (then error() is set).
  std::size_t read(std::uint8_t* to, std::size_t most) {
    if (descriptor_ < 0) {
      const std::size_t count = std::min<std::size_t>(most, bytes_.size() - total_);
      std::memcpy(to, bytes_.data() + total_, count);
      total_ += count;
      return count;
    }
    ssize_t count = -1;
    do {
      count = ::read(descriptor_, to, most);
    } while (count < 0 && errno == EINTR);
    if (count < 0) error_ = io_error("reading failed");
    total_ += static_cast<std::uint64_t>(std::max<ssize_t>(count, 0));
    return static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  std::uint64_t total() const { return total_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  int descriptor_ = -1;
  std::string bytes_;
  std::uint64_t total_ = 0;
  std::optional<Error> error_;
};

}  // namespace

// Unpacks on the way. Packed input is held in a buffer that begins with what sniffing read.
class ByteStream::Source {
 public:
  explicit Source(int descriptor) : raw_(descriptor) {}
  explicit Source(std::string bytes) : raw_(std::move(bytes)) {}
  Source(const Source&) = delete;
  ~Source() {
    if (packing_ == Packing::kGzip) ::inflateEnd(&gzip_);
    ZSTD_freeDStream(zstd_);
  }

  Packing sniff() {
    static constexpr std::uint8_t kGzipMagic[] = {0x1f, 0x8b};
    static constexpr std::uint8_t kZstdMagic[] = {0x28, 0xb5, 0x2f, 0xfd};
    while (in_end_ < sizeof kZstdMagic) {
      const std::size_t count = raw_.read(input_.get() + in_end_, kInput - in_end_);
      if (count == 0) break;
      in_end_ += count;
    }
    const auto begins = [&](const auto& magic) {
      return in_end_ >= sizeof magic && std::memcmp(input_.get(), magic, sizeof magic) == 0;
    };
    if (begins(kGzipMagic)) {
      packing_ = ::inflateInit2(&gzip_, 15 + 16) == Z_OK ? Packing::kGzip : Packing::kPlain;
    } else if (begins(kZstdMagic)) {
      zstd_ = ZSTD_createDStream();
      if (zstd_ != nullptr) packing_ = Packing::kZstd;
    }
    return packing_;
  }

  std::size_t read(std::uint8_t* to, std::size_t most) {
    if (packing_ == Packing::kPlain) return read_plain(to, most);
    std::size_t made = 0;
    while (made == 0 && !error_) {
      if (in_begin_ == in_end_ && !fill() && !pending_) break;
      made = packing_ == Packing::kGzip ? inflate_some(to, most) : zstd_some(to, most);
      if (made == 0 && at_end_) break;
    }
    unpacked_ += made;
    if (unpacked_ > kAlwaysAllowed + kMaxGrowth * raw_.total())
      error_ = Error{ErrorCode::kUnsupported,
                     "the packed file grows more than 1,000 fold when it is unpacked"};
    if (made == 0 && !error_ && unfinished_)
      error_ = Error{ErrorCode::kCorrupt, "the packed file is cut off"};
    return error_ ? 0 : made;
  }

  std::uint64_t total() const { return raw_.total(); }
  std::optional<Error> error() const { return error_ ? error_ : raw_.error(); }

 private:
  std::size_t read_plain(std::uint8_t* to, std::size_t most) {
    if (in_begin_ == in_end_) return raw_.read(to, most);
    const std::size_t count = std::min(most, in_end_ - in_begin_);
    std::memcpy(to, input_.get() + in_begin_, count);
    in_begin_ += count;
    return count;
  }

  bool fill() {
    in_begin_ = 0;
    in_end_ = raw_.read(input_.get(), kInput);
    at_end_ = in_end_ == 0;
    return in_end_ > 0;
  }

  std::size_t inflate_some(std::uint8_t* to, std::size_t most) {
    gzip_.next_in = input_.get() + in_begin_;
    gzip_.avail_in = static_cast<uInt>(in_end_ - in_begin_);
    gzip_.next_out = to;
    gzip_.avail_out = static_cast<uInt>(std::min<std::size_t>(most, 1u << 30));
    const uInt room = gzip_.avail_out;
    unfinished_ = true;
    const int status = ::inflate(&gzip_, Z_NO_FLUSH);
    in_begin_ = in_end_ - gzip_.avail_in;
    pending_ = gzip_.avail_out == 0;
    if (status == Z_STREAM_END) {  // another member may follow
      unfinished_ = pending_ = false;
      ::inflateReset(&gzip_);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      error_ = Error{ErrorCode::kCorrupt, "the gzip data is broken"};
    }
    return room - gzip_.avail_out;
  }

  std::size_t zstd_some(std::uint8_t* to, std::size_t most) {
    ZSTD_inBuffer in{input_.get(), in_end_, in_begin_};
    ZSTD_outBuffer out{to, most, 0};
    const std::size_t status = ZSTD_decompressStream(zstd_, &out, &in);
    in_begin_ = in.pos;
    unfinished_ = status != 0;
    pending_ = out.pos == most;
    if (ZSTD_isError(status) != 0)
      error_ = Error{ErrorCode::kCorrupt,
                     std::string("the zstd data is broken: ") + ZSTD_getErrorName(status)};
    return out.pos;
  }

  Raw raw_;
  Packing packing_ = Packing::kPlain;
  std::unique_ptr<std::uint8_t[]> input_ = std::make_unique_for_overwrite<std::uint8_t[]>(kInput);
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
  std::uint64_t unpacked_ = 0;
  bool at_end_ = false;
  bool unfinished_ = false;  // within a packed stream
  bool pending_ = false;     // the unpacker may hold more output
  std::optional<Error> error_;
  z_stream gzip_{};
  ZSTD_DStream* zstd_ = nullptr;
};

ByteStream::ByteStream(std::unique_ptr<Source> source, std::uint64_t file_bytes)
    : source_(std::move(source)), file_bytes_(file_bytes) {
  capacity_ = kWindow;
  window_ = std::make_unique_for_overwrite<std::uint8_t[]>(capacity_);
  packing_ = source_->sniff();
}

ByteStream::ByteStream(ByteStream&&) noexcept = default;
ByteStream::~ByteStream() = default;

Result<ByteStream> ByteStream::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    Error error = io_error(path);
    if (errno == ENOENT) error.code = ErrorCode::kNotFound;
    return error;
  }
  struct ::stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  auto source = std::make_unique<Source>(descriptor);
  if (known && S_ISDIR(status.st_mode)) return Error{ErrorCode::kIo, path + ": is a directory"};
  const bool regular = known && S_ISREG(status.st_mode);
  return ByteStream(std::move(source), regular ? static_cast<std::uint64_t>(status.st_size) : 0);
}

ByteStream ByteStream::from_bytes(std::string bytes) {
  const std::uint64_t size = bytes.size();
  return ByteStream(std::make_unique<Source>(std::move(bytes)), size);
}

bool ByteStream::refill(std::size_t bytes) {
  if (bytes > kMaxRun) return false;
  if (bytes > capacity_ - begin_) {
    const std::size_t held = available();
    if (bytes > capacity_) {
      auto wider = std::make_unique_for_overwrite<std::uint8_t[]>(bytes + kWindow);
      std::memcpy(wider.get(), data(), held);
      window_ = std::move(wider);
      capacity_ = bytes + kWindow;
    } else {
      std::memmove(window_.get(), data(), held);
    }
    window_offset_ += begin_;
    begin_ = 0;
    end_ = held;
  }
  while (available() < bytes && !ended_) {
    const std::size_t count = source_->read(window_.get() + end_, capacity_ - end_);
    end_ += count;
    ended_ = count == 0;
  }
  if (ended_ && !problem_) problem_ = source_->error();
  return available() >= bytes;
}

bool ByteStream::skip(std::uint64_t bytes) {
  while (bytes > 0) {
    if (!need(1)) return false;
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, available()));
    advance(step);
    bytes -= step;
  }
  return true;
}

bool ByteStream::may_hold(std::uint64_t bytes) const {
  if (packing_ != Packing::kPlain || file_bytes_ == 0) return true;
  const std::uint64_t at = offset();
  return at <= file_bytes_ && bytes <= file_bytes_ - at;
}

std::uint64_t ByteStream::bytes_read() const {
  return source_->total();
}

}  // namespace drgpum
