// SPDX-License-Identifier: Apache-2.0
// Field by field.
#include "emulator/sanitizer/callback_structs.h"

namespace drgpum::emulator::sanitizer {
namespace {

using drgpum::sanitizer::CopyDirection;

CopyDirection direction_of(std::uint32_t direction) {
  switch (direction) {
    case 1:
      return CopyDirection::kHostToDevice;
    case 2:
      return CopyDirection::kDeviceToHost;
    case 3:
      return CopyDirection::kHostToHost;
    case 4:
      return CopyDirection::kDeviceToDevice;
    default:
      return CopyDirection::kUnknown;
  }
}

void copy(std::uint32_t (&to)[3], const exec::Dim3& from) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
}

}  // namespace

drgpum::sanitizer::MemoryData struct_of(const MemoryEvent& event) {
  drgpum::sanitizer::MemoryData data{};
  data.address = event.address;
  data.size = event.size;
  data.context = event.context;
  data.device = event.device;
  data.stream = event.stream;
  data.stream_handle = event.unique_stream;
  data.pool = event.pool;
  data.flags = event.flags;
  data.permissions = drgpum::sanitizer::kMayAll;
  data.visibility = drgpum::sanitizer::Visibility::kGlobal;
  data.source_device = event.device;
  return data;
}

drgpum::sanitizer::LaunchData struct_of(const LaunchEvent& event) {
  drgpum::sanitizer::LaunchData data{};
  data.context = event.context;
  data.stream = event.stream;
  data.stream_handle = event.unique_stream;
  data.module = event.module;
  data.function = event.function;
  data.function_name = event.name;
  copy(data.grid, event.grid);
  copy(data.block, event.block);
  copy(data.cluster, event.cluster);
  data.grid_id = event.grid_id;
  data.launch = event.launch;
  data.device = event.device;
  data.api_context = event.context;
  data.api_stream = event.stream;
  data.api_stream_handle = event.unique_stream;
  return data;
}

drgpum::sanitizer::MemcpyData struct_of(const CopyEvent& event) {
  drgpum::sanitizer::MemcpyData data{};
  data.source_context = event.source_context;
  data.destination_context = event.destination_context;
  data.source_stream = event.source_stream;
  data.source_stream_handle = event.unique_source_stream;
  data.destination_stream = event.destination_stream;
  data.destination_stream_handle = event.unique_destination_stream;
  data.source_address = event.source;
  data.destination_address = event.destination;
  data.size = event.size;
  data.width = event.width;
  data.height = event.height;
  data.depth = event.depth;
  data.source_pitch = event.source_pitch;
  data.destination_pitch = event.destination_pitch;
  data.is_async = event.is_async ? 1 : 0;
  data.direction = direction_of(event.direction);
  data.api_context = event.destination_context;
  data.api_stream = event.destination_stream;
  data.api_stream_handle = event.unique_destination_stream;
  return data;
}

drgpum::sanitizer::MemsetData struct_of(const SetEvent& event) {
  drgpum::sanitizer::MemsetData data{};
  data.context = event.context;
  data.stream = event.stream;
  data.stream_handle = event.unique_stream;
  data.address = event.address;
  data.width = event.width;
  data.height = event.height;
  data.pitch = event.pitch;
  data.element_size = event.element_size;
  data.value = event.value;
  data.is_async = event.is_async ? 1 : 0;
  return data;
}

}  // namespace drgpum::emulator::sanitizer
