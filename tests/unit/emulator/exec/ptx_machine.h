// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small device for tests: PTX text in, memory of vectors, launches, what came of them.

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/exec/executor.h"
#include "emulator/memory/address_space.h"

namespace drgpum::emulator::exec::testing {

// Allocations from 0x7000'0000'0000 upward, 4 KiB apart.
class TestMemory final : public AddressSpace {
 public:
  std::uint64_t allocate(std::uint64_t bytes, bool read_only = false);
  void free(std::uint64_t address);
  [[nodiscard]] std::byte* host(std::uint64_t address);

  [[nodiscard]] const Allocation* find(std::uint64_t address) const noexcept override;
  [[nodiscard]] const Allocation* nearest(std::uint64_t address) const noexcept override;

 private:
  struct Block {
    Allocation allocation;
    std::unique_ptr<std::byte[]> bytes;
    bool live = true;
  };
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t next_ = 0x7000'0000'0000;
};

class Machine {
 public:
  // Text without .version, .target and .address_size gets them. Failures end the test program.
  explicit Machine(std::string_view ptx);

  template <typename T>
  std::uint64_t upload(const std::vector<T>& values) {
    const std::uint64_t address = memory.allocate(values.size() * sizeof(T));
    std::memcpy(memory.host(address), values.data(), values.size() * sizeof(T));
    return address;
  }
  template <typename T>
  std::vector<T> download(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), memory.host(address), count * sizeof(T));
    return values;
  }
  // Arguments are packed at their natural alignment.
  template <typename... T>
  LaunchResult run(std::string_view kernel, Dim3 grid, Dim3 block, T... arguments) {
    std::vector<std::byte> packed;
    (append(packed, arguments), ...);
    return launch_packed(kernel, grid, block, packed);
  }
  LaunchResult launch_packed(std::string_view kernel, Dim3 grid, Dim3 block,
                             const std::vector<std::byte>& parameters);

  TestMemory memory;
  LaunchConfig config;  // what run() does not set: shared memory, workers, hook, seed ...
  std::string printed;
  std::unique_ptr<Executable> executable;
  std::vector<std::uint64_t> variables;  // addresses of the program's variables

 private:
  template <typename T>
  static void append(std::vector<std::byte>& packed, const T& value) {
    packed.resize((packed.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T) + sizeof(T));
    std::memcpy(packed.data() + packed.size() - sizeof(T), &value, sizeof(T));
  }
};

}  // namespace drgpum::emulator::exec::testing
