// SPDX-License-Identifier: Apache-2.0
// The containers that carry device code inside a host program.

#include "emulator/ptx/fatbin.h"

#include <algorithm>
#include <cstring>

#include "emulator/ptx/decompress.h"

namespace drgpum::emulator::ptx {
namespace {

constexpr std::uint32_t kContainerMagic = 0xBA55ED50;
constexpr std::uint32_t kWrapperMagic = 0x466243B1;
constexpr std::uint64_t kContainerHeader = 16;  // bytes
constexpr std::uint64_t kEntryHeader = 64;      // bytes; options and names may follow
constexpr std::uint64_t kFlagLz4 = 0x2000;
constexpr std::uint64_t kFlagZstd = 0x8000;
constexpr std::size_t kMostUnits = 1 << 16;  // of one wrapper

struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* container;
  const void* const* units;  // version 2; the name of a file in version 1
};

template <typename T>
T load(std::span<const std::byte> bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Error corrupt(std::uint64_t offset, const std::string& what) {
  return {ErrorCode::kCorrupt, "fatbin, byte " + std::to_string(offset) + ": " + what};
}

// Reads entries of one container; every offset counts from the start of the whole input.
class ContainerReader {
 public:
  ContainerReader(std::span<const std::byte> bytes, std::vector<FatbinEntry>& entries)
      : bytes_(bytes), entries_(entries) {}

  // Returns where the container at `begin` ends.
  Result<std::uint64_t> read(std::uint64_t begin) {
    if (bytes_.size() - begin < kContainerHeader) return corrupt(begin, "container header cut off");
    if (load<std::uint32_t>(bytes_, begin) != kContainerMagic) {
      return corrupt(begin, "no container starts here");
    }
    const auto version = load<std::uint16_t>(bytes_, begin + 4);
    const auto header = load<std::uint16_t>(bytes_, begin + 6);
    const auto size = load<std::uint64_t>(bytes_, begin + 8);
    if (version != 1) return corrupt(begin + 4, "container version " + std::to_string(version));
    if (header < kContainerHeader || header > bytes_.size() - begin) {
      return corrupt(begin + 6, "container header of " + std::to_string(header) + " bytes");
    }
    if (size > bytes_.size() - begin - header) {
      return corrupt(begin + 8, "container of " + std::to_string(size) + " bytes is cut off");
    }
    const std::uint64_t end = begin + header + size;
    for (std::uint64_t at = begin + header; at < end;) {
      ASSIGN_OR_RETURN(at, read_entry(at, end));
    }
    return end;
  }

 private:
  Result<std::uint64_t> read_entry(std::uint64_t begin, std::uint64_t end) {
    if (end - begin < kEntryHeader) return corrupt(begin, "entry header cut off");
    const auto header = load<std::uint32_t>(bytes_, begin + 4);
    const auto padded = load<std::uint64_t>(bytes_, begin + 8);
    if (header < kEntryHeader || header > end - begin) {
      return corrupt(begin + 4, "entry header of " + std::to_string(header) + " bytes");
    }
    if (padded > end - begin - header) {
      return corrupt(begin + 8, "payload of " + std::to_string(padded) + " bytes is cut off");
    }
    FatbinEntry entry;
    RETURN_IF_ERROR(read_facts(begin, header, entry));
    RETURN_IF_ERROR(read_payload(begin, begin + header, padded, entry));
    entries_.push_back(std::move(entry));
    return begin + header + padded;
  }

  Status read_facts(std::uint64_t begin, std::uint32_t header, FatbinEntry& entry) {
    const auto kind = load<std::uint16_t>(bytes_, begin);
    if (kind == 1) entry.kind = FatbinKind::kPtx;
    if (kind == 2) entry.kind = FatbinKind::kElf;
    entry.isa_minor = load<std::uint16_t>(bytes_, begin + 24);
    entry.isa_major = load<std::uint16_t>(bytes_, begin + 26);
    entry.arch = load<std::uint32_t>(bytes_, begin + 28);
    const auto name = load<std::uint32_t>(bytes_, begin + 32);
    const auto length = load<std::uint32_t>(bytes_, begin + 36);
    if (name > header || length > header - name) return corrupt(begin + 32, "name out of range");
    entry.name.assign(reinterpret_cast<const char*>(bytes_.data() + begin + name), length);
    return Ok{};
  }

  Status read_payload(std::uint64_t entry_begin, std::uint64_t begin, std::uint64_t padded,
                      FatbinEntry& entry) {
    const std::uint64_t compressed = load<std::uint32_t>(bytes_, entry_begin + 16);
    const auto flags = load<std::uint64_t>(bytes_, entry_begin + 40);
    const auto size = load<std::uint64_t>(bytes_, entry_begin + 56);
    const Compression compression = (flags & kFlagZstd) != 0  ? Compression::kZstd
                                    : (flags & kFlagLz4) != 0 ? Compression::kLz4
                                                              : Compression::kNone;
    if (compressed > padded) return corrupt(entry_begin + 16, "compressed size beyond the payload");
    const std::uint64_t used = compression == Compression::kNone ? padded : compressed;
    auto payload = decompress(compression, bytes_.subspan(begin, used), size);
    if (!payload) return corrupt(begin, payload.error().message);
    entry.payload = *std::move(payload);
    const std::string_view text = entry.text();
    if (entry.kind == FatbinKind::kPtx) {
      entry.payload.resize(std::min(text.find('\0'), text.size()));
      entry.variant = variant_of(entry.text());
    }
    return Ok{};
  }

  // The header does not tell compute_90 from compute_90a; the text's .target does.
  static char variant_of(std::string_view text) {
    const std::size_t target = text.find("\n.target sm_");
    if (target == std::string_view::npos) return '\0';
    const std::size_t end = text.find_first_not_of("0123456789", target + 12);
    const char letter = end == std::string_view::npos ? '\0' : text[end];
    return letter == 'a' || letter == 'f' ? letter : '\0';
  }

  std::span<const std::byte> bytes_;
  std::vector<FatbinEntry>& entries_;
};

std::string list_of(std::span<const FatbinEntry> entries) {
  std::string text;
  for (const FatbinEntry& entry : entries) {
    if (!text.empty()) text += ", ";
    text += entry.kind == FatbinKind::kPtx ? "compute_" : "sm_";
    text += std::to_string(entry.arch);
    if (entry.variant != '\0') text += entry.variant;
  }
  return text.empty() ? "nothing" : text;
}

// libcudadevrt was compiled from one file, whose name is in its symbols.
bool is_device_runtime(std::span<const FatbinEntry> unit) {
  return std::any_of(unit.begin(), unit.end(), [](const FatbinEntry& entry) {
    return entry.kind == FatbinKind::kPtx &&
           entry.text().find("_cuda_device_runtime_cu_") != std::string_view::npos;
  });
}

bool runs_on(const FatbinEntry& entry, std::uint32_t capability) {
  if (entry.kind != FatbinKind::kPtx) return false;
  if (entry.variant == 'a') return entry.arch == capability;
  return entry.arch <= capability && (entry.variant != 'f' || entry.arch / 10 == capability / 10);
}

}  // namespace

Result<std::vector<FatbinEntry>> read_fatbin(std::span<const std::byte> bytes) {
  std::vector<FatbinEntry> entries;
  ContainerReader reader(bytes, entries);
  if (bytes.empty()) return corrupt(0, "empty");
  for (std::uint64_t at = 0; at < bytes.size();) {
    ASSIGN_OR_RETURN(at, reader.read(at));
    while (at < bytes.size() && bytes[at] == std::byte{0})
      ++at;  // padding between containers
  }
  return entries;
}

std::size_t fatbin_size(const void* container) {
  if (container == nullptr) return 0;
  const std::span header(static_cast<const std::byte*>(container), kContainerHeader);
  if (load<std::uint32_t>(header, 0) != kContainerMagic) return 0;
  return load<std::uint16_t>(header, 6) + load<std::uint64_t>(header, 8);
}

Result<std::vector<std::vector<FatbinEntry>>> read_fatbin_wrapper(const void* wrapper) {
  Wrapper fields;
  if (wrapper == nullptr) return Error{ErrorCode::kInvalidArgument, "no fatbin wrapper"};
  std::memcpy(&fields, wrapper, sizeof fields);
  if (fields.magic != kWrapperMagic || (fields.version != 1 && fields.version != 2)) {
    return Error{ErrorCode::kCorrupt, "fatbin wrapper of an unknown kind"};
  }
  std::vector<std::vector<FatbinEntry>> units;
  const auto add = [&units](const void* container) -> Status {
    const std::span bytes(static_cast<const std::byte*>(container), fatbin_size(container));
    ASSIGN_OR_RETURN(std::vector<FatbinEntry> entries, read_fatbin(bytes));
    if (is_device_runtime(entries)) return Ok{};
    units.push_back(std::move(entries));
    return Ok{};
  };
  if (fields.version == 1) {
    RETURN_IF_ERROR(add(fields.container));
    return units;
  }
  for (std::size_t i = 0; fields.units != nullptr && fields.units[i] != nullptr; ++i) {
    if (i == kMostUnits) return Error{ErrorCode::kCorrupt, "fatbin wrapper without an end"};
    RETURN_IF_ERROR(add(fields.units[i]));
  }
  return units;
}

Result<const FatbinEntry*> pick_ptx(std::span<const FatbinEntry> entries,
                                    std::uint32_t capability) {
  const FatbinEntry* best = nullptr;
  for (const FatbinEntry& entry : entries) {
    if (!runs_on(entry, capability)) continue;
    if (best == nullptr || entry.arch > best->arch) best = &entry;
  }
  if (best != nullptr) return best;
  return Error{ErrorCode::kNotFound,
               "no PTX that a device of compute capability " + std::to_string(capability / 10) +
                   '.' + std::to_string(capability % 10) + " could run; the image holds " +
                   list_of(entries) + "; build with -gencode arch=compute_75,code=compute_75"};
}

}  // namespace drgpum::emulator::ptx
