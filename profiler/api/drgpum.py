# SPDX-License-Identifier: Apache-2.0
"""Tells drgpum what it cannot see: phases, iterations, names, and what a pool is made of.

    import drgpum

    for step in range(steps):
        drgpum.iteration(f"step {step}")
        with drgpum.region("forward"):
            loss = model(batch)

Outside `drgpum run` every call does nothing. Addresses are integers (torch: tensor.data_ptr(), cupy:
array.data.ptr), sizes bytes. PyTorch's caching allocator is seen without any call; watch_cupy() and
watch_rmm() show the pools of CuPy and RMM. Pure Python, 3.8 or later; nothing is imported but the
standard library, and cupy or rmm by the function that is named after it.
"""

import contextlib
import ctypes
import os

__all__ = ["active", "alloc", "free", "iteration", "mark", "name", "name_parameters", "name_stream", "pool",
           "pool_end", "pool_reset", "region", "start", "stop", "watch_cupy", "watch_rmm"]


def _load():
    path = os.environ.get("CUDA_INJECTION64_PATH", "")
    if os.path.basename(path) != "libdrgpum.so":
        return None
    try:
        library = ctypes.CDLL(path)
    except OSError:
        return None
    address, size, text = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p
    parameters = {
        "pool": (address, size, text), "pool_end": (address,), "pool_reset": (address,),
        "alloc": (address, size, text), "free": (address,), "name": (address, text),
        "name_stream": (address, text), "push": (text,), "pop": (), "mark": (text,),
        "iteration": (text,), "start": (), "stop": (),
    }
    functions = {}
    for word, types in parameters.items():
        function = getattr(library, f"drgpum_v1_{word}", None)
        if function is None:
            return None
        function.restype, function.argtypes = None, types
        functions[word] = function
    return functions


_functions = _load()


def _call(word, *arguments):
    if _functions is not None:
        _functions[word](*(a.encode("utf-8", "replace") if isinstance(a, str) else a for a in arguments))


def active():
    """Whether drgpum is listening."""
    return _functions is not None


@contextlib.contextmanager
def region(name):
    """A phase: with drgpum.region("forward"): ... Phases nest. Also a decorator."""
    _call("push", str(name))
    try:
        yield
    finally:
        _call("pop")


def mark(name):
    """A moment."""
    _call("mark", str(name))


def iteration(name=""):
    """An iteration begins here; plans for pools repeat it."""
    _call("iteration", str(name))


def start():
    """Kernels are observed from here on; see --capture-range of drgpum run."""
    _call("start")


def stop():
    """Kernels are not observed from here on."""
    _call("stop")


def pool(address, size=0, name=None):
    """[address, address + size) of an allocation, or all of it, will be carved up."""
    _call("pool", address, size, name)


def pool_end(address):
    """The pool and all objects in it are gone."""
    _call("pool_end", address)


def pool_reset(address):
    """All objects in the pool are gone."""
    _call("pool_reset", address)


def alloc(address, size, name=None):
    """An object carved out of a pool or an allocation."""
    _call("alloc", address, size, name)


def free(address):
    """The object that begins there is gone."""
    _call("free", address)


def name(address, text):
    """Names the object that begins at the address, or else the innermost that holds it."""
    _call("name", address, str(text))


def name_stream(handle, text):
    """Names a stream (torch: stream.cuda_stream, cupy: stream.ptr)."""
    _call("name_stream", handle, str(text))


def name_parameters(module, prefix=""):
    """Names the parameters and buffers of a torch.nn.Module after themselves."""
    if not active():
        return
    for tensors in (module.named_parameters(), module.named_buffers()):
        for key, tensor in tensors:
            if tensor.is_cuda:
                name(tensor.data_ptr(), prefix + key)


def watch_cupy():
    """From here on, of this thread: arrays in CuPy's memory pool. Returns the hook, entered."""
    import cupy

    class Hook(cupy.cuda.MemoryHook):
        name = "drgpum"

        def malloc_postprocess(self, **event):
            alloc(event["mem_ptr"], event["mem_size"])

        def free_postprocess(self, **event):
            free(event["mem_ptr"])

    hook = Hook()
    if active():
        hook.__enter__()
    return hook


def watch_rmm():
    """From here on: what RMM's current device resource hands out. Returns the new current resource."""
    import rmm

    upstream = rmm.mr.get_current_device_resource()
    if not active():
        return upstream

    def allocate(size, *stream):  # later versions pass the stream
        address = upstream.allocate(size, *stream)
        alloc(address, size)
        return address

    def deallocate(address, size, *stream):
        free(address)
        return upstream.deallocate(address, size, *stream)

    watched = rmm.mr.CallbackMemoryResource(allocate, deallocate)
    rmm.mr.set_current_device_resource(watched)
    return watched
