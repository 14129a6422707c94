# SPDX-License-Identifier: Apache-2.0
"""Runs programs on the emulated device twice, with the native twins of the tool's device code and with
the device code itself, and compares what is recorded of their kernels' accesses. A launch's maps may be
recorded later than its accesses, so the order of records says nothing.

    fidelity.py --drgpum PROGRAM --print-trace PROGRAM PROGRAM...
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

KINDS = ("access ", "map ", "site ", "coverage ")


def recorded(args, program, folder, *options):
    trace = pathlib.Path(folder) / "program.drgp"
    for command in ([args.drgpum, "run", "--device", "emulated", "--mode", "intra", "-q", "-f", "-o", trace, *options,
                     "--", program], [args.print_trace, trace]):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900)
        if done.returncode != 0:
            sys.exit(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return sorted(line for line in done.stdout.splitlines() if line.startswith(KINDS))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("--print-trace", required=True)
    parser.add_argument("programs", nargs="+")
    args = parser.parse_args()
    different = 0
    for program in args.programs:
        with tempfile.TemporaryDirectory() as folder:
            twin = recorded(args, program, folder)
            code = recorded(args, program, folder, "--fidelity")
        same = twin == code and any(line.startswith("map ") for line in twin)
        different += not same
        print(f"{program}: {len(twin)} records, {'equal' if same else 'DIFFERENT'}")
        for left, right in list(zip(twin, code)) if not same else []:
            if left != right:
                print(f"  twin: {left[:300]}\n  code: {right[:300]}")
                break
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
