// SPDX-License-Identifier: Apache-2.0
// Where a warp is, in words: for faults.

#include <bit>
#include <cstdlib>
#include <memory>
#include <string>

#include <cxxabi.h>

#include <fmt/format.h>

#include "emulator/exec/block.h"
#include "emulator/ptx/printer.h"

namespace drgpum::emulator::exec {
namespace {

std::string place_text(const Dim3& d) {
  return fmt::format("({},{},{})", d.x, d.y, d.z);
}

const std::string& kernel_name(const WarpContext& warp) {
  const KernelImage& image = *warp.worker->launch->image;
  return image.executable().program().functions[image.entry()].name;
}

// As the source writes it, where the name is one of C++.
std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return name.starts_with("_Z") && text != nullptr ? text.get() : name;
}

// " in file.cu:12", where .loc says so.
std::string source_line(const WarpContext& warp, const Op* op) {
  const ptx::Function& function = *warp.frame->function->source;
  if (op->instruction >= function.instructions.size()) return "";
  const std::uint32_t number = function.instructions[op->instruction].location;
  if (number == 0 || number >= function.locations.size()) return "";
  const ptx::SourceLocation& location = function.locations[number];
  const auto& files = warp.frame->function->image->executable().program().files;
  if (location.file >= files.size()) return "";
  return fmt::format(" in {}:{}", files[location.file], location.line);
}

}  // namespace

std::uint64_t pc_of(const WarpContext& warp, const Op* op) {
  return warp.frame->function->code_base + 16 * std::uint64_t{op->instruction};
}

Dim3 thread_of(const WarpContext& warp, std::uint32_t lane) {
  const WarpGeometry& geometry = warp.worker->launch->geometry[warp.index];
  return {geometry.thread[0][lane], geometry.thread[1][lane], geometry.thread[2][lane]};
}

std::string describe_place(const WarpContext& warp, const Op* op, std::uint32_t lane) {
  const std::string& function = warp.frame->function->source->name;
  const std::string within =
      function == kernel_name(warp) ? "" : demangled(function) + " called by ";
  return fmt::format("{}{}{}, block {}, thread {}", within, demangled(kernel_name(warp)),
                     source_line(warp, op), place_text(warp.block->index),
                     place_text(thread_of(warp, lane)));
}

const Op* raise(WarpContext& warp, const Op* op, Fault fault) {
  Launch& launch = *warp.worker->launch;
  fault.kernel = kernel_name(warp);
  fault.pc = pc_of(warp, op);
  fault.block = warp.block->index;
  const std::scoped_lock lock(launch.mutex);
  if (!launch.fault) launch.fault = std::move(fault);
  launch.halted.store(true, std::memory_order_relaxed);
  return warp.halt(Stop::kFault);
}

const Op* raise(WarpContext& warp, const Op* op, FaultKind kind, std::uint32_t lane,
                const std::string& what) {
  Fault fault;
  fault.kind = kind;
  fault.thread = thread_of(warp, lane);
  const ptx::Function& function = *warp.frame->function->source;
  const std::string instruction =
      op->instruction < function.instructions.size()
          ? "'" + ptx::to_text(function, function.instructions[op->instruction]) + "' "
          : "";
  fault.text =
      kind == FaultKind::kUnsupported
          ? fmt::format("Instruction {}{} at {}", instruction, what, describe_place(warp, op, lane))
          : fmt::format("{} at {}", what, describe_place(warp, op, lane));
  return raise(warp, op, std::move(fault));
}

WarpPlace place_of(const WarpContext& warp) {
  return {warp.worker->launch->config->grid_id, warp.block->index, warp.index};
}

AddressSpace& memory_of(const WarpContext& warp) {
  return *warp.worker->launch->memory;
}

}  // namespace drgpum::emulator::exec
