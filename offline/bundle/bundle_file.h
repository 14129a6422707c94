// SPDX-License-Identifier: Apache-2.0
#pragma once
// One file that holds a trace and what its report needs from the machine that recorded it: images
// of device code, lines of host code, lines of sources. proto/FORMAT.md says how it lies on disk.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/base/result.h"

namespace drgpum::bundle {

inline constexpr std::array<char, 8> kMagic{'\x89', 'D', 'R', 'G', 'B', '\r', '\n', '\x1a'};
inline constexpr std::uint16_t kMajor = 1;

enum class PartKind : std::uint32_t {
  kEnd = 0,
  kTrace = 1,   // no name
  kImage = 2,   // of device code; name: its hash as in CubinRecord
  kLines = 3,   // of one host module, as SymbolCache keeps them; name: lines_key()
  kSource = 4,  // text of a source file, lines that nothing names left blank; name: its path
};

// Before each part's name and bytes.
struct PartHeader {
  std::uint32_t kind = 0;
  std::uint32_t name_bytes = 0;
  std::uint64_t bytes = 0;         // unpacked
  std::uint64_t packed_bytes = 0;  // as stored: one zstd frame
  std::uint32_t crc = 0;           // CRC-32C of the unpacked bytes
  std::uint32_t zero = 0;
};
static_assert(sizeof(PartHeader) == 32);

struct FileHeader {
  std::array<char, 8> magic = kMagic;
  std::uint16_t major = kMajor;
  std::uint16_t minor = 0;
  std::uint32_t zero = 0;
};
static_assert(sizeof(FileHeader) == 16);

// Whether the file begins as a bundle does. False also when it cannot be read.
bool is_bundle(const std::string& path);

// Writes under a name of its own and renames at the end: the file is there whole or not at all.
class Writer {
 public:
  // kInvalidArgument: the file is there and `replace` is not set; kIo: it cannot be written.
  static Result<Writer> create(const std::string& path, bool replace);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) = delete;
  ~Writer();

  Status add(PartKind kind, std::string_view name, std::string_view bytes);
  Status add_file(PartKind kind, std::string_view name, const std::string& path);
  Status finish();

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Parts laid out below a folder: `trace`, images as `<hash>`, lines as `<key>.lines`.
struct Unpacked {
  std::string trace;
  std::vector<std::pair<std::string, std::string>> sources;  // path in the report, file
};

// Trusts nothing: names become names of files only where they are hexadecimal, and no more is
// written than the headers say and `most_bytes` allows. kCorrupt: not a bundle, or damaged;
// kUnsupported: of a later version.
Result<Unpacked> unpack(const std::string& path, const std::string& folder,
                        std::uint64_t most_bytes);

}  // namespace drgpum::bundle
