# SPDX-License-Identifier: Apache-2.0
"""Runs a program under drgpum and compares the number of findings of each pattern.

    counts.py --drgpum PROGRAM --program PROGRAM [--rules RULES] [--possible PATTERN...]
              [--saving JOINT_BYTES] PATTERN=COUNT...

Patterns that are not named must have no finding. --possible: every finding of PATTERN is `possible`.
--saving: the peak less the peak after all fixes.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile


def report_of(args):
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "program.drgp"
        ran = subprocess.run([args.drgpum, "run", "--device", args.device, "-q", "-o", str(trace), "--", args.program],
                             capture_output=True, text=True, timeout=600)
        if ran.returncode != 0:
            sys.exit(f"{args.program}: exit status {ran.returncode}\n{ran.stdout}{ran.stderr}")
        made = subprocess.run([args.drgpum, "report", str(trace), "--format", "json", "--rules", args.rules],
                              capture_output=True, text=True, timeout=600)
        if made.returncode != 0:
            sys.exit(f"{args.program}: drgpum report ended with {made.returncode}\n{made.stderr}")
        return json.loads(made.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--device", default="emulated")
    parser.add_argument("--rules", default="strict")
    parser.add_argument("--possible", action="append", default=[])
    parser.add_argument("--saving", type=int)
    parser.add_argument("counts", nargs="*")
    args = parser.parse_args()

    report = report_of(args)
    found = collections.Counter(finding["pattern"] for finding in report["findings"])
    expected = {name: int(count) for name, count in (item.split("=") for item in args.counts) if int(count)}
    problems = []
    if dict(found) != expected:
        problems.append(f"expected {expected}, found {dict(found)}")
    problems += [f"{finding['pattern']} of object {finding['object']} is {finding['certainty']}"
                 for finding in report["findings"]
                 if finding["pattern"] in args.possible and finding["certainty"] != "possible"]
    if args.saving is not None:
        saving = report["peaks"][0]["bytes"] - report["savings"]["peak_after_all_fixes_bytes"]
        if saving != args.saving:
            problems.append(f"all fixes together save {saving} bytes, not {args.saving}")
    print("\n".join(problems) or f"as expected: {expected}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
