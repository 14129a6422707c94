// SPDX-License-Identifier: Apache-2.0
#include "emulator/machine/access_log.h"

#include <bit>
#include <cinttypes>

namespace drgpum::emulator {
namespace {

constexpr std::uint32_t kGlobalSpace = 1u << static_cast<unsigned>(ptx::Space::kGlobal);

const char* word_of(std::uint32_t flags) {
  const bool atomic = (flags & exec::kAtomic) != 0;
  const std::uint32_t both = flags & (exec::kRead | exec::kWrite);
  if (both == exec::kRead) return atomic ? "ra" : "r";
  if (both == exec::kWrite) return atomic ? "wa" : "w";
  return atomic ? "rwa" : "rw";
}

template <typename Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1)
    visit(static_cast<unsigned>(std::countr_zero(mask)));
}

}  // namespace

std::unique_ptr<AccessLog> AccessLog::open(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  return file == nullptr ? nullptr : std::unique_ptr<AccessLog>(new AccessLog(file));
}

AccessLog::~AccessLog() {
  std::fclose(file_);
}

void AccessLog::begin_launch(const char* kernel) {
  const std::lock_guard lock(mutex_);
  std::fprintf(file_, "launch %" PRIu64 " %s\n", ++launches_, kernel);
}

void AccessLog::write(const exec::WarpAccess& access) {
  if ((access.flags & (exec::kRead | exec::kWrite)) == 0) return;  // a prefetch
  const char* word = word_of(access.flags);
  const std::lock_guard lock(mutex_);
  for_each_lane(access.mask, [&](unsigned lane) {
    std::fprintf(file_, "%" PRIx64 " %u %s\n", access.addresses[lane], access.size, word);
  });
}

void AccessLog::flush() {
  const std::lock_guard lock(mutex_);
  std::fflush(file_);
}

// As the executor would.
bool LoggingHook::take_path(const exec::WarpAccess& access) {
  const std::lock_guard lock(mutex_);
  const auto known = paths_.find(access.pc);
  if (known == paths_.end()) return false;
  const exec::ShortPath& path = known->second;
  bool inside = true;
  for_each_lane(access.mask, [&](unsigned lane) {
    inside = inside && path.range.holds(access.addresses[lane], access.size);
  });
  if (!inside) return false;
  const exec::ShortPath::Row row =
      access.pattern == exec::AccessPattern::kContiguous ? path.contiguous : path.uniform;
  if (access.pattern == exec::AccessPattern::kScattered) {
    if (path.scattered != nullptr) path.scattered(path, access.mask, access.addresses);
  } else if (row != nullptr) {
    row(path, access.addresses[0]);
  }
  return true;
}

void LoggingHook::on_access(exec::WarpContext& warp, const exec::WarpAccess& access) {
  if (access.space == ptx::Space::kGlobal) log_.write(access);
  const bool wanted = next_ != nullptr &&
                      ((next_->wanted_spaces() >> static_cast<unsigned>(access.space)) & 1) != 0;
  if (!wanted || take_path(access)) return;
  exec::ShortPath path;
  exec::WarpAccess told = access;
  told.short_path = access.short_path == nullptr ? nullptr : &path;
  next_->on_access(warp, told);
  if (path.range.end == 0) return;
  const std::lock_guard lock(mutex_);
  paths_[access.pc] = path;
}

void LoggingHook::on_block_enter(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask) {
  if (next_ != nullptr) next_->on_block_enter(warp, pc, mask);
}

void LoggingHook::on_block_exit(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask) {
  if (next_ != nullptr) next_->on_block_exit(warp, pc, mask);
}

void LoggingHook::on_device_malloc(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask,
                                   const std::uint64_t* pointers, const std::uint64_t* sizes) {
  if (next_ != nullptr) next_->on_device_malloc(warp, pc, mask, pointers, sizes);
}

void LoggingHook::on_device_free(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask,
                                 const std::uint64_t* pointers) {
  if (next_ != nullptr) next_->on_device_free(warp, pc, mask, pointers);
}

std::uint32_t LoggingHook::wanted_spaces() const {
  return kGlobalSpace | (next_ == nullptr ? 0 : next_->wanted_spaces());
}

bool LoggingHook::wants_blocks() const {
  return next_ != nullptr && next_->wants_blocks();
}

bool LoggingHook::wants_heap() const {
  return next_ != nullptr && next_->wants_heap();
}

}  // namespace drgpum::emulator
