# SPDX-License-Identifier: Apache-2.0
"""Compares each sample on a GPU with the same sample on the emulated device; prints one table.

    compare_devices.py --build FOLDER [--only NAME]

The GPU needs no toolkit but the CUDA runtime that the programs ask for: the emulated device's runtime
speaks only the public driver interface, so it serves over NVIDIA's driver where no other is installed.
"""

import argparse
import ctypes.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import sample  # noqa: E402  (the description of a report is the same as in the sample tests)


def runtime_environment(build, folder):
    """An environment in which a program finds a CUDA runtime on the GPU."""
    environment = dict(os.environ)
    if ctypes.util.find_library("cudart") is None:
        runtime = pathlib.Path(folder) / "runtime"
        runtime.mkdir(exist_ok=True)
        link = runtime / "libcudart.so.13"
        if not link.exists():
            link.symlink_to((build / "emulator/lib/libcudart.so.13").resolve())
        environment["LD_LIBRARY_PATH"] = f"{runtime}:{environment.get('LD_LIBRARY_PATH', '')}"
    return environment


def accesses(drgpum, trace):
    """Which launch reads and writes which object, as sorted lines.

    Without widths: machine code may join accesses that are apart in PTX.
    """
    text = subprocess.run([drgpum, "info", "--records", str(trace)], capture_output=True, text=True, timeout=600).stdout
    lines = [line for line in text.splitlines() if line.startswith("access ")]
    if not lines:
        return [f"{trace}: no access was recorded"]  # differs from any other trace's
    return sorted(re.sub(r" (min|max)_access_bytes=\d+", "", line) for line in lines)


def observe(drgpum, program, device, folder, environment):
    trace = pathlib.Path(folder) / f"{device}.drgp"
    ran = subprocess.run([drgpum, "run", "--device", device, "-f", "-q", "-o", str(trace), "--", str(program)],
                         capture_output=True, timeout=300, env=environment)
    made = subprocess.run([drgpum, "report", str(trace), "--format", "json"], capture_output=True, timeout=300)
    report = json.loads(made.stdout) if made.returncode in (0, 4) else None
    return {
        "exit status": ran.returncode,
        "output": ran.stdout,
        "findings": sample.describe(report) if report else [made.stderr.decode().strip()],
        "accesses": accesses(drgpum, trace),
        "coverage": sorted(str(item) for item in report["coverage"]) if report else [],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    drgpum = str((args.build / "bin/drgpum").resolve())
    programs = sorted(path for path in args.build.glob("samples/*/*")
                      if path.name in ("naive", "fixed") and os.access(path, os.X_OK) and args.only in str(path))
    if not programs:
        print(f"{args.build}: no samples are built", file=sys.stderr)
        return 2

    different = 0
    print(f"{'program':44} {'exit status':>12} {'output':>8} {'findings':>9} {'accesses':>9} {'coverage':>9}")
    for program in programs:
        with tempfile.TemporaryDirectory() as folder:
            environment = runtime_environment(args.build, folder)
            emulated = observe(drgpum, program, "emulated", folder, os.environ)
            gpu = observe(drgpum, program, "gpu", folder, environment)
        verdicts = {key: "same" if emulated[key] == gpu[key] else "DIFFERS" for key in emulated}
        different += "DIFFERS" in verdicts.values()
        name = f"{program.parent.name}/{program.name}"
        print(f"{name:44} {verdicts['exit status']:>12} {verdicts['output']:>8} {verdicts['findings']:>9} "
              f"{verdicts['accesses']:>9} {verdicts['coverage']:>9}", flush=True)
        for key, verdict in verdicts.items():
            if verdict == "DIFFERS":
                print(f"    {key}: emulated {emulated[key]!r}\n    {' ' * len(key)}  gpu      {gpu[key]!r}")
    print(f"{len(programs)} programs, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
