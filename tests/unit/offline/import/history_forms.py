# SPDX-License-Identifier: Apache-2.0
"""Files of Nsight Systems, torch.profiler and JAX in the verbs that read traces: what they tell is in the report, to the
byte; what they do not tell is said; what cannot be is refused in one line with status 3."""
import argparse
import gzip
import json
import os
import random
import shutil
import sqlite3
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
sys.path.insert(0, str(source / "tests/support/histories"))
import json_schema
from make_histories import MANAGED, PINNED, STATIC, Kineto, Nsight, Pprof

MIB = 1 << 20
BASE = 0x7F0000000000


def run(*command, status=0):
    done = subprocess.run([args.drgpum, *map(str, command)], capture_output=True, text=True)
    if done.returncode != status:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr}")
    return done.stdout if status in (0, 1) else done.stderr


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return self.folder / name

    def written(self, writer, name, **how):
        writer.write(self.path(name), **how)
        return self.path(name)

    def report(self, path, *options):
        report = json.loads(run("report", path, "--format", "json", *options))
        schema = json.loads((source / "proto/report.schema.json").read_text())
        self.assertEqual(list(json_schema.check(report, schema, schema)), [])
        return report

    def refused(self, path, *words):
        """One line, status 3, nothing written."""
        for verb in (["report", path], ["import", path, "-o", self.path("none.drgp")]):
            text = run(*verb, status=3)
            self.assertEqual(text.count("\n"), 1, text)
            for word in (path.name, *words):
                self.assertIn(word, text)
        self.assertFalse(self.path("none.drgp").exists())

    def gaps(self, report):
        return [gap["text"] for gap in report["coverage"]]

    def every_verb(self, path, format):
        """All verbs take the file; imported first, the report is the same."""
        self.assertIn(format, run("info", path))
        self.assertIn("process ", run("info", "--records", path))
        plan = json.loads(run("plan", path, "--time-limit", "0", "--format", "json", "--autoswap"))
        self.assertTrue(any("swapping cannot be planned" in c for c in plan["caveats"]), plan["caveats"])
        run("report", path)
        run("diff", path, path)
        if "DRGPUM_WITHOUT_PAGE" not in os.environ:  # else there is no web application
            run("view", path, "-o", self.path("page.html"))
        run("import", path, "-o", self.path("imported.drgp"))
        direct, imported = (run("report", p, "--format", "json") for p in (path, self.path("imported.drgp")))
        self.assertEqual(direct, imported)
        self.assertEqual(json.loads(direct)["findings"], [])
        self.assertIn("complete", run("info", self.path("imported.drgp")))
        self.assertNotIn("problem", run("info", self.path("imported.drgp")))
        self.path("imported.drgp").unlink()


