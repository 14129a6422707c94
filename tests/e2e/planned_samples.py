# SPDX-License-Identifier: Apache-2.0
"""Plans samples' traces, a pool and swaps, and has the plans refereed.

    planned_samples.py --drgpum PROGRAM SAMPLE...

Each sample, a program, is run on the emulated device with times. The plan of its pool has to fit
proto/plan.schema.json and to pass the referee, and so has a plan with swaps of anything of 512 bytes or
more; a plan with an object moved onto another, or with a faster link, must not pass.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import json_schema  # noqa: E402

SCHEMA = json.loads((ROOT / "proto/plan.schema.json").read_text())
SWAPS = ["--autoswap", "--min-swap", "512", "--link", "nvlink-c2c"]


class Failed(Exception):
    pass


def run(*words, status=0):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    if done.returncode != status:
        raise Failed(f"{' '.join(map(str, words))}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def planned(drgpum, trace, file, *options, may_fail=False):
    """Returns the plan that the referee has passed, or one that says that its limit is not kept."""
    done = subprocess.run([drgpum, "plan", trace, *options, "-o", file], capture_output=True, text=True, timeout=300)
    plan = json.loads(file.read_text()) if file.exists() else None
    if done.returncode == 0:
        run(drgpum, "plan", trace, "--check", file)
    elif not may_fail or done.returncode != 1 or plan["fits"] or plan["autoswap"]["feasible"]:
        raise Failed(f"plan {trace} {options}: status {done.returncode}: {done.stdout}{done.stderr}")
    wrong = list(json_schema.check(plan, SCHEMA, SCHEMA))
    if wrong:
        raise Failed(f"{file}: {wrong[:3]}")
    return plan


def must_not_pass(drgpum, trace, file, plan):
    file.write_text(json.dumps(plan))
    run(drgpum, "plan", trace, "--check", file, status=1)


def live_together(objects):
    for place, one in enumerate(objects):
        for other in objects[:place]:
            if one["lower"] < other["upper"] and other["lower"] < one["upper"]:
                return one, other
    return None


def check(drgpum, sample, folder):
    trace = folder / "trace.drgp"
    run(drgpum, "run", "--device", "emulated", "--timing", "-q", "-f", "-o", trace, "--", sample)
    plan = planned(drgpum, trace, folder / "plan.json")
    report = json.loads(run(drgpum, "report", trace, "--format", "json"))
    known = {str(o["id"]) for o in report["objects"]}
    strangers = {o["id"] for o in plan["objects"] if o["id"].rpartition("#")[2] not in known}
    if strangers or not plan["objects"]:
        raise Failed(f"not objects of the report: {strangers or 'none is planned'}")
    if not plan["load_bytes"] <= plan["lower_bound_bytes"] <= plan["footprint_bytes"]:
        raise Failed(f"bounds: {plan['load_bytes']}, {plan['lower_bound_bytes']}, {plan['footprint_bytes']}")
    together = live_together(plan["objects"])
    if together:
        together[0]["offset"] = together[1]["offset"]
        must_not_pass(drgpum, trace, folder / "overlapping.json", plan)

    swap = planned(drgpum, trace, folder / "swap.json", *SWAPS)
    found = swap["autoswap"]
    if not found["feasible"] or found["overhead_ns"] != 0 or found["limit_bytes"] < found["zero_stall_bound_bytes"]:
        raise Failed(f"swaps: {found['limit_bytes']} bytes, bound {found['zero_stall_bound_bytes']}, "
                     f"{found['overhead_ns']} ns")
    tight = planned(drgpum, trace, folder / "tight.json", *SWAPS, "--limit",
                    str(found["unlimited_peak_bytes"] * 9 // 10), may_fail=True)["autoswap"]
    for file in ("swap.json", "tight.json"):
        plan = json.loads((folder / file).read_text())
        if plan["autoswap"]["feasible"] and plan["autoswap"]["swaps"]:
            plan["autoswap"]["schedule"]["out_ns_per_byte"] *= 100
            must_not_pass(drgpum, trace, folder / "slow.json", plan)
    return (f"pool {plan['footprint_bytes']}; swapping keeps {found['limit_bytes']} of "
            f"{found['unlimited_peak_bytes']} by {len(found['swaps'])} swaps, pool {found['pool_bytes']}; nine tenths "
            + (f"by {len(tight['swaps'])} swaps in {tight['overhead_percent']} % more time, pool {tight['pool_bytes']}"
               if tight["feasible"] else "not"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("samples", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as root, concurrent.futures.ThreadPoolExecutor(2) as pool:

        def one(numbered):
            number, sample = numbered
            folder = pathlib.Path(root) / str(number)
            folder.mkdir()
            try:
                return True, check(args.drgpum, sample, folder)
            except (Failed, subprocess.TimeoutExpired) as failure:
                return False, str(failure)

        for sample, (right, text) in zip(args.samples, pool.map(one, enumerate(args.samples))):
            print(f"{sample.parent.name}/{sample.name}: {text}")
            failures += not right
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
