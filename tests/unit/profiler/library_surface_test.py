# SPDX-License-Identifier: Apache-2.0
"""Fails when libdrgpum.so shows more than its entry points or needs more than libc."""

import subprocess
import sys

ENTRY_POINTS = {"InitializeInjection"}
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
