// SPDX-License-Identifier: Apache-2.0
#include "offline/source/frame_codec.h"

namespace drgpum {
namespace {

constexpr std::uint32_t kFunction = 1;
constexpr std::uint32_t kFile = 2;
constexpr std::uint32_t kLine = 3;
constexpr std::uint32_t kInlined = 4;

}  // namespace

void encode_frame(std::uint32_t number, const AddressFrame& frame, wire::Encoder& out) {
  const std::size_t mark = out.begin_message(number);
  out.bytes_field(kFunction, frame.function);
  out.bytes_field(kFile, frame.file);
  out.varint_field(kLine, frame.line);
  out.varint_field(kInlined, frame.inlined ? 1 : 0);
  out.end_message(mark);
}

std::optional<AddressFrame> decode_frame(std::span<const std::uint8_t> message) {
  AddressFrame frame;
  wire::Decoder fields(message);
  wire::Field field;
  while (fields.next(field)) {
    if (field.number == kFunction) frame.function = field.text();
    if (field.number == kFile) frame.file = field.text();
    if (field.number == kLine) frame.line = static_cast<std::uint32_t>(field.value);
    if (field.number == kInlined) frame.inlined = field.value != 0;
  }
  if (fields.failed()) return std::nullopt;
  return frame;
}

}  // namespace drgpum
