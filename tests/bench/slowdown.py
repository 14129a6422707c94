# SPDX-License-Identifier: Apache-2.0
"""What `drgpum run` costs over the bare emulated run, sample by sample. Prints a table for README.md.

    slowdown.py --build FOLDER [--runs N]

User CPU seconds of the program with its children, medians of N runs taken in turns; the report is not
part of it (-q). Object: --mode object. Intra: --mode intra, every launch.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile


def user_seconds(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    build = args.build.resolve()
    bare_environment = dict(os.environ, LD_LIBRARY_PATH=str(build / "emulator/lib"))
    programs = sorted(path for path in build.glob("samples/*/naive") if os.access(path, os.X_OK))

    print("| sample | bare, s | object | intra |\n|---|---|---|---|")
    ratios = {"object": [], "intra": []}
    with tempfile.TemporaryDirectory() as folder:
        for program in programs:
            tool = [str(build / "bin/drgpum"), "run", "--device", "emulated", "-q", "-f", "-o", f"{folder}/t.drgp"]
            commands = {
                "bare": ([str(program)], bare_environment),
                "object": ([*tool, "--mode", "object", "--", str(program)], os.environ),
                "intra": ([*tool, "--mode", "intra", "--", str(program)], os.environ),
            }
            times = {name: [] for name in commands}
            for _ in range(args.runs):
                for name, (command, environment) in commands.items():
                    times[name].append(user_seconds(command, environment))
            bare = statistics.median(times["bare"])
            for name in ratios:
                ratios[name].append(statistics.median(times[name]) / bare)
            print(f"| {program.parent.name} | {bare:.2f} | {ratios['object'][-1]:.2f} | {ratios['intra'][-1]:.2f} |", flush=True)
    print(f"| median | | {statistics.median(ratios['object']):.2f} | {statistics.median(ratios['intra']):.2f} |")


if __name__ == "__main__":
    main()
