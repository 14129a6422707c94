# SPDX-License-Identifier: Apache-2.0
"""`drgpum plan` on a terminal: what it shows while it searches, and what Ctrl-C leaves.

    plan_terminal.py --drgpum PROGRAM --data DIR
"""

import argparse
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ARGS = None


class Terminal(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.plan = pathlib.Path(self.holder.name) / "plan.json"

    def tearDown(self):
        self.holder.cleanup()

    def start(self, table, *words):
        ours, theirs = pty.openpty()
        command = [ARGS.drgpum, "plan", str(table), *words, "-o", str(self.plan)]
        process = subprocess.Popen(command, stderr=theirs, stdout=subprocess.PIPE, text=True)
        os.close(theirs)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, ours

    def wait_for(self, terminal, text, seconds=120):
        shown, end = "", time.monotonic() + seconds
        while text not in shown:
            self.assertLess(time.monotonic(), end, shown)
            if not select.select([terminal], [], [], 1)[0]:
                continue
            shown += os.read(terminal, 4096).decode()
        return shown

    def test_progress_names_the_best_plan_and_an_interrupt_prints_it(self):
        # The optimum of D is not known: the search goes on.
        table = ARGS.data / "D.1048576.csv"
        process, terminal = self.start(table, "--time-limit", "600")
        shown = self.wait_for(terminal, "above the least possible")
        self.assertRegex(shown, r"[\d.]+ s  [\d.]+ [KM]iB .*, at most [\d.]+ % above the least possible")
        out = self.interrupt(process, terminal)
        self.assertIn("pool", out)
        plan = json.loads(self.plan.read_text())
        self.assertLess(plan["footprint_bytes"], 1.5 * plan["load_bytes"])
        self.referee(table)

    def test_planning_swaps_tells_how_far_it_is_and_an_interrupt_prints_the_best_swaps(self):
        table = pathlib.Path(self.holder.name) / "events.csv"
        table.write_text(long_training(layers=700))
        process, terminal = self.start(table, "--autoswap")
        shown = self.wait_for(terminal, "slower at most")
        self.assertRegex(shown, r"[\d.]+ s  swapping at [\d.]+ [KMG]iB .*: [\d.e-]+ % slower at most")
        out = self.interrupt(process, terminal)
        self.assertIn("swapping", out)
        swap = json.loads(self.plan.read_text())["autoswap"]
        self.assertTrue(swap["feasible"])
        self.assertLessEqual(swap["limit_bytes"], swap["unlimited_peak_bytes"])
        self.referee(table)

    def interrupt(self, process, terminal):
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        os.close(terminal)
        self.assertEqual(process.returncode, 0, out)
        return out

    def referee(self, table):
        check = subprocess.run([ARGS.drgpum, "plan", str(table), "--check", str(self.plan)],
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)


def long_training(layers):
    """Outputs of 2 to 9 MB, written forwards and read backwards, a tenth of a millisecond each: too fast for the link."""
    rows = ["time_ns,op,id,size"]
    for layer in range(layers):
        rows += [f"{layer}00000,malloc,o{layer},{2000000 + layer * 7919 % 7000000}", f"{layer}00000,write,o{layer},"]
    for step, layer in enumerate(reversed(range(layers)), start=layers):
        rows += [f"{step}00000,read,o{layer},", f"{step}90000,free,o{layer},"]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    ARGS = parser.parse_args()
    unittest.main(argv=sys.argv[:1])
