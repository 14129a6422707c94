// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/program_image.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace drgpum::profiler {
namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::uint64_t kScriptBytes = 1 << 20;  // looked at

// A file mapped for reading.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat info {};
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
      size_ = static_cast<std::size_t>(info.st_size);
      void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped != MAP_FAILED) data_ = static_cast<const unsigned char*>(mapped);
    }
    close(file);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (data_ != nullptr) munmap(const_cast<unsigned char*>(data_), size_);
  }
  [[nodiscard]] bool is_open() const { return data_ != nullptr; }
  [[nodiscard]] Bytes bytes() const { return {data_, data_ == nullptr ? 0 : size_}; }

 private:
  const unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
};

template <typename T>
std::optional<T> read_at(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Bytes part(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size()) return {};
  return bytes.subspan(offset, std::min<std::uint64_t>(size, bytes.size() - offset));
}

std::string string_at(Bytes strings, std::uint64_t offset) {
  if (offset >= strings.size()) return "";
  const auto* begin = reinterpret_cast<const char*>(strings.data()) + offset;
  return std::string(begin, strnlen(begin, strings.size() - offset));
}

std::vector<Elf64_Shdr> sections_of(Bytes file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) break;
    sections.push_back(*section);
  }
  return sections;
}

void read_dynamic(Bytes file, const std::vector<Elf64_Shdr>& sections, const Elf64_Shdr& dynamic,
                  ProgramImage* image) {
  if (dynamic.sh_link >= sections.size()) return;
  const Elf64_Shdr& names = sections[dynamic.sh_link];
  const Bytes strings = part(file, names.sh_offset, names.sh_size);
  for (std::uint64_t at = 0; at < dynamic.sh_size; at += sizeof(Elf64_Dyn)) {
    const auto entry = read_at<Elf64_Dyn>(file, dynamic.sh_offset + at);
    if (!entry || entry->d_tag == DT_NULL) return;
    if (entry->d_tag == DT_NEEDED) {
      image->needed.push_back(string_at(strings, entry->d_un.d_val));
      note_library(image->needed.back(), &image->hooks);
    }
    if (entry->d_tag == DT_RPATH) image->has_rpath = true;
  }
}

bool names_cuda(std::string_view name) {
  const bool driver = name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z';
  return driver || name.starts_with("cuda") || name.starts_with("__cuda");
}

void read_symbols(Bytes file, const std::vector<Elf64_Shdr>& sections, const Elf64_Shdr& symbols,
                  ProgramImage* image) {
  if (symbols.sh_link >= sections.size()) return;
  const Elf64_Shdr& names = sections[symbols.sh_link];
  const Bytes strings = part(file, names.sh_offset, names.sh_size);
  for (std::uint64_t at = 0; at < symbols.sh_size; at += sizeof(Elf64_Sym)) {
    const auto symbol = read_at<Elf64_Sym>(file, symbols.sh_offset + at);
    if (!symbol) return;
    std::string name = string_at(strings, symbol->st_name);
    note_symbol(name, &image->hooks);
    if (!names_cuda(name)) continue;
    const bool is_import = symbol->st_shndx == SHN_UNDEF;
    (is_import ? image->cuda_imports : image->cuda_exports).push_back(std::move(name));
  }
}

// The containers that nvcc puts into .nv_fatbin: a header, then images, each with a header that
// gives its kind, its size and its architecture. As bin utilities show them; see emulator notes.
struct FatbinHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes;  // of the images
};
struct ImageHeader {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
  std::uint32_t compressed_bytes;
  std::uint32_t options_offset;
  std::uint16_t minor, major;
  std::uint32_t architecture;
};
constexpr std::uint32_t kFatbinMagic = 0xba55ed50;
constexpr std::uint16_t kPtxKind = 1;
constexpr std::uint16_t kMachineCodeKind = 2;

void note_once(std::vector<std::uint32_t>* list, std::uint32_t value) {
  const auto at = std::lower_bound(list->begin(), list->end(), value);
  if (at == list->end() || *at != value) list->insert(at, value);
}

void read_images(Bytes images, ProgramImage* image) {
  std::uint64_t at = 0;
  while (const auto header = read_at<ImageHeader>(images, at)) {
    if (header->kind == kPtxKind) {
      ++image->ptx_images;
      note_once(&image->ptx_architectures, header->architecture);
    } else if (header->kind == kMachineCodeKind) {
      ++image->machine_code_images;
      note_once(&image->machine_code_architectures, header->architecture);
    }
    const std::uint64_t step = header->header_bytes + header->bytes;
    if (step == 0 || step < header->bytes) return;
    at += step;
  }
}

void read_fatbins(Bytes section, ProgramImage* image) {
  constexpr std::uint64_t kAlignment = 8;
  for (std::uint64_t at = 0; at + sizeof(FatbinHeader) <= section.size();) {
    const auto header = read_at<FatbinHeader>(section, at);
    if (!header || header->magic != kFatbinMagic) {
      at += kAlignment;
      continue;
    }
    read_images(part(section, at + header->header_bytes, header->bytes), image);
    const std::uint64_t next = at + header->header_bytes + header->bytes;
    if (next <= at) return;
    at = (next + kAlignment - 1) / kAlignment * kAlignment;
  }
}

void read_section(Bytes file, const std::vector<Elf64_Shdr>& sections, const Elf64_Shdr& section,
                  const std::string& name, ProgramImage* image) {
  if (section.sh_type == SHT_DYNAMIC) return read_dynamic(file, sections, section, image);
  if (section.sh_type == SHT_DYNSYM) return read_symbols(file, sections, section, image);
  if (name.starts_with(".rodata")) note_texts(part(file, section.sh_offset, section.sh_size), &image->hooks);
  if (name == ".nv_fatbin" || name == "__nv_relfatbin") {
    image->has_device_code = true;
    read_fatbins(part(file, section.sh_offset, section.sh_size), image);
  }
}

}  // namespace

std::string ProgramImage::shared_runtime() const {
  const auto found = std::find_if(needed.begin(), needed.end(), [](const std::string& library) {
    return library.starts_with("libcudart.so");
  });
  return found == needed.end() ? "" : *found;
}

bool ProgramImage::has_static_runtime() const {
  return has_device_code && shared_runtime().empty();
}

bool ProgramImage::insists_on_order() const {
  return std::any_of(needed.begin(), needed.end(), [](const std::string& library) {
    return library.starts_with("libasan.so") || library.starts_with("libtsan.so") ||
           library.starts_with("libclang_rt.asan");
  });
}

Result<ProgramImage> read_program_image(const std::string& path) {
  const MappedFile mapped(path);
  if (!mapped.is_open()) return Error{ErrorCode::kIo, "cannot read '" + path + "'"};
  const Bytes file = mapped.bytes();
  ProgramImage image;
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    const Bytes begin = part(file, 0, kScriptBytes);
    note_imports({reinterpret_cast<const char*>(begin.data()), begin.size()}, &image.hooks);
    return image;
  }
  image.is_elf = true;
  image.is_64_bit_x86 = header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64;
  if (!image.is_64_bit_x86) return image;
  const std::vector<Elf64_Shdr> sections = sections_of(file, *header);
  if (header->e_shstrndx >= sections.size()) return image;
  const Elf64_Shdr& names = sections[header->e_shstrndx];
  const Bytes strings = part(file, names.sh_offset, names.sh_size);
  for (const Elf64_Shdr& section : sections) {
    read_section(file, sections, section, string_at(strings, section.sh_name), &image);
  }
  return image;
}

}  // namespace drgpum::profiler
