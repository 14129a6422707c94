# SPDX-License-Identifier: Apache-2.0
"""A Python program under `drgpum run`: CUDA by ctypes, pools by the drgpum module, CuPy and RMM by stand-ins with
their documented interfaces, Kokkos by its hooks. Prints what `drgpum.active()` says.
"""

import ctypes
import os
import sys
import types

sys.path.insert(0, sys.argv[1])
import drgpum

print(drgpum.active())
runtime = ctypes.CDLL("libcudart.so.13")


def malloc(size):
    pointer = ctypes.c_void_p()
    assert runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
    return pointer.value


def clear(address, size):
    assert runtime.cudaMemset(ctypes.c_void_p(address), 0, ctypes.c_size_t(size)) == 0


base = malloc(65536)
drgpum.pool(base, name="arena")
drgpum.iteration(7)
with drgpum.region("forward"):
    drgpum.alloc(base, 4096, "weights")
    clear(base, 4096)
    drgpum.mark("cleared")


@drgpum.region("decorated")
def decorated():
    drgpum.name(base, "renamed")


decorated()
drgpum.free(base)
drgpum.stop()
drgpum.start()


# CuPy calls its hooks with keywords.
class MemoryHook:
    entered = []

    def __enter__(self):
        MemoryHook.entered.append(self)
        return self


cupy = types.ModuleType("cupy")
cupy.cuda = types.SimpleNamespace(MemoryHook=MemoryHook)
sys.modules["cupy"] = cupy
drgpum.watch_cupy()
for hook in MemoryHook.entered:
    hook.malloc_postprocess(device_id=0, size=1000, mem_size=1024, mem_ptr=base + 8192, pmem_id=1)
    hook.free_postprocess(device_id=0, mem_size=1024, mem_ptr=base + 8192, pmem_id=1)


# RMM: resources that allocate and deallocate, one of them made of two functions.
class Upstream:
    def allocate(self, size, stream=None):
        return base + 16384

    def deallocate(self, address, size, stream=None):
        assert address == base + 16384


class CallbackMemoryResource:
    def __init__(self, allocate_func, deallocate_func):
        self.allocate, self.deallocate = allocate_func, deallocate_func


rmm = types.ModuleType("rmm")
current = [Upstream()]
rmm.mr = types.SimpleNamespace(
    get_current_device_resource=lambda: current[0], CallbackMemoryResource=CallbackMemoryResource,
    set_current_device_resource=lambda resource: current.__setitem__(0, resource))
sys.modules["rmm"] = rmm
drgpum.watch_rmm()
address = current[0].allocate(2048, "stream")
current[0].deallocate(address, 2048, "stream")


# A torch.nn.Module's parameters, as far as name_parameters looks at them.
def tensor(address, on_device=True):
    return types.SimpleNamespace(is_cuda=on_device, data_ptr=lambda: address)


module = types.SimpleNamespace(named_parameters=lambda: [("layer.weight", tensor(base)), ("host", tensor(1, False))],
                               named_buffers=lambda: [])
drgpum.name_parameters(module, "net.")


class SpaceName(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 64)]


if "KOKKOS_TOOLS_LIBS" in os.environ:
    kokkos = ctypes.CDLL(os.environ["KOKKOS_TOOLS_LIBS"])
    kokkos.kokkosp_init_library(0, ctypes.c_uint64(20240906), 0, None)
    for space, label in ((b"Cuda", b"view"), (b"Host", b"host view"), (b"CudaHostPinned", b"pinned view")):
        kokkos.kokkosp_allocate_data(SpaceName(space), label, ctypes.c_void_p(base), ctypes.c_uint64(65408))
    kokkos.kokkosp_push_profile_region(b"solve")
    kernel = ctypes.c_uint64()
    kokkos.kokkosp_begin_parallel_for(b"axpy", 0, ctypes.byref(kernel))
    kokkos.kokkosp_end_parallel_for(kernel)
    kokkos.kokkosp_pop_profile_region()
    kokkos.kokkosp_deallocate_data(SpaceName(b"Cuda"), b"view", ctypes.c_void_p(base), ctypes.c_uint64(65408))
    kokkos.kokkosp_finalize_library()

assert runtime.cudaFree(ctypes.c_void_p(base)) == 0
