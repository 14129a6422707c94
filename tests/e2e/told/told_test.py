# SPDX-License-Identifier: Apache-2.0
"""Programs that tell drgpum of pools, names and phases, and what the trace and the report then hold.

    told_test.py --drgpum PROGRAM --emulator DIR --program PROGRAM --header PROGRAM --api DIR --pool PROGRAM
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ARGS = None
HERE = pathlib.Path(__file__).parent


class Told(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.trace = pathlib.Path(self.holder.name) / "t.drgp"

    def tearDown(self):
        self.holder.cleanup()

    def run_under(self, *words, options=()):
        command = [ARGS.drgpum, "run", "--device", "emulated", "-q", "-f", "-o", str(self.trace), *options, "--", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        return done.stdout

    def records(self):
        done = subprocess.run([ARGS.drgpum, "info", "--records", str(self.trace)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def marks(self):
        return [re.search(r"\{kind=(.*)\}", line)[1] for line in self.records() if "kind=mark" in line]

    def objects(self):
        """(name, size, parent) of every part, by the latest name."""
        parts, names = {}, {}
        for line in self.records():
            found = re.match(r'object id=(\d+) kind=sub parent=(\d+) .* size=(\d+) .*?(?:name="(.*?)")?$', line)
            if found:
                parts[found[1]] = (int(found[3]), int(found[2]))
                names[found[1]] = found[4] or ""
            renamed = re.match(r'name id=(\d+) name="(.*)"', line)
            if renamed:
                names[renamed[1]] = renamed[2]
        return [(names[number], *part) for number, part in parts.items()]

    def report(self, *options):
        done = subprocess.run([ARGS.drgpum, "report", str(self.trace), "--format", "json", *options],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_header_does_nothing_without_the_tool(self):
        done = subprocess.run([ARGS.header], capture_output=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr, done.returncode), (b"", b"", 0))
        elsewhere = dict(os.environ, CUDA_INJECTION64_PATH="/no/such/libdrgpum.so")
        self.assertEqual(subprocess.run([ARGS.header], env=elsewhere, timeout=60).returncode, 0)

    def test_the_header_tells_of_pools_names_and_phases(self):
        self.run_under(ARGS.program)
        self.assertEqual(self.objects(), [
            ("arena", 16384, 0), ("activations", 4096, 1), ("activations", 4096, 1), ("left over", 4096, 1)])
        self.assertIn('name id=0 name="base"', self.records())
        self.assertEqual(self.marks(), [
            'push name="all"', 'iteration name="0"', 'push name="forward"', 'mark name="launched"',
            'pop name="forward"', 'iteration name="1"', 'push name="forward"', "capture-stop", "capture-start",
            'mark name="launched"', 'pop name="forward"', 'pop name="all"'])
        accesses = [line.split()[2] for line in self.records() if line.startswith("access ")]
        self.assertEqual(accesses, ["object=2"], "the launch between stop and start is not observed")
        self.assertEqual([c["kind"] for c in self.report()["coverage"]], ["unsampled-launch"])

    def test_phases_bound_the_recording(self):
        self.run_under(ARGS.program, options=("--capture-range", "forward"))
        bounds = [mark for mark in self.marks() if mark.startswith("capture")]
        self.assertEqual(bounds, ["capture-start", "capture-stop"] * 2, "drgpum_stop and _start have no say then")
        accesses = [line.split()[2] for line in self.records() if line.startswith("access ")]
        self.assertEqual(accesses, ["object=2", "object=3"])

    def test_nobody_listens_with_hooks_off(self):
        self.run_under(ARGS.pool, options=("--hooks", "off"))
        self.assertEqual(self.objects(), [])

    def test_a_pool_is_not_blamed_for_its_tensors(self):
        self.run_under(ARGS.pool, options=("--mode", "intra"))
        tensors = self.report()
        self.assertEqual(tensors["level"], "tensor")
        names = {o["id"]: o["name"] for o in tensors["objects"]}
        found = {(f["pattern"], names[f["object"]]) for f in tensors["findings"]}
        self.assertIn(("unused_allocation", "mask"), found)
        self.assertIn(("early_allocation", "workspace"), found)
        whole = self.report("--level", "allocation")
        self.assertEqual(whole["level"], "allocation")
        self.assertEqual([f["pattern"] for f in whole["findings"]
                          if f["pattern"] in ("overallocation", "unused_allocation", "temporary_idleness")],
                         ["overallocation"], "the mask, a quarter of the pool, is touched by nothing")
        self.assertEqual(whole["peaks"][0]["bytes"], tensors["peaks"][0]["bytes"])
        self.assertEqual(len(whole["peaks"][0]["objects"]), 1)
        self.assertEqual(len(tensors["peaks"][0]["objects"]), 4)

    @unittest.skipIf("DRGPUM_SANITIZED" in os.environ, "sanitizers' runtimes have to be in the interpreter")
    def test_the_python_module(self):
        self.assertEqual(self.run_under(sys.executable, str(HERE / "talks.py"), ARGS.api), "True\n")
        self.assertEqual(self.objects(), [("renamed", 4096, 0), ("", 1024, 0), ("", 2048, 0)])
        self.assertEqual(self.marks(), [
            'iteration name="7"', 'push name="forward"', 'mark name="cleared"', 'pop name="forward"',
            'push name="decorated"', 'pop name="decorated"', "capture-stop", "capture-start", 'push name="solve"',
            'push name="axpy"', 'pop name="axpy"', 'pop name="solve"'])
        names = [line for line in self.records() if line.startswith("name id=0")]
        self.assertEqual(names, ['name id=0 name="arena"', 'name id=0 name="net.layer.weight"', 'name id=0 name="view"'])
        self.assertEqual(self.report()["coverage"], [])

    @unittest.skipIf("DRGPUM_SANITIZED" in os.environ, "sanitizers' runtimes have to be in the interpreter")
    def test_the_python_module_without_the_tool(self):
        environment = {k: v for k, v in os.environ.items() if k != "CUDA_INJECTION64_PATH"}
        done = subprocess.run([sys.executable, str(HERE / "talks.py"), ARGS.api], capture_output=True, text=True,
                              env=dict(environment, LD_LIBRARY_PATH=ARGS.emulator), timeout=120)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("False\n", "", 0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("drgpum", "emulator", "program", "header", "api", "pool"):
        parser.add_argument(f"--{name}", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
