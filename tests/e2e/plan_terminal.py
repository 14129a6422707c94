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

    def start(self, *words):
        """D.1048576.csv keeps the search busy: its optimum is not known."""
        ours, theirs = pty.openpty()
        command = [ARGS.drgpum, "plan", str(ARGS.data / "D.1048576.csv"), *words, "-o", str(self.plan)]
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
        process, terminal = self.start("--time-limit", "600")
        shown = self.wait_for(terminal, "above the least possible")
        self.assertRegex(shown, r"[\d.]+ s  [\d.]+ [KM]iB .*, at most [\d.]+ % above the least possible")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        os.close(terminal)
        self.assertEqual(process.returncode, 0, out)
        self.assertIn("pool", out)
        plan = json.loads(self.plan.read_text())
        self.assertLess(plan["footprint_bytes"], 1.5 * plan["load_bytes"])
        check = subprocess.run([ARGS.drgpum, "plan", str(ARGS.data / "D.1048576.csv"), "--check", str(self.plan)],
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    ARGS = parser.parse_args()
    unittest.main(argv=sys.argv[:1])
