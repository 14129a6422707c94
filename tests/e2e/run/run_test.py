# SPDX-License-Identifier: Apache-2.0
"""`drgpum run` against the bare program: output, exit status and signals are the same, byte for
byte, and each trace tells what happened.

    run_test.py --drgpum PROGRAM --emulator DIR --program DIR/behaviour --front-end PROGRAM
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

ARGS = None


def bare(*words, **options):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(ARGS.emulator))
    return subprocess.run([ARGS.program, *words], capture_output=True, env=environment, timeout=60, **options)


class Run(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.holder.name)
        self.trace = self.folder / "t.drgp"

    def tearDown(self):
        self.holder.cleanup()

    def run_under(self, *words, options=("-q",), **more):
        command = [ARGS.drgpum, "run", "--device", "emulated", "-o", str(self.trace), *options, "--", *words]
        return subprocess.run(command, capture_output=True, timeout=60, **more)

    def records(self, trace=None, check=0):
        done = subprocess.run([ARGS.drgpum, "info", "--records", str(trace or self.trace)], capture_output=True, text=True)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        return done.stdout.splitlines()

    def state(self, trace=None):
        done = subprocess.run([ARGS.drgpum, "info", str(trace or self.trace)], capture_output=True, text=True)
        return done.returncode, done.stdout

    def lines(self, beginning, trace=None):
        return [line for line in self.records(trace) if line.startswith(beginning)]

    # The leak sanitizer can look neither into a copy without threads nor into threads that live at exit.
    def without_leak_check(self):
        options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        return unittest.mock.patch.dict(os.environ, ASAN_OPTIONS=options)

    def compare(self, *words, **options):
        expected, actual = bare(*words), self.run_under(ARGS.program, *words, **options)
        self.assertEqual(actual.stdout, expected.stdout, words)
        self.assertEqual(actual.stderr, expected.stderr, words)
        self.assertEqual(actual.returncode, expected.returncode, words)
        return actual

    def test_exit_statuses_pass_through(self):
        for status in (0, 1, 77, 255):
            with self.subTest(status):
                self.trace = self.folder / f"{status}.drgp"
                self.assertEqual(self.compare("exit", str(status)).returncode, status)
                self.assertIn(f"exit_code={status}", self.lines("end api_count")[0])
                self.assertEqual(self.state()[0], 0)

    def test_signals_pass_through_and_the_trace_says_that_it_ends_early(self):
        for word, number in (("abort", 6), ("null", 11), ("signal", 9), ("signal", 15), ("signal", 10)):
            with self.subTest(f"{word} {number}"):
                self.trace = self.folder / f"{word}{number}.drgp"
                self.assertEqual(self.compare(word, str(number)).returncode, -number)
                self.assertEqual(self.state()[0], 4)
                self.assertEqual(len(self.lines("call ")), 3, "what was recorded is there")
                self.assertEqual(len(self.lines("access ")), 1)

    def test_ends_that_skip_handlers(self):
        for word in ("_exit", "quick_exit"):
            with self.subTest(word):
                self.trace = self.folder / f"{word}.drgp"
                self.compare(word, "7")
                self.assertEqual(len(self.lines("call ")), 3)

    def test_a_forked_child_leaves_the_trace_alone(self):
        self.compare("fork")
        self.assertEqual(self.state()[0], 0)
        self.assertEqual(list(self.folder.glob("*.drgp")), [self.trace])

    def test_a_child_that_uses_cuda_has_a_trace_of_its_own(self):
        self.compare("exec")
        traces = sorted(self.folder.glob("*.drgp"))
        self.assertEqual(len(traces), 2, traces)
        for trace in traces:
            self.assertEqual(self.state(trace)[0], 0)
        self.trace = self.folder / "alone.drgp"
        self.run_under(ARGS.program, "exec", options=("-q", "--target-processes", "application-only"))
        self.assertEqual(len(list(self.folder.glob("*.drgp"))), 3)

    def test_a_copy_that_no_fork_handler_hears_of_leaves_the_trace_alone(self):
        for options in (("-q",), ("-q", "--mode", "intra", "--fidelity")):
            with self.subTest(options), self.without_leak_check():
                began = time.monotonic()
                self.compare("clone", options=(*options, "-f"))
                self.assertLess(time.monotonic() - began, 20, "the copy has no thread to wait for")
                self.assertEqual(self.state()[0], 0)
                self.assertEqual(len(self.lines("call ")), 3)

    @unittest.skipIf("address" in os.environ.get("DRGPUM_SANITIZE", ""),
                     "a child that is forked beside other threads may find the locks of gcc 12's address sanitizer held")
    def test_children_and_the_exit_beside_threads_that_launch(self):
        for mode in ("object", "intra"):
            with self.subTest(mode):
                self.compare("beside", "20", options=("-q", "-f", "--mode", mode))
                self.assertEqual(self.state()[0], 0)

    def test_a_stream_that_waits_for_the_program_is_not_waited_for(self):
        options = ("-q", "--mode", "intra", "--map-memory", "1M")
        with self.without_leak_check():
            self.compare("held", options=options)
        self.assertEqual(len(self.lines("access ")) - 302 + len(self.lines("coverage ")), 0)

    def test_launches_after_main_are_seen_however_maps_are_reduced(self):
        seen = []
        for option in ((), ("--fidelity",)):
            self.compare("late-launch", options=("-q", "-f", "--mode", "intra", *option))
            self.assertEqual(self.lines("coverage "), [])
            seen.append(sorted(self.lines("access ") + self.lines("map ")))
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(len(seen[0]), 6)

    def test_threads(self):
        self.compare("threads")
        calls = self.lines("call ")
        self.assertEqual([int(line.split()[1][3:]) for line in calls], list(range(len(calls))))
        self.assertEqual(len([line for line in calls if "kind=alloc" in line]), 81)
        self.assertEqual(len(self.lines("access ")), 81)
        self.assertGreater(len({line.split("thread=")[1].split()[0] for line in calls}), 4)

    def test_a_free_after_main_is_no_leak(self):
        self.compare("late-free")
        self.assertEqual(len([line for line in self.lines("call ") if "kind=free" in line]), 1)

    def test_a_failed_allocation_is_recorded(self):
        self.compare("oom")
        failed = [line for line in self.lines("call ") if "error=2" in line]
        self.assertEqual(len(failed), 1)
        self.assertIn(f"requested={1 << 50}", failed[0])

    def test_graphs(self):
        self.compare("graph")
        calls = [line for line in self.lines("call ") if "kind=graph " in line or "graph_launch=" in line]
        kinds = [line.split("kind=")[1].split()[0] for line in calls]
        self.assertEqual(kinds, ["graph", "launch", "launch", "memcpy"] * 2)
        first = int(calls[0].split()[1][3:])
        self.assertIn(f"depends_on={first + 1} ", calls[2])
        self.assertIn(f"depends_on={first + 2} ", calls[3])
        accesses = [line.split()[1:3] for line in self.lines("access ")]
        self.assertIn([f"api={first + 1}", "object=0"], accesses)
        self.assertIn([f"api={first + 2}", "object=1"], accesses)
        self.assertEqual(len(accesses), 5)

    def test_the_first_call_has_its_own_name(self):
        self.compare("free")
        self.assertIn('name="cudaMalloc"', self.lines("call ")[0])
        self.assertIn('name="cudaFree"', self.lines("call ")[3])

    def test_call_paths_begin_in_the_program_and_end_in_main(self):
        self.compare("exit", "0")
        path = self.lines("path id=1 ")[0]
        self.assertLessEqual(path.count("0x"), 3, path)

    def test_standard_input_reaches_the_program(self):
        done = self.run_under("/bin/cat", input=b"some\0bytes")
        self.assertEqual((done.stdout, done.stderr, done.returncode), (b"some\0bytes", b"", 0))

    def test_a_program_without_cuda_leaves_nothing(self):
        self.assertEqual(self.compare("no-cuda", "6").returncode, 6)
        self.assertEqual(list(self.folder.iterdir()), [])
        done = self.run_under(ARGS.program, "no-cuda", options=())
        self.assertIn(b"did not use CUDA", done.stderr)

    def test_errors_are_one_line_with_a_status(self):
        self.trace.touch()
        cases = (
            (("./no-such",), 127, b"not found"),
            (("/etc/passwd",), 126, b"not executable"),
            ((ARGS.program,), 125, b"give -f"),
        )
        for words, status, text in cases:
            done = self.run_under(*words)
            self.assertEqual(done.returncode, status)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertEqual(self.trace.read_bytes(), b"")
        self.assertEqual(self.run_under(ARGS.program, options=("-q", "-f")).returncode, 0)
        self.trace = self.folder / "no/folder.drgp"
        self.assertEqual(self.run_under(ARGS.program).returncode, 125)

    def test_a_killed_program_leaves_a_trace(self):
        command = [ARGS.drgpum, "run", "--device", "emulated", "-q", "-o", str(self.trace), ARGS.program, "wait"]
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number), subprocess.Popen(command + [], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                line = b" "
                while line and b"waiting" not in line:
                    line = process.stdout.readline()
                self.assertIn(b"waiting", line)
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=60), -number)
                process.stdout.read()  # until the program itself has gone
                self.assertEqual(self.state()[0], 4)
                self.assertEqual(len(self.lines("access ")), 1)
                self.trace.unlink()

    def test_the_report_goes_to_stderr_or_to_a_file(self):
        done = self.run_under(ARGS.program, options=())
        self.assertIn(b"peak 3.9 KiB", done.stderr)
        log = self.folder / "log"
        self.trace = self.folder / "u.drgp"
        done = self.run_under(ARGS.program, options=("--log-file", str(log)))
        self.assertEqual(done.stderr, b"to stderr\n")
        self.assertIn("peak 3.9 KiB", log.read_text())

    def test_size_limit_stops_the_recording_and_not_the_program(self):
        done = self.run_under(ARGS.program, "threads", "300", options=("-q", "--max-size", "64K"))
        self.assertEqual(done.stdout, bare("threads", "300").stdout)
        self.assertLessEqual(self.trace.stat().st_size, 64 << 10)
        self.assertEqual(self.state()[0], 4)

    def test_the_front_end_runs_drgpum(self):
        command = [ARGS.front_end, "--tool", "drgpum", "--device", "emulated", "--save", str(self.trace), "-q", ARGS.program, "exit", "7"]
        done = subprocess.run(command, capture_output=True, timeout=120)
        self.assertEqual((done.stdout, done.returncode), (bare("exit", "7").stdout, 7))
        self.assertEqual(self.state()[0], 0)

    def timed(self, trace=None):
        """The device's calls of a trace, and those of them that have a time."""
        kinds = ("kind=launch", "kind=memcpy", "kind=memset")
        device = {line.split()[1][3:] for line in self.lines("call ", trace) if any(kind in line for kind in kinds)}
        times = {line.split()[1][4:] for line in self.lines("time ", trace)}
        return device, device & times

    def test_a_timing_run_adds_times_and_changes_nothing_else(self):
        for word in ("exit", "graph", "free", "late-free"):
            with self.subTest(word):
                self.trace = self.folder / f"{word}.drgp"
                expected = bare(word)
                done = self.run_under(ARGS.program, word, options=("-q", "--timing"))
                self.assertEqual((done.stdout, done.stderr, done.returncode),
                                 (expected.stdout, expected.stderr, expected.returncode))
                self.assertEqual(self.state()[0], 0)
                device, timed = self.timed()
                self.assertEqual(device, timed)
                self.assertGreater(len(device), 1)
                self.assertEqual(self.lines("coverage "), [])
                self.assertEqual([path.name for path in self.folder.glob("*.timed")], [])

    def test_times_follow_on_each_other_on_a_stream(self):
        self.run_under(ARGS.program, "graph", options=("-q", "--timing"))
        spans = []
        for line in self.lines("time "):
            fields = dict(word.split("=") for word in line.split()[1:])
            spans.append((int(fields.get("begin_ns", 0)), int(fields.get("end_ns", 0)), fields.get("api", "0")))
        launches = {line.split()[1][3:] for line in self.lines("call ") if "kind=launch" in line}
        kernels = sorted(span for span in spans if span[2] in launches)
        self.assertGreater(len(kernels), 4)
        for before, after in zip(kernels, kernels[1:]):
            self.assertLess(before[0], before[1])
            self.assertLessEqual(before[1], after[0])

    def test_every_process_of_a_run_gets_times(self):
        self.run_under(ARGS.program, "exec", options=("-q", "--timing"))
        traces = sorted(self.folder.glob("*.drgp"))
        self.assertEqual(len(traces), 2)
        for trace in traces:
            device, timed = self.timed(trace)
            self.assertEqual(device, timed)

    def test_threads_change_places_and_still_get_times(self):
        self.run_under(ARGS.program, "threads", options=("-q", "--timing"))
        device, timed = self.timed()
        self.assertGreaterEqual(len(timed), 0.9 * len(device))

    def test_a_program_that_dies_gets_no_times(self):
        done = self.run_under(ARGS.program, "abort", options=("-q", "--timing"))
        self.assertEqual(done.returncode, -6)
        self.assertIn(b"no device times", done.stderr)
        self.assertEqual(self.lines("time "), [])

    def test_a_timing_run_reads_the_same_input(self):
        source = self.folder / "input"
        source.write_bytes(b"skipped\nread\n")
        script = 'read line; [ "$line" = read ] || exit 9; exec "$0" exit 0'
        with source.open("rb") as file:
            os.lseek(file.fileno(), 8, os.SEEK_SET)
            done = self.run_under("/bin/sh", "-c", script, ARGS.program, options=("-q", "--timing"), stdin=file)
        self.assertEqual(done.returncode, 0, done.stderr)
        device, timed = self.timed()
        self.assertEqual(device, timed)
        self.assertGreater(len(device), 1)

    def test_maps_inside_the_objects(self):
        self.run_under(ARGS.program, options=("-q", "--mode", "intra"))
        (line,) = self.lines("map ")
        self.assertIn("exact=yes written_ranges=[0:4000) counted_cells=1000 count_mean=1.0", line)

    def test_the_tool_gives_its_memory_back_before_the_program_runs_out(self):
        with unittest.mock.patch.dict(os.environ, DRGPUM_EMULATOR_DEVICE_MEMORY="256MiB"):
            expected = bare("full").stdout
            self.assertIn(b"31 blocks", expected)
            for options in (("--mode", "object"), ("--mode", "intra"), ("--mode", "intra", "--fidelity")):
                with self.subTest(options):
                    done = self.run_under(ARGS.program, "full", options=("-q", "-f", *options))
                    self.assertEqual(done.stdout, expected)
                    launches = [line for line in self.lines("call id=") if " kind=launch " in line]
                    self.assertEqual(len(launches), 32)
                    # What could not be observed for want of memory is said.
                    unseen = [line for line in self.lines("coverage ") if "kind=slots-full" in line]
                    self.assertGreaterEqual(len(self.lines("access ")) + len(unseen), 32)

    def test_whatever_kind_of_memory_the_program_fills(self):
        for word in ("full-async", "full-arrays", "full-tiny", "full-graph"):
            for mode, reduction in (("object", "host"), ("intra", "host"), ("intra", "device")):
                with self.subTest(word=word, mode=mode, reduction=reduction):
                    settings = {
                        "DRGPUM_EMULATOR_DEVICE_MEMORY": "64MiB" if word == "full-tiny" else "256MiB",
                        "DRGPUM_MAP_REDUCTION": reduction,
                    }
                    with unittest.mock.patch.dict(os.environ, settings):
                        self.compare(word, options=("-q", "-f", "--mode", mode))

    def test_both_ways_to_run_patches_agree(self):
        seen = []
        for mode in ("object", "intra"):
            for option in ((), ("--fidelity",)):
                self.trace = self.folder / f"{mode}{len(option)}.drgp"
                self.run_under(ARGS.program, options=("-q", "--mode", mode, *option))
                seen.append(self.lines("access ") + self.lines("map "))
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[2], seen[3])
        self.assertEqual(len(seen[0]), 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("drgpum", "emulator", "program", "front-end"):
        parser.add_argument(f"--{name}", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
