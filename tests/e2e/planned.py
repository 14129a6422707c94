# SPDX-License-Identifier: Apache-2.0
"""From a trace to a plan to a program that uses it, and back.

    planned.py --drgpum PROGRAM --programs DIR --sample DIR [--update]

The naive variant is profiled and planned; the look-up header that comes of it must be the plan.h
that the fixed variant was built with (--update writes it anew). The fixed variant's measured peak
must be within 2 % of what the plan says that the whole run needs, and its own check must pass. Timed,
the same trace gives plans in time, and swaps where objects are large enough.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile


class Failed(Exception):
    pass


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, words))}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def profile(args, program, trace, *options):
    output = run(args.drgpum, "run", "--device", "emulated", "-q", "-f", "-o", trace, *options, "--", program)
    if "result: right" not in output:
        raise Failed(f"{program}: {output}")
    report = json.loads(run(args.drgpum, "report", trace, "--format", "json"))
    if not report["complete"] or report["coverage"]:
        raise Failed(f"{program}: not complete: {report['coverage']}")
    return report


def check(args, folder):
    trace = folder / "naive.drgp"
    report = profile(args, args.programs / "naive", trace, "--timing")
    timing = report["timing"]
    if timing is None or timing["timed_calls"] != timing["device_calls"]:
        raise Failed(f"not every call has a time: {timing}")
    if report["savings"]["smartpool"] is None:
        raise Failed("the report plans no pool")
    large = any(item["size_bytes"] >= 1 << 20 for item in report["objects"])
    if (report["savings"]["autoswap"] is not None) != large:
        raise Failed(f"objects large enough to swap: {large}, the report says {report['savings']['autoswap']}")
    plan = json.loads(run(args.drgpum, "plan", trace, "--format", "json"))
    if plan["time"] != "measured":
        raise Failed(f"the plan's time is {plan['time']}")
    if plan["iteration"]["count"] < 3:
        raise Failed(f"iterations: {plan['iteration']}")
    run(args.drgpum, "plan", trace, "-o", folder / "plan.h")
    header, committed = (folder / "plan.h").read_text(), args.sample / "plan.h"
    if args.update:
        committed.write_text(header)
    if not committed.exists() or committed.read_text() != header:
        raise Failed(f"{committed} is not what the plan says now; after --update build fixed again:\n{header}")
    (folder / "plan.json").write_text(json.dumps(plan))
    run(args.drgpum, "plan", trace, "--check", folder / "plan.json")

    planned = plan["footprint_bytes"]
    measured = profile(args, args.programs / "fixed", folder / "fixed.drgp")["peaks"][0]["bytes"]
    print(f"planned {planned}, measured {measured}, before {report['peaks'][0]['bytes']}")
    if abs(measured - planned) > 0.02 * planned:
        raise Failed(f"measured {measured} bytes, planned {planned}")

    run(args.drgpum, "plan", trace, "--autoswap", "--min-swap", "512", "--link", "nvlink-c2c",
        "-o", folder / "swap.json")
    swap = json.loads((folder / "swap.json").read_text())["autoswap"]
    print(f"swapping keeps {swap['limit_bytes']} of {swap['unlimited_peak_bytes']}, {len(swap['swaps'])} swaps")
    if not swap["feasible"] or swap["limit_bytes"] > swap["unlimited_peak_bytes"] or swap["overhead_ns"] != 0:
        raise Failed(f"swaps: {swap}")
    run(args.drgpum, "plan", trace, "--check", folder / "swap.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("--programs", required=True, type=pathlib.Path, help="folder of the built variants")
    parser.add_argument("--sample", required=True, type=pathlib.Path, help="folder of the sources and plan.h")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            check(args, pathlib.Path(folder))
        except Failed as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
