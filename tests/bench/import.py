# SPDX-License-Identifier: Apache-2.0
"""Measures the import of a large snapshot beside Python's own pickle.load with a replay of the events, in one run.

  import.py --drgpum BIN [--events N] [--rounds N] [--keep FILE]

Prints a table: user seconds (median over the rounds), elapsed seconds, the most memory.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUPPORT = Path(__file__).parent.parent / "support" / "snapshots"
REPLAY = """
import pickle, sys
with open(sys.argv[1], 'rb') as file:
    snapshot = pickle.load(file)
for trace in snapshot['device_traces']:
    live, total, peak, unmatched = {}, 0, 0, 0
    for event in trace:
        action = event['action']
        if action == 'alloc':
            live[event['addr']] = event['size']
            total += event['size']
            peak = max(peak, total)
        elif action == 'free_completed':
            size = live.pop(event['addr'], None)
            unmatched += size is None
            total -= size or 0
print(peak, total, unmatched)
"""


def run(command):
    """User seconds, elapsed seconds, bytes of memory at most, and what was printed."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command} ended with {child.returncode}")
    return usage.ru_utime, time.monotonic() - begin, usage.ru_maxrss * 1024, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", help="the snapshot, made if it is not there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.keep or f"{folder}/large.pickle"
        if not Path(path).exists():
            subprocess.run([sys.executable, SUPPORT / "make_snapshots.py", path, "--events", str(args.events)], check=True)
        size = Path(path).stat().st_size
        trace = f"{folder}/large.drgp"
        commands = {"pickle.load and replay": [sys.executable, "-c", REPLAY, path],
                    "drgpum import": [args.drgpum, "import", path, "-f", "-o", trace],
                    "drgpum report of the snapshot": [args.drgpum, "report", path, "--brief"],
                    "drgpum report of the trace": [args.drgpum, "report", trace, "--brief"]}
        results = {name: [] for name in commands}
        for _ in range(args.rounds):
            for name, command in commands.items():
                results[name].append(run(command))
        print(f"{args.events:,} events, {size / 2**20:.0f} MiB\n")
        print("| what | user s | ratio | elapsed s | memory MiB | of 1.5 × file + 256 MiB |")
        print("|---|---|---|---|---|---|")
        first = statistics.median(r[0] for r in results["pickle.load and replay"])
        for name, rounds in results.items():
            user, wall = (statistics.median(r[i] for r in rounds) for i in (0, 1))
            memory = max(r[2] for r in rounds)
            allowed = 1.5 * size + (256 << 20)
            print(f"| {name} | {user:.1f} | {first / user:.1f} | {wall:.1f} | {memory >> 20} | {memory / allowed:.0%} |")


if __name__ == "__main__":
    main()
