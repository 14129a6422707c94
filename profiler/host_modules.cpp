// SPDX-License-Identifier: Apache-2.0
#include "profiler/host_modules.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include <elf.h>
#include <link.h>
#include <unistd.h>

namespace drgpum::profiler {
namespace {

struct LinkerCounts {
  std::uint64_t loads = 0;
  std::uint64_t unloads = 0;
};

LinkerCounts linker_counts() {
  LinkerCounts counts;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<LinkerCounts*>(out) = {info->dlpi_adds, info->dlpi_subs};
        return 1;  // the first entry has them
      },
      &counts);
  return counts;
}

std::string program_path() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

std::string hex(const unsigned char* bytes, std::size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

// The GNU build id among the notes in mapped memory [at, end), or "".
std::string build_id_in(const unsigned char* at, const unsigned char* end) {
  constexpr auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    at += sizeof note;
    const std::size_t length = padded(note.n_namesz) + padded(note.n_descsz);
    if (length > static_cast<std::size_t>(end - at)) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at, "GNU", 4) == 0) {
      return hex(at + padded(note.n_namesz), note.n_descsz);
    }
    at += length;
  }
  return "";
}

HostModule describe(const dl_phdr_info& info) {
  HostModule module;
  module.path = info.dlpi_name == nullptr || *info.dlpi_name == '\0' ? program_path()
                                                                     : std::string(info.dlpi_name);
  module.load_bias = info.dlpi_addr;
  module.begin = UINT64_MAX;
  for (ElfW(Half) i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    const std::uint64_t begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD) {
      module.begin = std::min(module.begin, begin);
      module.end = std::max(module.end, begin + header.p_memsz);
    } else if (header.p_type == PT_NOTE && module.build_id.empty()) {
      const auto* notes = reinterpret_cast<const unsigned char*>(begin);
      module.build_id = build_id_in(notes, notes + header.p_memsz);
    }
  }
  module.kind = kind_of_file(module.path);
  return module;
}

std::vector<HostModule> mapped_modules() {
  std::vector<HostModule> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        HostModule module = describe(*info);
        const bool is_file = module.path.find('/') != std::string::npos;  // the vdso is none
        if (is_file && module.begin < module.end) {
          static_cast<std::vector<HostModule>*>(out)->push_back(std::move(module));
        }
        return 0;
      },
      &modules);
  return modules;
}

bool same_mapping(const HostModule& a, const HostModule& b) {
  return a.begin == b.begin && a.end == b.end && a.path == b.path && a.build_id == b.build_id;
}

bool contains(const std::vector<HostModule>& modules, const HostModule& module) {
  return std::any_of(modules.begin(), modules.end(),
                     [&](const HostModule& other) { return same_mapping(module, other); });
}

}  // namespace

FrameKind kind_of_file(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const char* cuda : {"libdrgpum.so", "libcuda.so", "libcudart.so", "libsanitizer-public.so",
                           "libcupti.so", "libsanitizer-collection.so"}) {
    if (name.starts_with(cuda)) return FrameKind::kCuda;
  }
  for (const char* libc : {"libc.so", "libpthread.so", "ld-linux"}) {
    if (name.starts_with(libc)) return FrameKind::kLibc;
  }
  return FrameKind::kProgram;
}

ModuleChanges HostModules::refresh() {
  const LinkerCounts counts = linker_counts();
  if (counts.loads == loads_ && counts.unloads == unloads_) return {};
  loads_ = counts.loads;
  unloads_ = counts.unloads;
  ModuleChanges changes;
  std::vector<HostModule> now = mapped_modules();
  std::erase_if(modules_, [&](const HostModule& module) {
    if (contains(now, module)) return false;
    changes.unloaded.push_back(module.id);
    return true;
  });
  for (HostModule& module : now) {
    if (contains(modules_, module)) continue;
    module.id = ModuleId{next_id_++};
    changes.loaded.push_back(module);
  }
  modules_.insert(modules_.end(), changes.loaded.begin(), changes.loaded.end());
  std::sort(modules_.begin(), modules_.end(),
            [](const HostModule& a, const HostModule& b) { return a.begin < b.begin; });
  return changes;
}

const HostModule* HostModules::find(std::uint64_t address) const {
  auto after = std::upper_bound(
      modules_.begin(), modules_.end(), address,
      [](std::uint64_t value, const HostModule& module) { return value < module.begin; });
  if (after == modules_.begin()) return nullptr;
  const HostModule& module = *std::prev(after);
  return address < module.end ? &module : nullptr;
}

FrameKind HostModules::kind_of(std::uint64_t address) const {
  const HostModule* module = find(address);
  return module == nullptr ? FrameKind::kProgram : module->kind;
}

}  // namespace drgpum::profiler
