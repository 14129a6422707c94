# SPDX-License-Identifier: Apache-2.0
"""Fails when a room includes a room other than itself and proto/."""

import pathlib
import re
import sys

ROOMS = ("proto", "profiler", "gpu_analysis", "offline", "emulator")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def main(root: pathlib.Path) -> int:
    broken = [
        f"{file.relative_to(root)}: may not include {target}"
        for room in ROOMS
        for file in sorted((root / room).rglob("*"))
        if file.suffix in {".h", ".cpp", ".cu", ".cuh"}
        for target in INCLUDE.findall(file.read_text())
        if target.split("/")[0] not in {room, "proto"}
    ]
    print("\n".join(broken) or "every room includes only itself and proto/")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
