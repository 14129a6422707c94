// SPDX-License-Identifier: Apache-2.0
// Sections, notes and symbols by libelf.
#include "offline/source/elf_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

namespace drgpum {
namespace {

constexpr std::size_t kMostFunctions = 20'000'000;  // a damaged table must not take all memory

std::string section_name(Elf* elf, const GElf_Shdr& header) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return "";
  const char* name = elf_strptr(elf, names, header.sh_name);
  return name == nullptr ? "" : name;
}

// Calls `see` for each section until it returns false.
void each_section(Elf* elf, const std::function<bool(Elf_Scn*, const GElf_Shdr&)>& see) {
  GElf_Shdr header;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;)
    if (gelf_getshdr(section, &header) != nullptr && !see(section, header)) return;
}

std::string build_id_in(Elf_Data* data) {
  GElf_Nhdr note;
  std::size_t name = 0;
  std::size_t description = 0;
  for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &description)) > 0;) {
    const char* bytes = static_cast<const char*>(data->d_buf);
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4) continue;
    if (std::memcmp(bytes + name, "GNU", 4) != 0) continue;
    std::string hex;
    for (std::size_t k = 0; k < note.n_descsz; ++k) {
      const auto byte = static_cast<unsigned char>(bytes[description + k]);
      hex += "0123456789abcdef"[byte >> 4];
      hex += "0123456789abcdef"[byte & 15];
    }
    return hex;
  }
  return "";
}

std::vector<ElfFunction> functions_in(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
  std::vector<ElfFunction> functions;
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return functions;
  const std::size_t count = std::min(data->d_size / header.sh_entsize, kMostFunctions);
  for (std::size_t k = 0; k < count; ++k) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(k), &symbol) == nullptr) break;
    const int type = GELF_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr || *name == '\0') continue;
    functions.push_back({symbol.st_value, symbol.st_value + symbol.st_size, name});
  }
  return functions;
}

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320u : 0u);
    table[byte] = crc;
  }
  return table;
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  static const bool ready = elf_version(EV_CURRENT) != EV_NONE;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return Error{errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, std::strerror(errno)};
  struct stat found {};
  Elf* elf = nullptr;
  if (ready && ::fstat(fd, &found) == 0 && S_ISREG(found.st_mode))
    elf = elf_begin(fd, ELF_C_READ, nullptr);
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF) {
    if (elf != nullptr) elf_end(elf);
    ::close(fd);
    return Error{ErrorCode::kCorrupt, "is not an ELF file"};
  }
  return ElfFile(fd, elf);
}

ElfFile::ElfFile(ElfFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), elf_(std::exchange(other.elf_, nullptr)) {}

ElfFile& ElfFile::operator=(ElfFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(elf_, other.elf_);
  return *this;
}

ElfFile::~ElfFile() {
  if (elf_ != nullptr) elf_end(elf_);
  if (fd_ >= 0) ::close(fd_);
}

std::string ElfFile::build_id() const {
  std::string found;
  each_section(elf_, [&](Elf_Scn* section, const GElf_Shdr& header) {
    if (header.sh_type != SHT_NOTE) return true;
    if (Elf_Data* data = elf_getdata(section, nullptr)) found = build_id_in(data);
    return found.empty();
  });
  return found;
}

bool ElfFile::has_section(const char* name) const {
  bool found = false;
  each_section(elf_, [&](Elf_Scn*, const GElf_Shdr& header) {
    found = header.sh_type != SHT_NOBITS && section_name(elf_, header) == name;
    return !found;
  });
  return found;
}

std::vector<std::uint8_t> ElfFile::section_bytes(const char* name) const {
  std::vector<std::uint8_t> bytes;
  each_section(elf_, [&](Elf_Scn* section, const GElf_Shdr& header) {
    if (section_name(elf_, header) != name) return true;
    if ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0) return false;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return false;
    const auto* begin = static_cast<const std::uint8_t*>(data->d_buf);
    bytes.assign(begin, begin + data->d_size);
    return false;
  });
  return bytes;
}

// A zero-terminated name, zeros up to a multiple of four, the checksum.
std::optional<DebugLink> ElfFile::debug_link() const {
  std::optional<DebugLink> link;
  each_section(elf_, [&](Elf_Scn* section, const GElf_Shdr& header) {
    if (section_name(elf_, header) != ".gnu_debuglink") return true;
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return false;
    const char* bytes = static_cast<const char*>(data->d_buf);
    const std::size_t length = ::strnlen(bytes, data->d_size);
    const std::size_t crc = (length + 4) / 4 * 4;
    if (crc + 4 > data->d_size) return false;
    link = DebugLink{std::string(bytes, length), 0};
    std::memcpy(&link->crc, bytes + crc, 4);
    return false;
  });
  return link;
}

std::vector<ElfFunction> ElfFile::functions() const {
  std::vector<ElfFunction> functions;
  for (const GElf_Word type : {GElf_Word{SHT_SYMTAB}, GElf_Word{SHT_DYNSYM}}) {
    each_section(elf_, [&](Elf_Scn* section, const GElf_Shdr& header) {
      if (header.sh_type == type) functions = functions_in(elf_, section, header);
      return functions.empty();
    });
    if (!functions.empty()) break;
  }
  std::stable_sort(functions.begin(), functions.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return functions;
}

std::optional<std::uint32_t> file_crc32(const std::string& path) {
  static constexpr auto kTable = make_crc_table();
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::vector<unsigned char> block(1 << 20);
  std::uint32_t crc = ~0u;
  for (ssize_t got = 0; (got = ::read(fd, block.data(), block.size())) > 0;)
    for (ssize_t k = 0; k < got; ++k)
      crc = (crc >> 8) ^ kTable[(crc ^ block[static_cast<std::size_t>(k)]) & 0xff];
  ::close(fd);
  return ~crc;
}

}  // namespace drgpum
