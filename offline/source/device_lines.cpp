// SPDX-License-Identifier: Apache-2.0
#include "offline/source/device_lines.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string_view>

#include <sys/stat.h>

namespace drgpum {
namespace {

constexpr off_t kLargestImage = 1 << 30;

bool is_file(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

// The trace says it, and a trace may say anything: only files below its own folder.
bool stays_inside(std::string_view relative) {
  return !relative.starts_with('/') && relative.find("..") == std::string_view::npos;
}

bool is_hex(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0;
  });
}

Result<std::vector<std::uint8_t>> bytes_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || found.st_size > kLargestImage)
    return Error{ErrorCode::kIo, "has more than 1 GiB"};
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(found.st_size));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) return Error{ErrorCode::kIo, "cannot be read"};
  return bytes;
}

}  // namespace

std::string find_image(const trace::CubinRecord& cubin, const std::string& trace_path,
                       const std::vector<std::string>& symbol_paths) {
  const std::size_t slash = trace_path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : trace_path.substr(0, slash + 1);
  if (!cubin.saved_as.empty() && stays_inside(cubin.saved_as) && is_file(folder + cubin.saved_as))
    return folder + cubin.saved_as;
  if (!is_hex(cubin.hash)) return "";
  // The trace may have been renamed, with its folder or without.
  std::vector<std::string> candidates{trace_path + ".modules/" + cubin.hash};
  for (const std::string& directory : symbol_paths)
    for (const char* ending : {"", ".cubin", ".ptx"})
      candidates.push_back(directory + "/" + cubin.hash + ending);
  const auto found = std::find_if(candidates.begin(), candidates.end(), is_file);
  return found == candidates.end() ? "" : *found;
}

std::vector<AddressFrame> DeviceLines::at(KernelId kernel, std::uint64_t offset) {
  const trace::KernelRecord* function = trace_.kernels().find(kernel);
  if (function == nullptr) return {};
  Image& image = image_of(function->cubin);
  ++image.note.asked;
  std::vector<AddressFrame> frames;
  if (const auto* cubin = std::get_if<CubinLines>(&image.lines))
    frames = cubin->at(function->name, offset);
  if (const auto* ptx = std::get_if<PtxLines>(&image.lines))
    frames = ptx->at(offset);
  if (!frames.empty()) ++image.note.found;
  return frames;
}

DeviceLines::Image& DeviceLines::image_of(CubinId id) {
  const auto [known, added] = images_.try_emplace(id.value);
  Image& image = known->second;
  if (!added) return image;
  const trace::CubinRecord* cubin = trace_.cubins().find(id);
  image.note.name = cubin == nullptr || cubin->hash.empty() ? "device module " + std::to_string(id.value)
                                                            : cubin->hash;
  if (cubin != nullptr) read(*cubin, image);
  return image;
}

void DeviceLines::read(const trace::CubinRecord& cubin, Image& image) {
  ImageNote& note = image.note;
  note.path = find_image(cubin, trace_.path(), symbol_paths_);
  if (note.path.empty()) {
    note.problem = cubin.saved_as.empty()
                       ? "its code was not saved with the trace"
                       : "its code is not at " + cubin.saved_as + " beside the trace; give the "
                         "folder that holds it with --symbol-path";
    return;
  }
  const auto bytes = bytes_of(note.path);
  if (!bytes) return void(note.problem = bytes.error().message);
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (text.starts_with("\x7f" "ELF")) {
    auto lines = CubinLines::parse(*bytes);
    if (!lines) return void(note.problem = lines.error().message);
    image.lines = *std::move(lines);
  } else {
    auto lines = PtxLines::parse(text);
    if (!lines) return void(note.problem = lines.error().message);
    image.lines = *std::move(lines);
  }
}

std::vector<ImageNote> DeviceLines::notes() const {
  std::vector<ImageNote> notes;
  for (const auto& [id, image] : images_)
    notes.push_back(image.note);
  return notes;
}

}  // namespace drgpum
