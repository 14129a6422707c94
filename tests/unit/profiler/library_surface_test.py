# SPDX-License-Identifier: Apache-2.0
"""Fails when libdrgpum.so shows more than its entry points or needs more than libc."""

import subprocess
import sys

ENTRY_POINTS = {
    # the driver's, NVTX's
    "InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
    # drgpum.h and the Python module
    *(f"drgpum_v1_{call}" for call in (
        "pool", "pool_end", "pool_reset", "alloc", "free", "name", "name_stream", "push", "pop", "mark", "iteration",
        "start", "stop")),
    # Kokkos
    *(f"kokkosp_{hook}" for hook in (
        "init_library", "finalize_library", "allocate_data", "deallocate_data", "begin_parallel_for",
        "end_parallel_for", "begin_parallel_reduce", "end_parallel_reduce", "begin_parallel_scan", "end_parallel_scan",
        "push_profile_region", "pop_profile_region", "profile_event")),
    # PyTorch
    "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE",
}
LIBC = {"libc.so.6", "ld-linux-x86-64.so.2"}


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(library: str) -> int:
    shown = {line.split()[-1] for line in output("nm", "-D", "--defined-only", library).splitlines()}
    needed = {
        line.split("[")[1].rstrip("]")
        for line in output("readelf", "-d", library).splitlines()
        if "(NEEDED)" in line
    }
    problems = [f"shows {name}" for name in sorted(shown ^ ENTRY_POINTS)]
    problems += [f"needs {name}" for name in sorted(needed - LIBC)]
    print("\n".join(problems) or "shows its entry points, needs libc")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
