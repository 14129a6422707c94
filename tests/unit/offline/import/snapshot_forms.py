# SPDX-License-Identifier: Apache-2.0
"""The same snapshot in every protocol, form and packing gives the same report, imported first or not; the verbs
that read traces read snapshots; what a report says fits its schema and is not said without evidence."""
import argparse
import gzip
import json
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--drgpum", required=True)
parser.add_argument("--source", required=True)
args = parser.parse_args()
source = Path(args.source)
sys.path.insert(0, str(source / "tests/support"))
sys.path.insert(0, str(source / "tests/support/snapshots"))
import json_schema
import make_snapshots

MIB = 1 << 20


def run(*command, status=0):
    done = subprocess.run([args.drgpum, *map(str, command)], capture_output=True, text=True)
    if done.returncode != status:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr}")
    return done.stdout if status in (0, 1) else done.stderr


def events(*rows, **more):
    """Rows of (action, address, size); a stream and frames by default."""
    frame = {"filename": "/home/u/train.py", "name": "step", "line": 10}
    return [{"action": a, "addr": at, "size": size, "stream": 0, "time_us": 1000 + i,
             "frames": [{"filename": "/x/site-packages/torch/nn/f.py", "name": "call", "line": 1},
                        dict(frame, line=10 + size % 7)], **more} for i, (a, at, size) in enumerate(rows)]


