# SPDX-License-Identifier: Apache-2.0
"""`drgpum export` as a whole program: every type, where it goes, what it says, snapshots there and back.

    export_forms.py --drgpum PROGRAM --make-trace PROGRAM --source DIR
"""

import argparse
import gzip
import json
import os
import pathlib
import pickle
import pickletools
import sqlite3
import subprocess
import sys
import tempfile

TYPES = ("perfetto", "chrome", "pprof", "speedscope", "torch", "sqlite", "csv", "dot")


class Runner:
    def __init__(self, args, folder):
        self.args, self.folder, self.wrong = args, pathlib.Path(folder), []

    def expect(self, what, condition):
        if not condition:
            self.wrong.append(what)

    def run(self, *words, status=0):
        done = subprocess.run([self.args.drgpum, *map(str, words)], capture_output=True, timeout=120)
        self.expect(f"drgpum {' '.join(map(str, words))}: status {done.returncode}, not {status}: {done.stderr.decode()}",
                    done.returncode == status)
        return done

    def trace(self, name, text):
        source, target = self.folder / f"{name}.txt", self.folder / f"{name}.drgp"
        source.write_text(text)
        subprocess.run([self.args.make_trace, source, target], check=True, timeout=60)
        return target


def opens(kind, data):
    """What a reader of the type needs first; None, or what is wrong."""
    if kind == "perfetto":
        return None if data[:1] == b"\x0a" else "the first packet"
    if kind in ("chrome", "speedscope"):
        json.loads(data)
    if kind == "pprof":
        return None if gzip.decompress(data) else "no profile"
    if kind == "torch":
        return None if set(pickle.loads(data)) >= {"segments", "device_traces"} else "the keys"
    if kind == "sqlite":
        return None if data[:16] == b"SQLite format 3\0" else "the head of the file"
    if kind == "dot":
        return None if data.startswith(b"digraph") else "the graph"
    return None


def check_types(runner, trace, status=0):
    for kind in TYPES:
        data = runner.run("export", trace, "--type", kind, status=status).stdout
        runner.expect(f"{kind} of {trace.name}: {opens(kind, data)}", opens(kind, data) is None)
        target = runner.folder / f"out.{kind}"
        runner.run("export", trace, "--type", kind, "-o", target, status=status)
        runner.expect(f"{kind}: -o holds what standard output has",
                      kind == "sqlite" or target.read_bytes() == data)
        target.unlink()


def check_usage(runner, trace):
    text = runner.run("export", "--help").stdout.decode()
    runner.expect("--help has two examples", text.count("  drgpum export app.drgp") == 2)
    runner.expect("--help names every type", all(f"{kind}:" in text for kind in TYPES))
    runner.run("export", trace, status=2)
    runner.run("export", trace, "--type", "excel", status=2)
    runner.run("export", trace, "--type", "chrome", "--layout", "upside-down", status=2)
    runner.run("export", trace, "--type", "perfetto", "--layout", "drgpum", status=2)
    runner.run("export", runner.folder / "absent.drgp", "--type", "torch", status=3)
    runner.run("export", trace, "--type", "sqlite", "-o", "/nonexistent/out", status=3)
    runner.expect("nothing is left behind", not list(runner.folder.glob("*.part*")))
    terminal, other_end = os.openpty()
    done = subprocess.run([runner.args.drgpum, "export", trace, "--type", "perfetto"], stdout=other_end,
                          stderr=subprocess.PIPE, timeout=60)
    os.close(other_end)
    runner.expect("bytes do not go to a terminal", done.returncode == 2 and b"-o names a file" in done.stderr)
    os.close(terminal)


def check_published_layout(runner, trace):
    events = json.loads(runner.run("export", trace, "--type", "chrome", "--layout", "drgpum").stdout)
    names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    runner.expect("processes of the published layout", names == {"GPU Streams", "Objects"})


def check_database(runner, trace):
    target = runner.folder / "trace.sqlite"
    runner.run("export", trace, "--type", "sqlite", "-o", target)
    report = json.loads(runner.run("report", trace, "--format", "json").stdout)
    with sqlite3.connect(f"file:{target}?mode=ro", uri=True) as database:
        count = database.execute("SELECT count(*), max(joint_saving_bytes) FROM findings").fetchone()
    best = max(finding["joint_saving_bytes"] for finding in report["findings"])
    runner.expect("findings in the database", count == (len(report["findings"]), best))


def comparable(totals, damage):
    """What is to come back. Where events are missing, blocks may lie in no segment and get one, and a free that was never
    recorded is, so that requests are no longer kept waiting for it."""
    streams = {name: of if damage == "whole" else of[:2] for name, of in totals["streams"].items()}
    keys = ("allocated_peak", "allocated_end") + (
        () if damage != "whole" else ("pending_peak", "pending_end", "reserved_peak", "reserved_end"))
    return {"streams": streams, **{key: totals[key] for key in keys}}


def check_snapshots(runner):
    """Exported snapshots, imported again and replayed in Python, have the totals that the report had of the first."""
    sys.path.insert(0, str(runner.args.source / "tests/support/snapshots"))
    import check_snapshots as reader
    import make_snapshots
    import replay_snapshot
    given = sorted((runner.args.source / "tests/data/snapshots").glob("*.pickle"))
    paths = [(path, "given") for path in given]
    for seed in range(24):
        path = runner.folder / f"{seed}.pickle"
        snapshot, damage = make_snapshots.make(seed)
        make_snapshots.dump(snapshot, str(path), "p4")
        paths.append((path, damage))
    runner.expect("whole snapshots are among them", sum(damage == "whole" for _, damage in paths) > 8)
    for path, damage in paths:
        again = runner.folder / "again.pickle"
        runner.run("export", path, "--type", "torch", "-o", again)
        before, after = [reader.reported(json.loads(runner.run("report", p, "--format", "json").stdout)) for p in (path, again)]
        replayed = replay_snapshot.totals(replay_snapshot.load(str(again)))
        for device, totals in before.items():
            for who, found in (("imported again", after), ("replayed", replayed)):
                want, have = comparable(totals, damage), comparable(found[device], damage) if device in found else None
                runner.expect(f"{path.name} ({damage}), {who}: device {device} has {have}, not {want}", have == want)
        names = {op.name for op, _, _ in pickletools.genops(again.read_bytes())}
        runner.expect(f"{path.name}: nothing is called", not names & {"GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "NEWOBJ"})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True, type=os.path.abspath)
    parser.add_argument("--make-trace", required=True, type=os.path.abspath)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(args, folder)
        data = args.source / "tests/data/report"
        trace = runner.trace("all", (data / "all_patterns.txt").read_text())
        check_types(runner, trace)
        check_types(runner, runner.trace("empty", (data / "empty.txt").read_text()))
        check_types(runner, runner.trace("lost", "alloc a 1M\ncoverage lost-records \"some\"\nend"), status=4)
        check_usage(runner, trace)
        check_published_layout(runner, trace)
        check_database(runner, trace)
        check_snapshots(runner)
    print("\n".join(runner.wrong) or "as expected")
    return 1 if runner.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
