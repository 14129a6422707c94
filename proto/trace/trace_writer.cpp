// SPDX-License-Identifier: Apache-2.0
// Frames: a mapped file's last frame grows record by record; elsewhere each record is a frame.
#include "proto/trace/trace_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "proto/base/crc32c.h"

namespace drgpum::trace {
namespace {

// Kept free after the last record, so that a full disk still takes the reason and the footer.
constexpr std::uint64_t kReserve = 4096;
constexpr std::uint64_t kSmallestLimit = 64 << 10;
constexpr const char* kNoMemory = "no memory to encode a record";
constexpr std::size_t kPartBytes = kMaxPayload - 16;  // leaves room for the part's own fields

std::uint32_t begin_crc(std::uint64_t sequence) {
  return crc32c_extend(0, &sequence, sizeof sequence);
}

std::span<const std::uint8_t> as_bytes(const void* data, std::size_t size) {
  return {static_cast<const std::uint8_t*>(data), size};
}

}  // namespace

TraceWriter::TraceWriter(OutputFile file, const Options& options)
    : file_(std::move(file)),
      max_bytes_(options.max_bytes == 0 ? std::numeric_limits<std::int64_t>::max()
                                        : options.max_bytes) {}

Result<std::unique_ptr<TraceWriter>> TraceWriter::create(const std::string& path,
                                                         const ProcessRecord& process,
                                                         Options options) {
  if (options.max_bytes != 0 && options.max_bytes < kSmallestLimit)
    return Error{ErrorCode::kInvalidArgument, "a size limit of " +
                                                  std::to_string(options.max_bytes) +
                                                  " bytes: the smallest is 65536 (64 KiB)"};
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path, options.replace));
  std::unique_ptr<TraceWriter> writer(new TraceWriter(std::move(file), options));
  if (!writer->write_header(process) || !writer->append(process))
    return Error{ErrorCode::kIo, path + ": " + writer->file_.why()};
  return writer;
}

bool TraceWriter::write_header(const ProcessRecord& process) noexcept {
  FileHeader header;
  header.pid = process.pid;
  header.start_unix_ns = process.start_unix_ns;
  header.crc = crc32c_extend(0, &header, offsetof(FileHeader, crc));
  return file_.reserve(0, sizeof header + kReserve, max_bytes_) &&
         file_.store(0, as_bytes(&header, sizeof header));
}

template <typename T>
bool TraceWriter::append_or_throw(const T& record) {
  if constexpr (std::is_same_v<T, GpuApi>) {
    bool added = false;
    const std::uint32_t number = names_.number_of(record.name, added);
    if (added) {
      message_.clear();
      encode_name(number, record.name, message_);
      if (!append_message(message_.bytes())) return false;
    }
  }
  message_.clear();
  encode_record(record, names_, message_);
  if (!append_message(message_.bytes())) return false;
  if constexpr (std::is_same_v<T, GpuApi>) ++apis_;
  return true;
}

template <typename T>
bool TraceWriter::append(const T& record) noexcept {
  if (!open_) return false;
  try {
    return append_or_throw(record);
  } catch (...) {  // only memory can fail here, and the program must not pay for it
    return stop(CoverageKind::kToolDisabled, kNoMemory);
  }
}

bool TraceWriter::append(const Record& record) noexcept {
  return std::visit([this](const auto& alternative) { return append(alternative); }, record);
}

bool TraceWriter::append_message(Bytes message) noexcept {
  if (message_.failed()) return stop(CoverageKind::kToolDisabled, kNoMemory);
  chunk_.clear();
  chunk_.tag(kChunkRecord, wire::WireType::kBytes);
  chunk_.varint(message.size());
  if (chunk_.failed()) return stop(CoverageKind::kToolDisabled, kNoMemory);
  const std::size_t size = chunk_.bytes().size() + message.size();
  if (size > kMaxPayload) return append_parts(message);
  if (frame_length_ + size > kMaxPayload) end_frame();
  if (!reserve(size) || !add_to_frame(chunk_.bytes(), message)) return false;
  ++records_;
  return true;
}

bool TraceWriter::append_parts(Bytes message) noexcept {
  end_frame();
  const std::size_t parts = message.size() / kPartBytes + 1;
  if (!reserve(parts * (sizeof(FrameHeader) + kMaxPayload))) return false;
  while (!message.empty()) {
    const Bytes part = message.first(std::min(kPartBytes, message.size()));
    message = message.subspan(part.size());
    chunk_.clear();
    if (message.empty()) chunk_.varint_field(kChunkPartLast, 1);
    chunk_.tag(kChunkPart, wire::WireType::kBytes);
    chunk_.varint(part.size());
    if (!add_to_frame(chunk_.bytes(), part)) return false;
    end_frame();
  }
  ++records_;
  return true;
}

bool TraceWriter::reserve(std::size_t bytes) noexcept {
  const std::uint64_t end =
      frame_begin_ + sizeof(FrameHeader) + padded(frame_length_ + bytes) + kReserve;
  if (file_.reserve(frame_begin_, end, max_bytes_)) return true;
  return stop(file_.at_limit() ? CoverageKind::kSizeLimit : CoverageKind::kToolDisabled,
              file_.why());
}

