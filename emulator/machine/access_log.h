// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every access of every lane to global memory, as text: what a tool's account of a run can be
// checked against. Lines in order of execution:
//     launch <number, from 1> <kernel's mangled name>
//     <address, hexadecimal> <bytes> <r, w or rw; a after it for atomics>

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "emulator/exec/access_hook.h"

namespace drgpum::emulator {

class AccessLog {
 public:
  // nullptr when the file cannot be made.
  static std::unique_ptr<AccessLog> open(const std::string& path);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void begin_launch(const char* kernel);
  void write(const exec::WarpAccess& access);
  void flush();

 private:
  explicit AccessLog(std::FILE* file) : file_(file) {}
  std::mutex mutex_;
  std::FILE* file_;
  std::uint64_t launches_ = 0;
};

// One launch's: writes to the log, then tells the tool's hook, if there is one, what it would hear
// without the log.
class LoggingHook final : public exec::AccessHook {
 public:
  LoggingHook(AccessLog& log, exec::AccessHook* next) : log_(log), next_(next) {}
  void on_access(exec::WarpContext& warp, const exec::WarpAccess& access) override;
  void on_block_enter(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask) override;
  void on_block_exit(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask) override;
  void on_device_malloc(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask,
                        const std::uint64_t* pointers, const std::uint64_t* sizes) override;
  void on_device_free(exec::WarpContext& warp, std::uint64_t pc, std::uint32_t mask,
                      const std::uint64_t* pointers) override;
  [[nodiscard]] std::uint32_t wanted_spaces() const override;
  [[nodiscard]] bool wants_blocks() const override;
  [[nodiscard]] bool wants_heap() const override;

 private:
  bool take_path(const exec::WarpAccess& access);

  AccessLog& log_;
  exec::AccessHook* next_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, exec::ShortPath> paths_;  // by code address
};

}  // namespace drgpum::emulator
