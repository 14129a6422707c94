// SPDX-License-Identifier: Apache-2.0
#pragma once
// What of an ELF file is needed to find its lines: build id, debug link, symbols. Reads through
// libelf; to be used in a limited child only.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/base/result.h"

struct Elf;

namespace drgpum {

struct ElfFunction {
  std::uint64_t begin = 0;  // virtual addresses [begin, end)
  std::uint64_t end = 0;
  std::string name;  // mangled
};

struct DebugLink {
  std::string file;  // a name without directory
  std::uint32_t crc = 0;
};

class ElfFile {
 public:
  static Result<ElfFile> open(const std::string& path);
  ElfFile(ElfFile&&) noexcept;
  ElfFile& operator=(ElfFile&&) noexcept;
  ~ElfFile();

  [[nodiscard]] int descriptor() const { return fd_; }
  [[nodiscard]] std::string build_id() const;  // lower-case hex; empty: none
  [[nodiscard]] bool has_section(const char* name) const;
  // Uncompressed; empty: there is no such section.
  [[nodiscard]] std::vector<std::uint8_t> section_bytes(const char* name) const;
  [[nodiscard]] std::optional<DebugLink> debug_link() const;
  // By rising begin; of .symtab, else .dynsym.
  [[nodiscard]] std::vector<ElfFunction> functions() const;

 private:
  ElfFile(int fd, Elf* elf) : fd_(fd), elf_(elf) {}
  int fd_;
  Elf* elf_;
};

// CRC-32 as .gnu_debuglink has it (zlib's), of a whole file; nullopt: it cannot be read.
std::optional<std::uint32_t> file_crc32(const std::string& path);

}  // namespace drgpum