bool TraceWriter::add_to_frame(Bytes prefix, Bytes body) noexcept {
  return file_.mapped() ? extend_mapped_frame(prefix, body) : write_whole_frame(prefix, body);
}

bool TraceWriter::extend_mapped_frame(Bytes prefix, Bytes body) noexcept {
  if (frame_length_ == 0) {
    note_frame();
    frame_crc_ = begin_crc(sequence_);
    if (!file_.store(frame_begin_ + offsetof(FrameHeader, sequence),
                     as_bytes(&sequence_, sizeof sequence_)))
      return false;
  }
  std::uint64_t at = frame_begin_ + sizeof(FrameHeader) + frame_length_;
  for (const Bytes bytes : {prefix, body}) {
    if (!file_.store(at, bytes)) return false;
    at += bytes.size();
    frame_crc_ = crc32c_extend(frame_crc_, bytes.data(), bytes.size());
    frame_length_ += static_cast<std::uint32_t>(bytes.size());
  }
  file_.publish(frame_begin_, std::uint64_t{frame_crc_} << 32 | frame_length_);
  return true;
}

bool TraceWriter::write_whole_frame(Bytes prefix, Bytes body) noexcept {
  note_frame();
  FrameHeader header;
  header.length = static_cast<std::uint32_t>(prefix.size() + body.size());
  header.sequence = sequence_;
  header.crc = crc32c_extend(begin_crc(sequence_), prefix.data(), prefix.size());
  header.crc = crc32c_extend(header.crc, body.data(), body.size());
  frame_.clear();
  frame_.raw(&header, sizeof header);
  frame_.raw(prefix.data(), prefix.size());
  frame_.raw(body.data(), body.size());
  constexpr std::array<std::uint8_t, 8> kZeros{};
  frame_.raw(kZeros.data(), padded(header.length) - header.length);
  if (frame_.failed()) return stop(CoverageKind::kToolDisabled, kNoMemory);
  if (!file_.store(frame_begin_, frame_.bytes()))
    return stop(CoverageKind::kToolDisabled, file_.why());
  frame_length_ = header.length;
  end_frame();
  return true;
}

void TraceWriter::end_frame() noexcept {
  if (frame_length_ == 0) return;
  frame_begin_ += sizeof(FrameHeader) + padded(frame_length_);
  frame_length_ = 0;
  ++sequence_;
}

// When the index is full, every second entry goes and the stride doubles.
void TraceWriter::note_frame() noexcept {
  if (sequence_ % index_stride_ != 0) return;
  if (index_size_ == kMaxIndex) {
    for (std::size_t k = 0; k < kMaxIndex / 2; ++k)
      index_[k] = index_[2 * k];
    index_size_ = kMaxIndex / 2;
    index_stride_ *= 2;
    if (sequence_ % index_stride_ != 0) return;
  }
  index_[index_size_++] = {frame_begin_, sequence_, apis_};
}

bool TraceWriter::stop(CoverageKind kind, const char* reason) noexcept {
  if (!open_ || stopped()) return false;
  stop_reason_ = reason;
  try {
    CoverageRecord coverage;
    coverage.kind = kind;
    coverage.text = std::string("recording stopped: ") + reason;
    message_.clear();
    encode_record(coverage, names_, message_);
    chunk_.clear();
    chunk_.bytes_field(kChunkRecord, {reinterpret_cast<const char*>(message_.bytes().data()),
                                      message_.bytes().size()});
    end_frame();
    if (!chunk_.failed() && !message_.failed() && add_to_frame(chunk_.bytes(), {})) ++records_;
  } catch (...) {  // the footer below still says that the end is missing
  }
  finish();
  return false;
}

void TraceWriter::write_footer() noexcept {
  message_.clear();
  const std::size_t footer = message_.begin_message(kChunkFooter);
  message_.varint_field(kFooterRecords, records_);
  message_.varint_field(kFooterFrames, sequence_);
  message_.varint_field(kFooterApis, apis_);
  for (std::size_t k = 0; k < index_size_; ++k) {
    const std::size_t entry = message_.begin_message(kFooterIndex);
    message_.varint_field(kIndexOffset, index_[k].offset);
    message_.varint_field(kIndexSequence, index_[k].sequence);
    message_.varint_field(kIndexApis, index_[k].apis);
    message_.end_message(entry);
  }
  if (stopped()) message_.bytes_field(kFooterStopped, stop_reason_);
  message_.end_message(footer);
  FileTrailer trailer;
  trailer.footer_offset = frame_begin_;
  if (message_.failed() || !add_to_frame(message_.bytes(), {})) return;
  end_frame();
  if (file_.store(frame_begin_, as_bytes(&trailer, sizeof trailer))) frame_begin_ += sizeof trailer;
}

void TraceWriter::finish() noexcept {
  if (!open_) return;
  end_frame();
  write_footer();
  open_ = false;
  file_.close(frame_begin_);
}

void TraceWriter::abandon() noexcept {
  open_ = false;
  file_.abandon();
}

template <std::size_t... index>
auto instantiate_all(std::index_sequence<index...>) {
  return std::make_tuple(&TraceWriter::append<std::variant_alternative_t<index, Record>>...);
}
template auto instantiate_all(std::make_index_sequence<std::variant_size_v<Record>>);

}  // namespace drgpum::trace
