// SPDX-License-Identifier: Apache-2.0
// Walks frames, then the fields of each frame's chunk, then hands out their records.
#include "proto/trace/trace_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/crc32c.h"

namespace drgpum::trace {
namespace {

constexpr std::uint64_t kMaxHeader = 4096;
// A record that was being written when the process was killed leaves bytes that belong to no frame.
// They lie within one frame of the last good one, and the writer's reserve of zeros follows.
constexpr std::uint64_t kMaxTorn = kMaxPayload + 2 * sizeof(FrameHeader);
constexpr std::uint64_t kZerosAfterTorn = 2048;

std::string at_byte(const char* what, std::uint64_t offset) {
  return std::string(what) + " at byte " + std::to_string(offset);
}

}  // namespace

class TraceReader::Source {
 public:
  explicit Source(int fd) : fd_(fd) {}
  explicit Source(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  ~Source() {
    if (fd_ >= 0) ::close(fd_);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  [[nodiscard]] std::uint64_t size() const {
    struct stat found {};
    if (fd_ < 0) return bytes_.size();
    return ::fstat(fd_, &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
  }

  // The bytes there are at `offset`, at most `size`.
  std::size_t read(std::uint64_t offset, void* to, std::size_t size) {
    if (fd_ >= 0) return read_file(offset, static_cast<char*>(to), size);
    if (offset >= bytes_.size()) return 0;
    const std::size_t have = std::min<std::size_t>(size, bytes_.size() - offset);
    std::memcpy(to, bytes_.data() + offset, have);
    return have;
  }

 private:
  std::size_t read_file(std::uint64_t offset, char* to, std::size_t size) const {
    std::size_t have = 0;
    while (have < size) {
      const ssize_t got = ::pread(fd_, to + have, size - have, static_cast<off_t>(offset + have));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    return have;
  }

  int fd_ = -1;
  std::vector<std::uint8_t> bytes_;
};

TraceReader::TraceReader(std::unique_ptr<Source> source) : source_(std::move(source)) {}
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader::~TraceReader() = default;

Result<TraceReader> TraceReader::open(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return Error{errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                 path + ": " + std::strerror(errno)};
  TraceReader reader(std::make_unique<Source>(fd));
  struct stat found {};
  if (::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode))
    return Error{ErrorCode::kInvalidArgument, path + ": is not a regular file"};
  if (Status status = reader.read_header(); !status)
    return std::move(status).error().while_doing(path);
  return reader;
}

Result<TraceReader> TraceReader::from_bytes(std::vector<std::uint8_t> bytes) {
  TraceReader reader(std::make_unique<Source>(std::move(bytes)));
  RETURN_IF_ERROR(reader.read_header());
  return reader;
}

Status TraceReader::read_header() {
  FileHeader& header = summary_.header;
  summary_.file_bytes = source_->size();
  const std::size_t got = source_->read(0, &header, sizeof header);
  if (got == 0) return Error{ErrorCode::kCorrupt, "the file is empty"};
  const std::size_t magic = std::min(got, kFileMagic.size());
  if (std::memcmp(header.magic.data(), kFileMagic.data(), magic) != 0)
    return Error{ErrorCode::kUnsupported, "is not a drgpum trace"};
  if (got < sizeof header)
    return Error{ErrorCode::kCorrupt,
                 "ends inside the file header: the process ended before the "
                 "first record"};
  if (header.crc != crc32c_extend(0, &header, offsetof(FileHeader, crc)))
    return Error{ErrorCode::kCorrupt, "the file header is damaged: its checksum does not match"};
  if (header.major != kMajorVersion)
    return Error{ErrorCode::kUnsupported,
                 "has format version " + std::to_string(header.major) + "; this drgpum reads " +
                     std::to_string(kMajorVersion) + ": use the drgpum that recorded it"};
  if (header.header_bytes < sizeof header || header.header_bytes > kMaxHeader ||
      header.header_bytes % 8 != 0)
    return Error{ErrorCode::kCorrupt, "the file header gives itself an impossible size of " +
                                          std::to_string(header.header_bytes) + " bytes"};
  frame_begin_ = next_frame_ = header.header_bytes;
  return Ok{};
}

bool TraceReader::next(Record& out) {
  while (!finished_) {
    wire::Field field;
    if (chunk_.next(field)) {
      const Step step = take_field(field, out);
      if (step == Step::kRecord) return true;
      if (step == Step::kEnd) break;
    } else if (chunk_.failed()) {
      end_at(frame_begin_, Completeness::kDamaged, at_byte("the frame is no chunk", frame_begin_));
    } else if (!load_frame()) {
      break;
    }
  }
  summary_.unknown_records = decoder_.unknown_records();
  summary_.unknown_fields += decoder_.unknown_fields();
  decoder_ = {};
  return false;
}

// Leaves the payload of the frame at next_frame_ in chunk_.
bool TraceReader::load_frame() {
  FrameHeader header;
  if (dirty_padding_) return end_of_frames(summary_.valid_bytes, "the padding is not zero");
  frame_begin_ = next_frame_;
  const std::size_t got = source_->read(frame_begin_, &header, sizeof header);
  if (got < sizeof header) return end_of_frames(frame_begin_, nullptr);
  if (header.length == 0 || header.length > kMaxPayload)
    return end_of_frames(frame_begin_, "there is no frame");
  payload_.resize(padded(header.length));
  const std::size_t have =
      source_->read(frame_begin_ + sizeof header, payload_.data(), payload_.size());
  if (have < payload_.size()) return end_of_frames(frame_begin_, nullptr);
  std::uint32_t crc = crc32c_extend(0, &header.sequence, sizeof header.sequence);
  crc = crc32c_extend(crc, payload_.data(), header.length);
  if (crc != header.crc) return end_of_frames(frame_begin_, "the checksum does not match");
  if (header.sequence != summary_.frames)
    return end_of_frames(frame_begin_, "a frame is out of sequence");
  ++summary_.frames;
  summary_.valid_bytes = frame_begin_ + sizeof header + header.length;
  next_frame_ = frame_begin_ + sizeof header + payload_.size();
  dirty_padding_ = std::any_of(payload_.begin() + header.length, payload_.end(),
                               [](std::uint8_t byte) { return byte != 0; });
  chunk_ = wire::Decoder({payload_.data(), header.length});
  return true;
}

TraceReader::Step TraceReader::take_field(const wire::Field& field, Record& out) {
  using wire::WireType;
  if (field.number == kChunkRecord && field.type == WireType::kBytes)
    return take_message(field.bytes, out);
  if (field.number == kChunkPartLast && field.type == WireType::kVarint) {
    part_whole_ = field.value != 0;
  } else if (field.number == kChunkPart && field.type == WireType::kBytes) {
    part_.insert(part_.end(), field.bytes.begin(), field.bytes.end());
    if (!std::exchange(part_whole_, false)) return Step::kAgain;
    const std::vector<std::uint8_t> whole = std::exchange(part_, {});
    return take_message(whole, out);
  } else if (field.number == kChunkFooter && field.type == WireType::kBytes) {
    return take_footer(field.bytes);
  } else {
    ++summary_.unknown_fields;
  }
  return Step::kAgain;
}

TraceReader::Step TraceReader::take_message(std::span<const std::uint8_t> message, Record& out) {
  ++summary_.records;
  switch (decoder_.decode(message, out)) {
    case RecordDecoder::Outcome::kRecord:
      if (std::holds_alternative<GpuApi>(out)) ++summary_.apis;
      if (std::holds_alternative<EndRecord>(out)) end_record_ = true;
      return Step::kRecord;
    case RecordDecoder::Outcome::kNothing:
      return Step::kAgain;
    case RecordDecoder::Outcome::kCorrupt:
      break;
  }
  --summary_.records;
  end_at(frame_begin_, Completeness::kDamaged,
         at_byte("a record cannot be decoded in the frame", frame_begin_));
  return Step::kEnd;
}

TraceReader::Step TraceReader::take_footer(std::span<const std::uint8_t> footer) {
  wire::Decoder fields(footer);
  wire::Field field;
  std::uint64_t records = 0;
  std::uint64_t frames = 0;
  while (fields.next(field)) {
    if (field.number == kFooterRecords) records = field.value;
    if (field.number == kFooterFrames) frames = field.value;
    if (field.number == kFooterStopped) stop_reason_ = field.text();
  }
  if (dirty_padding_)
    end_of_frames(summary_.valid_bytes, "the padding is not zero");
  else if (fields.failed() || records != summary_.records || frames + 1 != summary_.frames)
    end_at(frame_begin_, Completeness::kDamaged,
           at_byte("the footer does not fit the records", frame_begin_));
  else
    read_trailer(next_frame_);
  return Step::kEnd;
}

void TraceReader::read_trailer(std::uint64_t at) {
  FileTrailer trailer;
  const std::size_t got = source_->read(at, &trailer, sizeof trailer);
  if (got < sizeof trailer)
    end_at(at, Completeness::kUnfinished, at_byte("is cut off", at + got));
  else if (trailer.magic != kTrailerMagic || trailer.footer_offset != frame_begin_)
    end_at(at, Completeness::kDamaged, at_byte("the trailer is damaged", at));
  else if (!zeros_from(at + sizeof trailer))
    end_at(at + sizeof trailer, Completeness::kDamaged,
           at_byte("bytes follow the end of the trace", at + sizeof trailer));
  else if (!stop_reason_.empty())
    end_at(at + sizeof trailer, Completeness::kUnfinished, "recording stopped: " + stop_reason_);
  else if (!end_record_)
    end_at(at + sizeof trailer, Completeness::kUnfinished, "the end record is missing");
  else
    end_at(at + sizeof trailer, Completeness::kComplete, "");
}

bool TraceReader::end_at(std::uint64_t offset, Completeness completeness, std::string reason) {
  finished_ = true;
  summary_.valid_bytes = offset;
  summary_.completeness = completeness;
  summary_.reason = std::move(reason);
  return false;
}

// No good frame begins at `offset`: the writer was killed, the file was cut, or it is damaged.
bool TraceReader::end_of_frames(std::uint64_t offset, const char* fault) {
  if (fault == nullptr)
    return end_at(offset, Completeness::kUnfinished, at_byte("ends early", summary_.file_bytes));
  const bool room = summary_.file_bytes >= offset + kZerosAfterTorn;
  const std::uint64_t zeros = std::min(
      offset + kMaxTorn, summary_.file_bytes - std::min(summary_.file_bytes, kZerosAfterTorn));
  if (zeros_from(offset) || (room && zeros_from(std::max(offset, zeros))))
    return end_at(offset, Completeness::kUnfinished, at_byte("ends early", offset));
  return end_at(offset, Completeness::kDamaged, at_byte(fault, offset));
}

bool TraceReader::zeros_from(std::uint64_t offset) {
  std::array<std::uint8_t, 4096> block;
  for (std::size_t got = 0; (got = source_->read(offset, block.data(), block.size())) > 0;
       offset += got)
    if (std::any_of(block.begin(), block.begin() + got, [](auto byte) { return byte != 0; }))
      return false;
  return true;
}

}  // namespace drgpum::trace
