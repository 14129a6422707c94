// SPDX-License-Identifier: Apache-2.0
#include "offline/cli/opened_trace.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "offline/bundle/bundle_file.h"

namespace drgpum {
namespace {

constexpr std::uint64_t kKeptFree = 64 << 20;  // of the disk

}  // namespace

OpenedTraces::~OpenedTraces() {
  std::error_code error;
  for (const std::string& folder : folders_)
    std::filesystem::remove_all(folder, error);
}

Result<OpenedTrace> OpenedTraces::open(const std::string& path) {
  if (!bundle::is_bundle(path)) return OpenedTrace{path, ""};
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  std::string folder = (error ? std::filesystem::path("/tmp") : temporary) / "drgpum-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr)
    return Error{ErrorCode::kIo, "unpacking " + path + " to " + folder + ": " + std::strerror(errno)};
  folders_.push_back(folder);
  const auto space = std::filesystem::space(folder, error);
  const std::uint64_t room = error || space.available < kKeptFree ? 0 : space.available - kKeptFree;
  ASSIGN_OR_RETURN(const bundle::Unpacked unpacked, bundle::unpack(path, folder, room));
  for (const auto& [name, file] : unpacked.sources)
    sources_.try_emplace(name, file);
  return OpenedTrace{unpacked.trace, folder};
}

}  // namespace drgpum
