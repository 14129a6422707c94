// SPDX-License-Identifier: Apache-2.0
#include "profiler/python_frames.h"

#include <algorithm>
#include <string>
#include <utility>

#include <dlfcn.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

namespace drgpum::profiler {
namespace {

constexpr std::size_t kMostFrames = 192;
constexpr std::int64_t kLongestText = 4096;
constexpr std::uint64_t kFirstNumber = std::uint64_t{1} << 48;  // above all addresses of programs

// Of the symbol that holds the address.
std::uint64_t size_of_symbol(const void* address) {
  Dl_info info{};
  ElfW(Sym)* symbol = nullptr;
  const bool found =
      dladdr1(address, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) != 0;
  return found && symbol != nullptr && info.dli_saddr == address ? symbol->st_size : 0;
}

// The loaded module that holds an address.
struct Bounds {
  std::uint64_t inside = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

int take_bounds(dl_phdr_info* info, std::size_t, void* out) {
  auto* bounds = static_cast<Bounds*>(out);
  std::uint64_t begin = UINT64_MAX;
  std::uint64_t end = 0;
  for (ElfW(Half) k = 0; k < info->dlpi_phnum; ++k) {
    const ElfW(Phdr)& header = info->dlpi_phdr[k];
    if (header.p_type != PT_LOAD) continue;
    begin = std::min<std::uint64_t>(begin, info->dlpi_addr + header.p_vaddr);
    end = std::max<std::uint64_t>(end, info->dlpi_addr + header.p_vaddr + header.p_memsz);
  }
  if (bounds->inside < begin || bounds->inside >= end) return 0;
  bounds->begin = begin;
  bounds->end = end;
  return 1;
}

// The object at `from`, or false where no memory is mapped.
template <typename T>
bool read_with_care(const T* from, T* to) {
  iovec here{to, sizeof *to};
  iovec there{const_cast<T*>(from), sizeof *from};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) ==
         static_cast<ssize_t>(sizeof *from);
}

void append_utf8(std::string& text, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 63));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 63));
    put(0x80 | (c & 63));
  } else {
    put(0xf0 | (c >> 18 & 7));
    put(0x80 | (c >> 12 & 63));
    put(0x80 | (c >> 6 & 63));
    put(0x80 | (c & 63));
  }
}

std::string utf8_of(const python::Text* text) {
  if (text == nullptr) return "";
  const std::uint32_t width = text->state >> 2 & 7;
  const bool compact = (text->state >> 5 & 1) != 0;
  const bool ascii = (text->state >> 6 & 1) != 0;
  if (!compact || (width != 1 && width != 2 && width != 4)) return "";
  const auto* data = reinterpret_cast<const unsigned char*>(text + 1) + (ascii ? 0 : 24);
  std::string result;
  for (std::int64_t k = 0; k < std::min(text->length, kLongestText); ++k) {
    std::uint32_t c = 0;
    for (std::uint32_t byte = width; byte-- > 0;)
      c = c << 8 | data[static_cast<std::uint32_t>(k) * width + byte];
    append_utf8(result, c);
  }
  return result;
}

// A cursor over a table of locations.
class LineTable {
 public:
  explicit LineTable(std::span<const unsigned char> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool at_end() const { return at_ >= bytes_.size(); }
  unsigned byte() { return at_end() ? 0 : bytes_[at_++]; }
  // Six bits a byte, least first; bit 6 says that more follow.
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 6) {
      const unsigned one = byte();
      value |= std::uint64_t{one & 63} << shift;
      if ((one & 64) == 0) break;
    }
    return value;
  }
  std::int64_t signed_number() {  // the sign in the lowest bit
    const std::uint64_t value = number();
    const auto size = static_cast<std::int64_t>(value >> 1);
    return (value & 1) != 0 ? -size : size;
  }

 private:
  std::span<const unsigned char> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::uint32_t python_line(std::span<const unsigned char> table, std::int64_t first_line,
                          std::int64_t instruction) {
  constexpr unsigned kOneLine = 10;  // to 12: so many lines on
  constexpr unsigned kNoColumns = 13;
  constexpr unsigned kLong = 14;
  constexpr unsigned kNone = 15;
  LineTable entries(table);
  std::int64_t line = first_line;
  for (std::int64_t end = 0; !entries.at_end();) {
    const unsigned head = entries.byte();
    const unsigned kind = head >> 3 & 15;
    end += (head & 7) + 1;
    if (kind < kOneLine) {
      entries.byte();
    } else if (kind < kNoColumns) {
      line += kind - kOneLine;
      entries.byte();
      entries.byte();
    } else if (kind < kNone) {
      line += entries.signed_number();
      for (int skipped = 0; kind == kLong && skipped < 3; ++skipped)
        entries.number();
    }
    if (instruction < end) return kind == kNone || line < 0 ? 0 : static_cast<std::uint32_t>(line);
  }
  return 0;
}

