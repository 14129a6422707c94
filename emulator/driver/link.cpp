// SPDX-License-Identifier: Apache-2.0
// The linker for code that a program makes at run time. What it hands out in the place of a cubin
// is the PTX of all inputs in one.

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "emulator/driver/call.h"
#include "emulator/ptx/printer.h"

namespace drgpum::emulator::driver {
namespace {

// Values of these options come in the pointer itself.
std::size_t number_of(void* value) {
  return reinterpret_cast<std::size_t>(value);
}

void read_options(LinkState& link, unsigned count, const CUjit_option* options, void** values) {
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) link.error_buffer = static_cast<char*>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) link.error_room = number_of(values[i]);
  }
}

CUresult refuse(LinkState& link, const ImageError& error) {
  link.errors += error.text + "\n";
  if (link.error_buffer != nullptr && link.error_room != 0) {
    const std::size_t size = std::min(link.errors.size(), link.error_room - 1);
    std::memcpy(link.error_buffer, link.errors.data(), size);
    link.error_buffer[size] = 0;
  }
  return error.code;
}

CUresult add(MachineCall& call, CUlinkState state, CUjitInputType type,
             std::span<const std::byte> bytes) {
  LinkState* link = call.core().links.get(state);
  if (link == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  // Of libraries only the device runtime is in use, which the executor brings along.
  if (type == CU_JIT_INPUT_LIBRARY) return CUDA_SUCCESS;
  auto texts = texts_of(bytes, call.core().devices.front().preset);
  if (const auto* error = std::get_if<ImageError>(&texts)) return refuse(*link, *error);
  for (std::string& text : std::get<std::vector<std::string>>(texts))
    link->texts.push_back(std::move(text));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (state == nullptr || (count != 0 && (options == nullptr || values == nullptr)))
    return CUDA_ERROR_INVALID_VALUE;
  LinkState* link = call.core().links.make();
  read_options(*link, count, options, values);
  *state = reinterpret_cast<CUlinkState>(link);
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t size,
                       const char*, unsigned, CUjit_option*, void**) {
  MachineCall call;
  if (data == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
  return add(call, state, type, {static_cast<const std::byte*>(data), size});
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned,
                       CUjit_option*, void**) {
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file && type != CU_JIT_INPUT_LIBRARY) return CUDA_ERROR_FILE_NOT_FOUND;
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  MachineCall call;
  return add(call, state, type, std::as_bytes(std::span(bytes)));
}

CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* size) {
  MachineCall call;
  LinkState* link = call.core().links.get(state);
  if (link == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto linked = link_texts(link->texts);
  if (const auto* error = std::get_if<ImageError>(&linked)) return refuse(*link, *error);
  link->linked = link->texts.size() == 1 ? link->texts.front()
                                         : ptx::to_text(*std::get<Image>(linked).program);
  *image = link->linked.data();
  if (size != nullptr) *size = link->linked.size() + 1;
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
  MachineCall call;
  if (call.core().links.get(state) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  call.core().links.remove(state);
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator::driver
