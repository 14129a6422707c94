# SPDX-License-Identifier: Apache-2.0
"""What `drgpum run` costs over the bare emulated run. Prints tables for README.md.

    slowdown.py --build FOLDER [--runs N] [NAME...]

User CPU seconds of a program with its children, medians of N runs taken in turns; the report is not
part of it (-q). Object: --mode object. Intra: --mode intra, every launch. Sampled: --mode intra
--kernel-sampling 100, of programs that launch each kernel 1,000 times or more. Built by
`ninja bench_slowdown_programs`.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

MANY_LAUNCHES = ["launches", "solver"]
PROGRAMS = ["saxpy", "gemm", "tiled_gemm", "stencil", "gather", "transpose", "reduce", "histogram", "sparse",
            *MANY_LAUNCHES]
OPTIONS = {"object": ["--mode", "object"], "intra": ["--mode", "intra"],
           "sampled": ["--mode", "intra", "--kernel-sampling", "100"]}


def user_seconds(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("names", nargs="*", default=PROGRAMS)
    args = parser.parse_args()
    build = args.build.resolve()
    bare_environment = dict(os.environ, LD_LIBRARY_PATH=str(build / "emulator/lib"))
    program = build / "tests/bench/slowdown_programs"

    print("| program | bare, s | " + " | ".join(OPTIONS) + " |\n|---|---|" + "---|" * len(OPTIONS))
    ratios = {name: [] for name in OPTIONS}
    with tempfile.TemporaryDirectory() as folder:
        tool = [str(build / "bin/drgpum"), "run", "--device", "emulated", "-q", "-f", "-o", f"{folder}/t.drgp"]
        for name in args.names:
            commands = {"bare": ([str(program), name], bare_environment)}
            for kind, options in OPTIONS.items():
                if kind != "sampled" or name in MANY_LAUNCHES:
                    commands[kind] = ([*tool, *options, "--", str(program), name], os.environ)
            times = {kind: [] for kind in commands}
            for _ in range(args.runs):
                for kind, (command, environment) in commands.items():
                    times[kind].append(user_seconds(command, environment))
            bare = statistics.median(times["bare"])
            for kind in commands.keys() & ratios.keys():
                ratios[kind].append(statistics.median(times[kind]) / bare)
            shown = [f"{ratios[kind][-1]:.2f}" if kind in commands else "" for kind in OPTIONS]
            print(f"| {name} | {bare:.2f} | " + " | ".join(shown) + " |", flush=True)
    medians = [f"{statistics.median(found):.2f}" if found else "" for found in ratios.values()]
    print("| median | | " + " | ".join(medians) + " |")


if __name__ == "__main__":
    main()
