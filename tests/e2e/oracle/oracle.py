# SPDX-License-Identifier: Apache-2.0
"""Runs random programs under drgpum on the emulated device and compares what their traces say of every
launch's accesses with the device's own access log.

    oracle.py --build FOLDER [--first SEED] [--count N]

Seeds in turn: maps by the native twin, maps by the patches' PTX, marks alone. Exit status 0 when all
are equal; the seed of each program that is not is printed, with its first differences.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WAYS = (("intra", []), ("intra", []), ("object", []), ("intra", ["--fidelity"]), ("object", ["--fidelity"]))
SUMMARY = re.compile(r"(\d+) launches, (\d+) lane accesses, (\d+) facts compared, (\d+) differences")


def run(build, seed, folder):
    """The comparison's output, and whether it found no difference."""
    mode, options = WAYS[seed % len(WAYS)]
    trace, log = folder / "t.drgp", folder / "log"
    command = [build / "bin/drgpum", "run", "--device", "emulated", "--mode", mode, *options, "-q", "-f", "-o", trace,
               "--", build / "tests/e2e/oracle/random_accesses", str(seed)]
    environment = dict(os.environ, DRGPUM_EMULATOR_ACCESS_LOG=str(log), DRGPUM_EMULATOR_DEVICE_MEMORY="1GiB")
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    if ran.returncode != 0:
        return f"{mode} {options}: exit status {ran.returncode}\n{ran.stdout}{ran.stderr}", False
    compare = [build / "tests/e2e/oracle/compare_accesses", trace, log, *(["--no-maps"] if mode == "object" else [])]
    compared = subprocess.run(compare, capture_output=True, text=True, timeout=300)
    return compared.stdout + compared.stderr, compared.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    args = parser.parse_args()
    wrong, sums = 0, [0, 0, 0]
    with tempfile.TemporaryDirectory() as name:
        for seed in range(args.first, args.first + args.count):
            output, equal = run(args.build.resolve(), seed, pathlib.Path(name))
            summary = SUMMARY.search(output)
            if summary:
                sums = [a + int(b) for a, b in zip(sums, summary.groups())]
            if not equal:
                wrong += 1
                print(f"seed {seed}:\n{output}", flush=True)
    print(f"{args.count} programs, {sums[0]} launches, {sums[1]} lane accesses, {sums[2]} facts compared: {wrong} differ")
    sys.exit(1 if wrong or sums[2] == 0 else 0)


if __name__ == "__main__":
    main()