PythonInterpreter find_python() {
  PythonInterpreter found;
  const auto* version = static_cast<const unsigned long*>(dlsym(RTLD_DEFAULT, "Py_Version"));
  if (version == nullptr || *version >> 16 != python::kVersion) return found;
  found.code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
  void* this_thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
  if (found.code_type == nullptr || this_thread == nullptr) return found;
  const void* loop = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
  if (loop != nullptr) {
    found.loop_begin = reinterpret_cast<std::uint64_t>(loop);
    found.loop_end = found.loop_begin + size_of_symbol(loop);
  }
  Bounds bounds{reinterpret_cast<std::uint64_t>(this_thread)};
  dl_iterate_phdr(take_bounds, &bounds);
  found.begin = bounds.begin;
  found.end = bounds.end;
  found.this_thread = reinterpret_cast<const python::Thread* (*)()>(this_thread);
  return found;
}

std::size_t PythonFrames::Hash::operator()(const Key& key) const noexcept {
  std::uint64_t hash = reinterpret_cast<std::uint64_t>(key.frame.code);
  hash = (hash ^ static_cast<std::uint64_t>(key.frame.instruction)) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 32;
}

// Frames of this thread change only while it runs Python code, which it does not now. The first
// stack is read with care: if it is not as expected, no other is read.
bool PythonFrames::read_stack() {
  stack_.clear();
  if (python_.this_thread == nullptr) return false;
  const python::Thread* thread = python_.this_thread();
  if (thread == nullptr) return false;
  const auto read = [this](const auto* from, auto* to) {
    if (!proven_) return read_with_care(from, to);
    *to = *from;
    return true;
  };
  python::Thread state;
  python::Calls calls;
  bool good = read(thread, &state) && state.calls != nullptr && read(state.calls, &calls);
  python::Frame frame;
  for (const python::Frame* at = good ? calls.current : nullptr;
       at != nullptr && stack_.size() < kMostFrames; at = frame.previous) {
    python::Object code;
    good = read(at, &frame) && read(static_cast<const python::Object*>(frame.code), &code) &&
           code.type == python_.code_type;
    if (!good) break;
    stack_.push_back({frame.code, frame.last_instruction - frame.code->instructions, frame.is_entry});
  }
  if (!good) {
    python_.this_thread = nullptr;
    return false;
  }
  proven_ = proven_ || !stack_.empty();
  return !stack_.empty();
}

std::uint64_t PythonFrames::number(const Frame& frame) {
  const python::Code& code = *frame.code;
  const Key key{frame, code.file, code.qualified_name, code.line_table, code.first_line};
  const auto [known, is_new] = numbers_.try_emplace(key, kFirstNumber + numbers_.size());
  if (is_new) {
    const python::Bytes& table = *code.line_table;
    const std::span lines(table.data, static_cast<std::size_t>(table.size));
    new_.push_back({known->second, utf8_of(code.qualified_name), utf8_of(code.file),
                    python_line(lines, code.first_line, frame.instruction)});
  }
  return known->second;
}

std::span<const std::uint64_t> PythonFrames::merged(std::span<const std::uint64_t> native) {
  if (!read_stack()) return native;
  merged_.clear();
  auto next = stack_.begin();
  const bool know_loop = python_.loop_begin < python_.loop_end;
  const auto take_call = [&] {  // up to where C called the interpreter
    for (bool more = true; more && next != stack_.end(); ++next) {
      more = !know_loop || !next->is_entry;
      if (next->instruction >= 0) merged_.push_back(number(*next));
    }
  };
  for (const std::uint64_t frame : native) {
    const std::uint64_t inside = frame - 1;  // in the call, not behind it
    if (inside < python_.begin || inside >= python_.end)
      merged_.push_back(frame);
    else if (!know_loop || (inside >= python_.loop_begin && inside < python_.loop_end))
      take_call();
  }
  while (next != stack_.end())  // the native path was cut
    take_call();
  return merged_;
}

std::vector<trace::SourceFrameRecord> PythonFrames::take_new() {
  return std::exchange(new_, {});
}

}  // namespace drgpum::profiler