class NsightFiles(Case):
    def small(self):
        file = Nsight()
        file.chain(1, ("cudaMalloc", "/opt/cuda/lib64/libcudart.so.13"), ("load_weights", "/app/prog"), ("main", "/app/prog"))
        file.alloc(50, BASE - MIB, 256, kind=STATIC, name="table", call="cuModuleLoadData")
        file.alloc(100, BASE, MIB, chain=1)
        file.range(150, 650, "forward")
        file.kernel(200, "saxpy(int, float*)")
        file.copy(300, 4096)
        file.alloc(400, BASE + 4 * MIB, 2 * MIB)
        file.set(450, 512)
        file.alloc(500, BASE + (1 << 30), 3 * MIB, kind=PINNED, call="cudaMallocHost_v3020")
        file.free(600, BASE, MIB)
        file.alloc(700, BASE, MIB // 2, kind=MANAGED, call="cudaMallocManaged_v6000")
        return file

    def test_every_verb(self):
        self.every_verb(self.written(self.small(), "a.sqlite"), "Nsight Systems")

    def test_objects_and_calls(self):
        report = self.report(self.written(self.small(), "a.sqlite"))
        self.assertEqual(report["peaks"][0]["bytes"], 3 * MIB + 256)
        kinds = {o["kind"]: o for o in report["objects"]}
        self.assertEqual(set(kinds), {"global", "device", "pinned", "managed"})
        self.assertEqual(kinds["global"]["name"], "table")
        self.assertEqual(kinds["managed"]["alloc"]["name"], "cudaMallocManaged")
        first = next(o for o in report["objects"] if o["size_bytes"] == MIB)
        self.assertEqual((first["alloc"]["function"], first["free"]["name"]), ("load_weights", "cudaFree"))
        self.assertEqual(report["device"]["name"], "A device")
        self.assertEqual(report["device"]["memory_bytes"], 8 << 30)

    def test_work_of_the_device(self):
        text = run("info", "--records", self.written(self.small(), "a.sqlite"))
        for part in ("saxpy(int, float*)", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemset", "forward"):
            self.assertIn(part, text)
        summary = run("info", self.path("a.sqlite"))
        self.assertIn("1 launch", summary)
        self.assertIn("3 device times", summary)

    def test_columns_and_tables_that_are_not_there(self):
        for without in (("correlationId",), ("name", "streamId", "pc"), ("globalPid", "deviceId"), ("memKind",),
                        ("localMemoryPoolAddress", "callchainId", "gridX")):
            report = self.report(self.written(self.small(), "b.sqlite", without=without))
            self.assertGreaterEqual(report["peaks"][0]["bytes"], 3 * MIB, without)
        bare = Nsight()
        bare.alloc(1, BASE, 100)
        bare.tables.pop("CUPTI_ACTIVITY_KIND_RUNTIME")
        self.assertEqual(self.report(self.written(bare, "c.sqlite"))["peaks"][0]["bytes"], 100)

    def test_processes_do_not_share_addresses(self):
        file = Nsight()
        for process in (7, 8):
            file.alloc(100 + process, BASE, process * MIB, process=process)
        file.free(200, BASE, 7 * MIB, process=7)
        report = self.report(self.written(file, "p.sqlite"))
        self.assertEqual([o["size_bytes"] for o in report["objects"]], [7 * MIB, 8 * MIB])
        self.assertEqual(report["peaks"][0]["bytes"], 8 * MIB)
        self.assertIn("process 8", run("info", self.path("p.sqlite")))

    def test_frees_of_before(self):
        file = Nsight()
        file.free(100, BASE, 5 * MIB)
        file.alloc(200, BASE + 16 * MIB, MIB)
        report = self.report(self.written(file, "f.sqlite"))
        self.assertEqual(report["peaks"][0]["bytes"], 5 * MIB)
        self.assertTrue(any("before the history begins" in text for text in self.gaps(report)))

    def test_random_peaks(self):
        for seed in range(8):
            rng, file, live, total, peak = random.Random(seed), Nsight(), {}, 0, 0
            for time in range(0, 4000, 10):
                if live and rng.random() < 0.45:
                    address = rng.choice(list(live))
                    total -= live[address]
                    file.free(time, address, live.pop(address))
                else:
                    address, size = BASE + time * MIB, rng.randrange(1, MIB)
                    live[address] = size
                    file.alloc(time, address, size)
                    total += size
                peak = max(peak, total)
            rng.shuffle(file.tables["CUDA_GPU_MEMORY_USAGE_EVENTS"][1])
            self.assertEqual(self.report(self.written(file, "r.sqlite"))["peaks"][0]["bytes"], peak)

    def test_hostile(self):
        def with_row(**values):
            file = self.small()
            file.alloc(800, BASE + 64 * MIB, 5)
            columns, rows = file.tables["CUDA_GPU_MEMORY_USAGE_EVENTS"]
            rows[-1] = [values.get(c, v) for c, v in zip(columns, rows[-1])]
            return self.written(file, "bad.sqlite")
        table = "table CUDA_GPU_MEMORY_USAGE_EVENTS"
        self.refused(with_row(bytes=-5), table + ", row 7", "'bytes' is -5")
        self.refused(with_row(bytes="many"), table + ", row 7", "'bytes' is many")
        self.refused(with_row(bytes=float("nan")), table + ", row 7", "'bytes' is NULL")
        self.refused(with_row(start=1.5), table + ", row 7", "'start' is 1.5")
        self.refused(with_row(address=None), table, "'address' is NULL")
        self.refused(with_row(deviceId=1 << 40), table, "no device has it")
        self.refused(with_row(bytes=(1 << 63) - 1, address=-8), table, "address space")
        for column in ("start", "address", "bytes", "memoryOperationType"):
            self.refused(self.written(self.small(), "bad.sqlite", without=(column,)), f"'{column}'")
        other = self.small()
        other.tables.pop("CUDA_GPU_MEMORY_USAGE_EVENTS")
        self.refused(self.written(other, "bad.sqlite"), "--cuda-memory-usage=true")
        view = "CREATE VIEW CUDA_GPU_MEMORY_USAGE_EVENTS AS SELECT 1 AS start, 1 AS address, 1 AS bytes;"
        self.refused(self.written(other, "bad.sqlite", script=view), "has no table")
        sqlite3.connect(self.path("empty.sqlite")).executescript("CREATE TABLE t (x); DROP TABLE t;")
        self.refused(self.path("empty.sqlite"), "is no profile of Nsight Systems")
        self.path("packed.sqlite.gz").write_bytes(gzip.compress(self.written(self.small(), "a.sqlite").read_bytes()))
        self.refused(self.path("packed.sqlite.gz"), "unpack it first")

    def test_damaged_files_end_in_order(self):
        """Cut off or overwritten anywhere: a report, or one line and status 3."""
        whole = self.written(self.small(), "a.sqlite").read_bytes()
        rng = random.Random(1)
        for step in range(24):
            data = bytearray(whole[:rng.randrange(16, len(whole))] if step % 2 else whole)
            for _ in range(0 if step % 2 else 60):
                data[rng.randrange(16, len(data))] = rng.randrange(256)
            self.path("d.sqlite").write_bytes(data)
            done = subprocess.run([args.drgpum, "report", self.path("d.sqlite")], capture_output=True, text=True)
            self.assertIn(done.returncode, (0, 3, 4), done.stderr)
            if done.returncode == 3:
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertEqual(sorted(p.name for p in self.folder.glob("d.sqlite*")), ["d.sqlite"])


class KinetoFiles(Case):
    def small(self, **how):
        trace = Kineto(**how)
        trace.slice("user_annotation", "ProfilerStep#1", 0.5, 200.0)
        trace.slice("python_function", "train.py(12): step", 1.0, 100.0)
        trace.slice("cpu_op", "aten::empty", 5.5, 3.25)
        trace.memory(6.125, BASE, 512)
        trace.memory(7.0, 4096, 100, kind=0)
        trace.kernel(20.5, "gemm", grid=[8, 4, 1], block=[256, 1, 1])
        trace.slice("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 40, 4, 0, 7, device=0, stream=7, bytes=4096)
        trace.memory(60.0, BASE + 4096, 1024)
        trace.memory(90.5, BASE, -512)
        return trace

    def test_every_verb(self):
        for name in ("a.json", "a.pt.trace.json.gz"):
            self.every_verb(self.written(self.small(), name), "torch.profiler")

    def test_blocks_and_their_places(self):
        report = self.report(self.written(self.small(), "a.json"))
        self.assertEqual(report["peaks"][0]["bytes"], 1536)
        first = next(o for o in report["objects"] if o["size_bytes"] == 512)
        self.assertEqual((first["alloc"]["function"], first["alloc"]["file"], first["alloc"]["line"]),
                         ("step", "train.py", 12))
        self.assertEqual([f["function"] for f in first["call_path"]], ["step"])
        full = self.report(self.path("a.json"), "--full-stacks")
        first = next(o for o in full["objects"] if o["size_bytes"] == 512)
        self.assertEqual([f["function"] for f in first["call_path"]], ["aten::empty", "step", "ProfilerStep#1"])
        self.assertTrue(any("segments" in text for text in self.gaps(report)))

    def test_forms_give_one_report(self):
        trace = self.small()
        reports = {run("report", self.written(trace, name, array=array), "--format", "json").replace(name, "")
                   for name, array in (("a.json", True), ("b.json", False), ("c.json.gz", False))}
        # A list alone does not tell of devices.
        self.assertEqual(len({json.dumps(json.loads(r)["objects"]) for r in reports}), 1)

    def test_what_was_allocated_before(self):
        trace = self.small(before=5000)
        trace.memory(95.0, BASE + MIB, -3000)
        report = self.report(self.written(trace, "a.json"))
        self.assertEqual(report["peaks"][0]["bytes"], 5000 + 1536)
        self.assertIn("allocated before the trace begins", [o["name"] for o in report["objects"]])
        self.assertTrue(any(text.startswith("device 0: 2000 bytes were allocated before") for text in self.gaps(report)))

    def test_what_the_events_miss(self):
        trace = self.small()
        trace.memory(99.0, BASE + MIB, 64, **{"Total Allocated": 10_000})
        gap, = [text for text in self.gaps(self.report(self.written(trace, "a.json"))) if "more than the events" in text]
        self.assertIn(f"up to {10_000 - 1024 - 64} bytes", gap)

    def test_launches(self):
        text = run("info", "--records", self.written(self.small(), "a.json"))
        launch, = [line for line in text.splitlines() if "kind=launch" in line]
        self.assertIn('name="cudaLaunchKernel"', launch)
        self.assertIn("grid=8,4,1 block=256,1,1", launch)
        self.assertIn("2 device times", run("info", self.path("a.json")))

    def test_random_peaks(self):
        for seed in range(8):
            rng, trace, live, total = random.Random(seed), Kineto(before=777 * seed), {}, 777 * seed
            peak = total
            for step in range(400):
                time = step + rng.randrange(1000) / 1000
                if live and rng.random() < 0.45:
                    address = rng.choice(list(live))
                    trace.memory(time, address, -live[address])
                    total -= live.pop(address)
                else:
                    address, size = BASE + step * MIB, rng.randrange(1, MIB)
                    live[address] = size
                    trace.memory(time, address, size)
                    total += size
                peak = max(peak, total)
            rng.shuffle(trace.events)
            self.assertEqual(self.report(self.written(trace, "r.json"))["peaks"][0]["bytes"], peak)

    def test_hostile(self):
        def with_memory(**values):
            trace = self.small()
            trace.memory(99.0, BASE + MIB, 64, **values)
            return self.written(trace, "bad.json")
        self.refused(with_memory(Bytes="64"), "event 11", "'Bytes' of a [memory] event is no whole number")
        self.refused(with_memory(Bytes=1.5), "event 11", "'Bytes'")
        self.refused(with_memory(Bytes=None), "without 'Bytes'")
        self.refused(with_memory(Addr=None), "without 'Addr'")
        self.refused(with_memory(Bytes=-(1 << 63)), "no block is so large")
        self.refused(with_memory(Bytes=1 << 70), "'Bytes'")
        self.refused(with_memory(Bytes=float("nan")), "byte ", "is no JSON from here on")
        self.refused(with_memory(**{"Device Id": 1 << 33}), "no device has it")
        self.refused(with_memory(**{"Device Id": -1}), "no device has it")
        self.refused(with_memory(Addr=(1 << 64) - 8), "address space")
        trace = self.small()
        trace.events[-1]["ts"] = "soon"
        self.refused(self.written(trace, "bad.json"), "whose 'ts' is no time")
        text = self.written(self.small(), "a.json").read_text()
        self.path("cut.json").write_text(text[:-40])
        self.refused(self.path("cut.json"), "byte ")
        self.path("cut.json.gz").write_bytes(gzip.compress(text.encode())[:-30])
        self.refused(self.path("cut.json.gz"), "cut off")
        self.path("deep.json").write_text('{"traceEvents": ' + "[" * 100_000)
        self.refused(self.path("deep.json"), "deeper than 64")
        host = Kineto()
        host.memory(1.0, 4096, 100, kind=0)
        self.refused(self.written(host, "host.json"), "only memory events of the host (1)", "profile_memory=True")
        self.path("no.json").write_text('{"traceEvents": []}')
        self.refused(self.path("no.json"), "no [memory] events")

    def test_many_open_slices(self):
        trace = self.small()
        for i in range(20_000):
            trace.slice("cpu_op", f"op{i % 50}", 10 + i / 1000, 1000.0)
        for i in range(2_000):
            trace.memory(40 + i / 1000, BASE + (i + 16) * MIB, 512)
        self.assertEqual(len(self.report(self.written(trace, "m.json"), "--top", "1")["objects"]), 2002)


class PprofFiles(Case):
    def small(self):
        profile = Pprof()
        profile.sample((3, 3072), [("kind", "buffer"), ("device", "cuda:0")], [("make", "a.py", 3), ("main", "a.py", 9)])
        profile.sample((1, 500), [("kind", "executable")], [("compile", "a.py", 5)], packed=False)
        profile.sample((2, 64), [("kind", "buffer"), ("device", "cuda:1")])
        return profile

    def test_every_verb(self):
        for name in ("a.prof", "a.pb"):
            self.every_verb(self.written(self.small(), name), "memory profile of JAX")

    def test_live_buffers(self):
        report = self.report(self.written(self.small(), "a.prof"))
        self.assertEqual(report["peaks"][0]["bytes"], 3572)
        self.assertEqual(sorted(o["size_bytes"] for o in report["objects"]), [32, 32, 500, 1024, 1024, 1024])
        self.assertEqual({o["name"] for o in report["objects"]} - {""}, {"executable"})
        buffer = next(o for o in report["objects"] if o["size_bytes"] == 1024)
        self.assertEqual((buffer["alloc"]["file"], buffer["alloc"]["line"]), ("a.py", 3))
        gap, = [g for g in report["coverage"] if "one moment" in g["text"]]
        self.assertEqual((gap["count"], gap["kind"]), (6, "history-cut"))
        self.assertIn("cuda:1", run("info", self.path("a.prof")))

    def test_many_alike_become_one(self):
        profile = Pprof()
        profile.sample((5_000_000, 5_000_000_000), [("kind", "buffer"), ("device", "gpu:0")])
        object, = self.report(self.written(profile, "a.prof"))["objects"]
        self.assertEqual((object["size_bytes"], object["name"]), (5_000_000_000, "5000000 of kind buffer"))

    def test_hostile(self):
        def with_sample(*values):
            profile = self.small()
            profile.sample(values, [("kind", "buffer"), ("device", "cuda:0")])
            return self.written(profile, "bad.prof")
        self.refused(with_sample(1, -512), "sample 4", "'space' is -512")
        self.refused(with_sample(-1, 512), "sample 4", "'allocations' is -1")
        self.refused(with_sample(1 << 62, 1 << 62), "sample 4", "no device holds so many")
        self.refused(with_sample(1), "sample 4", "has no 'space'")
        self.refused(self.written(Pprof((("samples", "count"), ("cpu", "nanoseconds"))), "cpu.pb"),
                     "is a pprof profile of samples, cpu")
        data = self.small().bytes()
        for cut in range(len(data) - 60, len(data) - 1, 7):
            self.path("cut.pb").write_bytes(data[:cut])
            done = subprocess.run([args.drgpum, "report", self.path("cut.pb")], capture_output=True, text=True)
            self.assertIn(done.returncode, (0, 3), done.stderr)
        self.path("cut.pb").write_bytes(data[:-3])
        self.refused(self.path("cut.pb"), "cut off")
        self.path("long.pb").write_bytes(data + b"\x12\xff\xff\xff\xff\x7fabc")
        self.refused(self.path("long.pb"), "cut off")
        self.path("cut.prof").write_bytes(gzip.compress(data)[:-12])
        self.refused(self.path("cut.prof"), "cut off")


unittest.main(argv=[sys.argv[0]])
