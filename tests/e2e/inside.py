# SPDX-License-Identifier: Apache-2.0
"""Runs a program with access maps and looks at its findings and at the maps themselves.

    inside.py --drgpum PROGRAM --print-trace PROGRAM --program PROGRAM [--option WORD...] CHECK...

A CHECK is one of, with objects numbered in the order of their allocation:
    found PATTERN OBJECT [KEY=VALUE...]   a proven finding; KEY in `evidence`, or wasted_bytes; VALUE as JSON
    possible PATTERN OBJECT               a finding that is not proven
    none PATTERN [OBJECT]                 no such finding
    map OBJECT LAUNCH MEAN [VARIANCE]     counts of the LAUNCHth map of the object, from 0
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_found(report, pattern, number, *wanted):
    for finding in report["findings"]:
        if finding["pattern"] != pattern or finding["object"] != int(number):
            continue
        if finding["certainty"] != "proven":
            return f"is {finding['certainty']}: {finding['evidence']['missing']}"
        values = {**finding["evidence"], "wasted_bytes": finding["wasted_bytes"]}
        wrong = [item for item in wanted
                 if values[item.split("=")[0]] != json.loads(item.split("=", 1)[1])]
        return f"has {values}" if wrong else ""
    return "is not there"


def check_possible(report, pattern, number):
    found = [finding["certainty"] for finding in report["findings"]
             if finding["pattern"] == pattern and finding["object"] == int(number)]
    return "" if found == ["possible"] else f"is {found or 'not there'}"


def check_none(report, pattern, number=None):
    found = [finding["object"] for finding in report["findings"]
             if finding["pattern"] == pattern and number in (None, str(finding["object"]))]
    return f"there is one, of {found}" if found else ""


def check_map(trace, number, launch, mean, variance="0"):
    maps = re.findall(rf"^map api=\d+ object={number} .*?count_mean=(\S+) count_variance=(\S+)", trace, re.M)
    if len(maps) <= int(launch):
        return f"there are {len(maps)} maps"
    found = tuple(float(value) for value in maps[int(launch)])
    return "" if found == (float(mean), float(variance)) else f"mean and variance are {found}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("--print-trace", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--device", default="emulated")
    parser.add_argument("--option", action="append", default=[], help="of drgpum run")
    parser.add_argument("checks", nargs="+")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        trace_file = pathlib.Path(folder) / "program.drgp"
        run(args.drgpum, "run", "--device", args.device, "--mode", "intra", "-q", "-o", trace_file,
            *args.option, "--", args.program)
        report = json.loads(run(args.drgpum, "report", trace_file, "--format", "json"))
        trace = run(args.print_trace, trace_file)
    checks = {"found": lambda *words: check_found(report, *words), "none": lambda *words: check_none(report, *words),
              "possible": lambda *words: check_possible(report, *words),
              "map": lambda *words: check_map(trace, *words)}
    failures = 0
    for check in args.checks:
        kind, *words = check.split()
        problem = checks[kind](*words)
        failures += bool(problem)
        print(f"{check}: {problem or 'yes'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
