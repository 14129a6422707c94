# SPDX-License-Identifier: Apache-2.0
"""Random snapshots through `drgpum report`, against replay_snapshot.py.

  check_snapshots.py --drgpum BIN [--count N] [--seed S] [--given DIR]
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import make_snapshots
import replay_snapshot

COVERAGE = {"frees of blocks": "unmatched_frees", "blocks alive": "unmatched_blocks",
            "blocks were replaced": "unrecorded_ends", "blocks live by": "unseen_ends"}


def reported(program):
    """The same totals from a report."""
    result = {}
    for device in program.get("memory_pressure", {}).get("devices", []):
        result[device["device"]] = {
            "allocated_peak": device["allocated_peak_bytes"], "allocated_end": device["end"]["allocated_bytes"],
            "pending_peak": device["pending_peak_bytes"], "pending_end": device["end"]["pending_bytes"],
            "reserved_peak": device["reserved_peak"]["reserved_bytes"],
            "reserved_end": device["end"]["reserved_bytes"], "counts": {},
            "streams": {s["stream"]: [s["allocated_peak_bytes"], s["allocated_end_bytes"],
                                      s["pending_peak_bytes"], s["pending_end_bytes"]] for s in device["streams"]}}
    for gap in program["coverage"]:
        where, _, what = gap["text"].partition(": ")
        kind = next((name for begin, name in COVERAGE.items() if what.startswith(begin)), None)
        if kind and where.startswith("device ") and int(where[7:]) in result:
            result[int(where[7:])]["counts"][kind] = gap["count"]
    return result


def differences(expected, found, keys):
    for device, want in expected.items():
        have = found.get(device)
        if have is None:
            if want["allocated_peak"] or want["reserved_peak"]:
                yield f"device {device} is missing"
            continue
        for key in keys:
            if want[key] != have[key]:
                yield f"device {device}: {key} is {have[key]}, not {want[key]}"
        if want["lowest"] < 0:
            yield f"device {device}: the replay itself goes below zero"


def run(drgpum, paths):
    done = subprocess.run([drgpum, "report", "--format", "json", *paths], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"drgpum report ended with {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    return report.get("programs", [report])


def check(drgpum, batch):
    wrong = 0
    for (name, snapshot, damage), program in zip(batch, run(drgpum, [name for name, _, _ in batch]), strict=True):
        expected = json.loads(json.dumps(replay_snapshot.totals(snapshot)), object_hook=None)
        expected = {int(k): v for k, v in expected.items()}
        # Without times devices are told one after the other, which changes nothing within one.
        keys = ["allocated_peak", "allocated_end", "pending_peak", "pending_end", "streams", "counts"]
        if damage != "given":
            keys += ["reserved_peak", "reserved_end"]
        for difference in differences(expected, reported(program), keys):
            print(f"{name} ({damage}): {difference}")
            wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--given", help="a folder of snapshots to check as well")
    args = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for first in range(args.seed, args.seed + args.count, 100):
            batch = []
            for seed in range(first, min(first + 100, args.seed + args.count)):
                snapshot, damage = make_snapshots.make(seed)
                form = make_snapshots.FORMS[seed // 9 % len(make_snapshots.FORMS)]
                path = str(Path(folder) / f"{seed}.{form}")
                make_snapshots.dump(snapshot, path, form)
                batch.append((path, snapshot, damage))
            wrong += check(args.drgpum, batch)
            for path, _, _ in batch:
                Path(path).unlink()
    if args.given:
        given = sorted(Path(args.given).glob("*.pickle"))
        wrong += check(args.drgpum, [(str(p), replay_snapshot.load(p), "given") for p in given])
    print(f"{args.count} snapshots, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
