// SPDX-License-Identifier: Apache-2.0
// Device modules: their images saved, their code found, their instructions patched.

#include <algorithm>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/session.h"
#include "proto/device/patches.h"
#include "proto/sanitizer/patching.h"

namespace drgpum::profiler {
namespace {

using sanitizer::Code;
using sanitizer::Instruction;

// Two FNV-1a sums from different seeds: names images, guards against nothing.
std::string hash_of(const char* bytes, std::size_t size) {
  std::uint64_t sums[2] = {0xcbf29ce484222325ull, 0x84222325cbf29ce4ull};
  for (std::size_t i = 0; i < size; ++i) {
    for (std::uint64_t& sum : sums) {
      sum = (sum ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3ull;
    }
    sums[1] ^= sums[0] >> 29;
  }
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(sums[0]),
                static_cast<unsigned long long>(sums[1]));
  return text;
}

bool write_new_file(const std::string& path, const char* bytes, std::size_t size) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return false;
  std::size_t written = 0;
  while (written < size) {
    const ssize_t count = write(file, bytes + written, size - written);
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  close(file);
  return written == size;
}

}  // namespace

void Session::on_module(const sanitizer::ModuleData& data) {
  ContextPointer context;
  trace::CubinRecord record;
  {
    const Lock lock(mutex_);
    context = context_of(lock, data.context);
    record.id = CubinId{next_cubin_++};
  }
  record.context = context->id;
  record.size = data.image_size;
  const bool has_image = data.image != nullptr && data.image_size != 0;
  if (has_image) {
    record.hash = hash_of(data.image, data.image_size);
    record.saved_as = save_image(record.hash, data);
  }
  auto module = std::make_shared<DeviceModule>();
  module->id = record.id;
  module->context = record.context;
  module->patched = patch(context, data);
  if (has_image && options_.mode == Mode::kIntra && module->patched) {
    module->code = CodeMap({data.image, data.image_size});
  }
  if (has_image) module->cell_shift = narrowest_access_shift({data.image, data.image_size});
  std::vector<ModuleGlobal> globals;
  if (has_image) globals = globals_in_ptx({data.image, data.image_size});
  const Lock lock(mutex_);
  recorder_.write(record);
  // What an earlier module did not claim belongs to it alone.
  context->globals.unclaimed = std::move(globals);
  name_globals(lock, *context);
  context->globals.unnamed.clear();
  auto& known = modules_[data.module];
  if (known != nullptr) forget_kernels_of(lock, *known);
  known = std::move(module);
}

void Session::on_module_unload(const sanitizer::ModuleData& data) {
  const Lock lock(mutex_);
  const auto found = modules_.find(data.module);
  if (found == modules_.end()) return;
  forget_kernels_of(lock, *found->second);
  modules_.erase(found);
}

// The driver may give their handles to others. Launches that use them keep what they need.
void Session::forget_kernels_of(const Lock&, const DeviceModule& module) {
  std::erase_if(graph_headers_, [&](const auto& entry) {
    const auto kernel = kernels_.find(entry.first);
    return kernel != kernels_.end() && kernel->second->module.get() == &module;
  });
  std::erase_if(kernels_, [&](const auto& entry) { return entry.second->module.get() == &module; });
}

// A context takes its modules with it, and the driver need not tell of each.
void Session::forget_modules_of(const Lock& lock, const ContextState& context) {
  std::erase_if(modules_, [&](const auto& entry) {
    if (entry.second->context != context.id) return false;
    forget_kernels_of(lock, *entry.second);
    return true;
  });
}

// Beside the trace, once for each content; "" when it could not be written.
std::string Session::save_image(const std::string& hash, const sanitizer::ModuleData& data) {
  const std::string folder = setup_.trace_path + ".modules";
  const auto slash = setup_.trace_path.rfind('/');
  const std::string beside =
      (slash == std::string::npos ? folder : folder.substr(slash + 1)) + "/" + hash;
  {
    const Lock lock(mutex_);
    if (saved_images_.contains(hash)) return beside;
  }
  mkdir(folder.c_str(), 0755);
  const std::string path = folder + "/" + hash;
  const bool saved = write_new_file(path, data.image, data.image_size) ||
                     (options_.replace_output && access(path.c_str(), R_OK) == 0);
  if (!saved) return "";
  const Lock lock(mutex_);
  saved_images_.insert(hash);
  return beside;
}

bool Session::load_patches(const ContextPointer& context) {
  if (context->patches_tried) return context->patches_loaded;
  context->patches_tried = true;
  // PTX is all that the emulated device takes; a GPU gets machine code where its driver can read
  // it.
  Code code = Code::kUnknown;
  if (!options_.emulated) code = api_.add_patches(device::patch_image().data(), context->handle);
  if (code != Code::kSuccess) {
    code = api_.add_patches(device::portable_patch_image().data(), context->handle);
  }
  context->patches_loaded = code == Code::kSuccess;
  if (!context->patches_loaded) {
    const Lock lock(mutex_);
    cover(trace::CoverageKind::kUnpatchedKernel,
          "the Sanitizer library refused the patches (code " +
              std::to_string(static_cast<unsigned>(code)) + "); no kernel's accesses are known");
  }
  return context->patches_loaded;
}

bool Session::patch(const ContextPointer& context, const sanitizer::ModuleData& data) {
  if (!setup_.filter.passes_all() && data.image != nullptr) {
    const auto names = kernel_names_in({data.image, data.image_size});
    const bool none_selected =
        !names.empty() && std::none_of(names.begin(), names.end(), [&](const std::string& name) {
          return setup_.filter.passes(name);
        });
    if (none_selected) return false;
  }
  const std::lock_guard patching(patch_mutex_);
  if (!load_patches(context)) return false;
  const device::PatchNames& names =
      options_.mode == Mode::kIntra ? device::kMapPatches : device::kMarkPatches;
  const auto request = [&](Instruction instruction, const char* function) {
    return api_.patch_instructions(instruction, data.module, function) == Code::kSuccess;
  };
  const bool has_global = request(Instruction::kGlobalAccess, names.global);
  bool has_all = request(Instruction::kAsyncCopy, names.async_copy);
  has_all &= request(Instruction::kBulkGlobalToShared, names.bulk_load);
  has_all &= request(Instruction::kBulkSharedToGlobal, names.bulk_store);
  has_all &= request(Instruction::kBulkReduceToGlobal, names.bulk_reduce);
  request(Instruction::kDeviceMalloc, device::kDeviceMallocPatch);
  request(Instruction::kDeviceFree, device::kDeviceFreePatch);
  const bool patched = has_global && api_.patch_module(data.module) == Code::kSuccess;
  // The emulated device runs no instruction that it cannot report.
  if (patched && !has_all && !options_.emulated && !told_of_instructions_.exchange(true)) {
    const Lock lock(mutex_);
    cover(trace::CoverageKind::kUnknownInstruction,
          "the Sanitizer library reports no bulk copies (cp.async.bulk, TMA)");
  }
  return patched;
}

}  // namespace drgpum::profiler
