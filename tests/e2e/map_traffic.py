# SPDX-License-Identifier: Apache-2.0
"""Access maps reduced on the device: how much of them crosses to the host, and that what is recorded is
what the host makes of the whole maps. The injected library is used as `drgpum run` uses it.

    map_traffic.py --library FILE --emulator DIR --print-trace PROGRAM --program PROGRAM
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

KINDS = ("access ", "map ", "site ", "coverage ")
MOST_THAT_CROSSES = 0.01  # of the bytes of the maps

# How the program ends, and the launches it makes.
WAYS = (("synchronize", 24), ("exit", 24), ("threads", 96), ("reset", 72))


def record(args, folder, word, reduction):
    trace, status = folder / "t.drgp", folder / "status"
    trace.unlink(missing_ok=True)
    status.write_text("")
    environment = dict(
        os.environ, LD_LIBRARY_PATH=str(args.emulator), CUDA_INJECTION64_PATH=str(args.library),
        DRGPUM_DEVICE_KIND="emulated", DRGPUM_SANITIZER_LIB=str(args.emulator / "libsanitizer-public.so"),
        DRGPUM_MODE="intra", DRGPUM_MAP_REDUCTION=reduction, DRGPUM_OUTPUT=str(trace), DRGPUM_STATUS_FILE=str(status))
    done = subprocess.run([args.program, word], env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode != 0 or done.stdout != "done\n":
        sys.exit(f"{word}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    printed = subprocess.run([args.print_trace, trace], capture_output=True, text=True, check=True, timeout=300).stdout
    traffic = [line.split()[2:] for line in status.read_text().splitlines() if line.startswith("map-bytes ")]
    lines = sorted(line for line in printed.splitlines() if line.startswith(KINDS))
    return lines, [int(number) for number in traffic[0]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("library", "emulator", "print-trace", "program"):
        parser.add_argument("--" + name, type=pathlib.Path, required=True)
    args = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as holder:
        folder = pathlib.Path(holder)
        for word, launches in WAYS:
            whole, (bytes_of_maps, crossed_whole) = record(args, folder, word, "host")
            reduced, (same_bytes, crossed) = record(args, folder, word, "device")
            share = crossed / bytes_of_maps
            maps = sum(line.startswith("map ") for line in reduced)
            # Threads name their objects in the order in which they come.
            same = len(whole) == len(reduced) if word == "threads" else whole == reduced
            good = (same and maps == 2 * launches and bytes_of_maps == same_bytes and crossed_whole == bytes_of_maps and
                    share <= MOST_THAT_CROSSES)
            failures += not good
            print(f"{word}: {maps} maps of {bytes_of_maps} bytes, {crossed} crossed, {share:.2%}: {'good' if good else 'BAD'}")
            for line in sorted(set(whole) ^ set(reduced))[:6] if not same else []:
                print(f"  {line[:300]}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
