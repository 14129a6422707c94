// SPDX-License-Identifier: Apache-2.0
#include "profiler/session.h"

#include <gtest/gtest.h>

#include "proto/device/mark_access.h"
#include "scripted_program.h"

namespace drgpum::profiler {
namespace {

TEST(Session, AVectorAdditionBecomesARecordForEachCall) {
  ScriptedProgram program;
  program.create_context();
  program.load_module(ScriptedProgram::kModule, ".entry add(");
  program.malloc(0x10000, 1000);
  program.malloc(0x20000, 1000);
  program.copy("cudaMemcpy", 0x10000, 0x99, 1000, sanitizer::CopyDirection::kHostToDevice);
  program.launch("add", {{0x10000, 4, device::kReadAccess}, {0x20004, 8, device::kWriteAccess}});
  program.copy("cudaMemcpy", 0x99, 0x20000, 1000, sanitizer::CopyDirection::kDeviceToHost);
  program.free(0x10000);
  EXPECT_EQ(
      program.lines({"device", "context", "stream", "kernel", "object", "call", "access", "end"}),
      R"(device id=0 kind=emulated memory_bytes=0 compute_major=0 compute_minor=0 sanitizer_abi="scripted"
context id=0 device=0
object id=0 kind=device device=0 context=0 address=0x10000 size=1000 pitch=0 width=0 allocated_by=0
call id=0 kind=alloc context=0 name="cudaMalloc" {object=0 requested=1000 error=0}
object id=1 kind=device device=0 context=0 address=0x20000 size=1000 pitch=0 width=0 allocated_by=1
call id=1 kind=alloc context=0 name="cudaMalloc" {object=1 requested=1000 error=0}
stream id=0 context=0 kind=legacy
call id=2 kind=memcpy stream=0 context=0 name="cudaMemcpy" {direction=h2d source={offset=153 width=1000 height=1 depth=1 pitch=0 slice_pitch=0 is_host=yes} destination={object=0 offset=0 width=1000 height=1 depth=1 pitch=0 slice_pitch=0}}
kernel id=0 cubin=0 name="add"
call id=3 kind=launch stream=0 context=0 name="cudaLaunchKernel" {kernel=0 grid=1,1,1 block=1,1,1 cluster=1,1,1 shared_bytes=48 instrumented=yes}
call id=4 kind=memcpy stream=0 context=0 blocks_host=yes name="cudaMemcpy" {direction=d2h source={object=1 offset=0 width=1000 height=1 depth=1 pitch=0 slice_pitch=0} destination={offset=153 width=1000 height=1 depth=1 pitch=0 slice_pitch=0 is_host=yes}}
access api=3 object=0 reads=yes min_access_bytes=4 max_access_bytes=4
access api=3 object=1 writes=yes min_access_bytes=8 max_access_bytes=8
call id=5 kind=free context=0 blocks_host=yes name="cudaFree" {object=0 address=0x10000 error=0}
end api_count=6 exit_code_known=yes exit_code=0
)");
}

}  // namespace
}  // namespace drgpum::profiler