class Forms(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, snapshot, name="s.pickle", protocol=4):
        path = self.folder / name
        path.write_bytes(pickle.dumps(snapshot, protocol))
        return path

    def report(self, path, *options):
        report = json.loads(run("report", path, "--format", "json", *options))
        schema = json.loads((source / "proto/report.schema.json").read_text())
        faults = list(json_schema.check(report, schema, schema))
        self.assertEqual(faults, [])
        return report

    def test_all_forms_give_one_report(self):
        for seed in (3, 8, 14, 17, 26):
            snapshot, _ = make_snapshots.make(seed)
            reports = set()
            for protocol in range(6):
                reports.add(run("report", self.write(snapshot, protocol=protocol), "--format", "json"))
            pure = self.folder / "pure.pickle"
            pure.write_bytes(pickle._dumps(snapshot, 2))
            text = self.folder / "s.json"
            text.write_text(json.dumps(snapshot))
            packed = self.folder / "s.gz"
            packed.write_bytes(gzip.compress(pickle.dumps(snapshot)))
            if shutil.which("zstd"):
                subprocess.run(["zstd", "-qf", text, "-o", self.folder / "s.zst"], check=True)
                reports.add(run("report", self.folder / "s.zst", "--format", "json"))
            run("import", pure, "-o", self.folder / "s.drgp")
            for path in (pure, text, packed, self.folder / "s.drgp"):
                reports.add(run("report", path, "--format", "json"))
            (self.folder / "s.drgp").unlink()
            self.assertEqual(len(reports), 1, f"seed {seed}")

    def test_every_verb_takes_snapshots(self):
        for name in ("real_50_events.pickle", "synthetic_1040_events.pickle"):
            path = source / "tests/data/snapshots" / name
            self.report(path)
            self.assertIn("PyTorch memory snapshot", run("info", path))
            self.assertIn("call id=0", run("info", "--records", path))
            plan = json.loads(run("plan", path, "--time-limit", "0", "--format", "json", "--autoswap"))
            self.assertGreaterEqual(plan["footprint_bytes"], plan["load_bytes"])
            self.assertTrue(any("swapping cannot be planned" in c for c in plan["caveats"]))
            run("report", path)
            run("report", path, "--brief")
            run("diff", path, path)

    def test_nothing_is_called_unused(self):
        report = self.report(source / "tests/data/snapshots/real_50_events.pickle")
        self.assertEqual(report["findings"], [])
        self.assertEqual({o["state"] for p in report["peaks"] for o in p["objects"]}, {"unknown"})
        self.assertIn("autoswap_missing", report["savings"])

    def test_sites_are_lines_of_the_program(self):
        path = self.write({"segments": [], "device_traces": [events(("alloc", 4096, 512))]})
        report = self.report(path)
        self.assertEqual((report["objects"][0]["alloc"]["file"], report["objects"][0]["alloc"]["line"]),
                         ("/home/u/train.py", 11))

    def test_out_of_memory_in_pieces(self):
        base = 1 << 40
        rows = [("segment_alloc", base, 4 * MIB), *(("alloc", base + i * MIB, MIB) for i in range(4)),
                ("free_requested", base, MIB), ("free_completed", base, MIB),
                ("free_requested", base + 2 * MIB, MIB), ("free_completed", base + 2 * MIB, MIB)]
        trace = events(*rows)
        trace.append({"action": "oom", "device_free": 0, "size": 2 * MIB, "stream": 0, "frames": [], "time_us": 9000})
        report = self.report(self.write({"segments": [], "device_traces": [trace]}))
        failure, = report["memory_pressure"]["out_of_memory"]
        self.assertEqual(failure["cause"], "fragmentation")
        self.assertEqual(failure["moment"]["largest_hole_bytes"], MIB)
        self.assertEqual(failure["planned_bytes"], 4 * MIB)
        self.assertEqual(report["failed_allocations"][0]["device_free_bytes"], 0)

    def test_pinned_and_pending(self):
        base = 1 << 40
        rows = [("segment_alloc", base, 20 * MIB), ("alloc", base, 2 * MIB), ("alloc", base + 10 * MIB, MIB),
                ("free_requested", base, 2 * MIB), ("alloc", base + 12 * MIB, 512),
                ("free_completed", base, 2 * MIB), ("free_requested", base + 12 * MIB, 512), ("snapshot", 0, 0)]
        device, = self.report(self.write({"segments": [], "device_traces": [events(*rows)]}))["memory_pressure"]["devices"]
        self.assertEqual(device["pending_peak_bytes"], 2 * MIB)
        self.assertEqual(device["end"]["pending_bytes"], 512)
        pinned, = device["end"]["pinned"]
        self.assertEqual((pinned["blocks"], pinned["live_bytes"], pinned["size_bytes"]), (2, MIB + 512, 20 * MIB))
        self.assertEqual(device["end"]["largest_hole_bytes"], 10 * MIB)

    def test_growth_by_iteration(self):
        rows, base = [], 1 << 40
        for i in range(12):
            at = base + i * (1 << 24)
            rows += [("alloc", at, 1024), *(("alloc", at + 4096 * (k + 1), 512 * k) for k in range(1, 6))]
            rows += [(a, at + 4096 * (k + 1), 512 * k) for k in range(1, 6) for a in ("free_requested", "free_completed")]
        pressure = self.report(self.write({"segments": [], "device_traces": [events(*rows)]}))["memory_pressure"]
        self.assertGreaterEqual(pressure["iterations"], 10)
        growth, = pressure["growth"]
        self.assertEqual(growth["bytes_per_iteration"], 1024)

    def test_several_devices_and_wide_addresses(self):
        trace = events(("alloc", (1 << 63) + 512, 512))
        report = self.report(self.write({"segments": [], "device_traces": [events(("alloc", 512, 1024)), [], trace]}))
        self.assertEqual([d["device"] for d in report["memory_pressure"]["devices"]], [0, 2])

    def test_values_that_cannot_be_cost_their_event_only(self):
        trace = events(("alloc", 4096, 512), ("alloc", "0x5", 512), ("alloc", 8192, 1 << 70), ("alloc", 12288, 512))
        trace[0]["time_us"] = float("nan")
        report = self.report(self.write({"segments": [], "device_traces": [trace]}))
        self.assertEqual(report["memory_pressure"]["devices"][0]["allocated_peak_bytes"], 1024)
        self.assertEqual(sum(c["count"] for c in report["coverage"] if c["kind"] == "bad-field"), 3)

    def test_import_keeps_what_is_there(self):
        path = self.write({"segments": [], "device_traces": []})
        target = self.folder / "x.drgp"
        target.write_text("mine")
        self.assertIn("-f replaces it", run("import", path, "-o", target, status=2))
        self.assertEqual(target.read_text(), "mine")
        run("import", path, "-o", target, "-f")
        run("report", target)

    def test_a_report_in_json_is_no_snapshot(self):
        path = self.folder / "report.json"
        path.write_text(run("report", source / "tests/data/snapshots/real_50_events.pickle", "--format", "json"))
        self.assertIn(str(path), run("report", path, status=3))


unittest.main(argv=[sys.argv[0]])
