# SPDX-License-Identifier: Apache-2.0
"""Allocates from functions, methods, callbacks out of C, generators, threads. Each size is the line that asks for it.
ctypes lets go of the interpreter's lock in CDLL's calls and keeps it in PyDLL's."""

import ctypes
import sys
import threading

released, held = ctypes.CDLL("libcudart.so.13"), ctypes.PyDLL("libcudart.so.13")


def allocate(library, size):
    pointer = ctypes.c_void_p()
    status = library.cudaMalloc(
        ctypes.byref(pointer), ctypes.c_size_t(size))
    assert status == 0
    return pointer


def line():
    return sys._getframe(1).f_lineno


class Pool:
    def grow(self, library):
        return allocate(library, line())


def grüße():
    return allocate(held, line())


def out_of_c():
    return sorted([2, 1], key=lambda x: allocate(released, line() * 10 + x).value)


def generated():
    yield allocate(released, line())


Pool().grow(released)
Pool().grow(held)
grüße()
out_of_c()
list(generated())
exec(compile("\n" * 6 + "allocate(released, line())", "made up.py", "exec"))
thread = threading.Thread(target=lambda: allocate(released, line()))
thread.start()
thread.join()
