// SPDX-License-Identifier: Apache-2.0
#include "offline/report/column_pack.h"

#include <algorithm>

#include <zlib.h>

namespace drgpum {
namespace {

constexpr int kLevel = 6;

}  // namespace

std::string deflated(std::string_view piece) {
  z_stream stream{};
  deflateInit2(&stream, kLevel, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, static_cast<uLong>(piece.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  stream.avail_in = static_cast<uInt>(piece.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string container_of(std::string_view head, std::string_view columns) {
  std::string bytes;
  bytes.reserve(4 + head.size() + columns.size());
  for (int shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(head.size() >> shift & 255);
  bytes += head;
  bytes += columns;
  return bytes;
}

std::vector<std::string> deflated_pieces(std::string_view bytes) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes)
    pieces.push_back(deflated(bytes.substr(at, kPieceBytes)));
  return pieces;
}

}  // namespace drgpum
