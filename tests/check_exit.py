# SPDX-License-Identifier: Apache-2.0
"""Programs call CUDA while they end: from exit handlers and from destructors of static objects, and the
injected library does from its own. So nothing in the libraries that they load then may have been
destroyed: no object file of theirs registers a destructor for the end of the process or of a thread.

    check_exit.py FOLDER NM

FOLDER is the build folder; NM the program of that name.
"""

import pathlib
import subprocess
import sys

ROOMS = ("emulator", "profiler", "proto")
NOT_LOADED = ("profiler/launcher", "proto/trace/CMakeFiles/drgpum_proto_trace_text.dir")  # in programs of our own
REGISTER = ("__cxa_atexit", "__cxa_thread_atexit")


def main():
    build, nm = pathlib.Path(sys.argv[1]), sys.argv[2]
    objects = [path for room in ROOMS for path in sorted((build / room).rglob("*.o"))
               if not str(path.relative_to(build)).startswith(NOT_LOADED)]
    if len(objects) < 100:
        sys.exit(f"{build}: only {len(objects)} object files; build it first")
    found = []
    for path in objects:
        wanted = subprocess.run([nm, "-u", path], capture_output=True, text=True, check=True).stdout.split()
        found += [f"{path.relative_to(build)}: {name}" for name in REGISTER if name in wanted]
    for line in found:
        print(f"{line}: a static object that is destroyed; make it with new, and leave it")
    print(f"{len(objects)} object files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
