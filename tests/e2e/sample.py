# SPDX-License-Identifier: Apache-2.0
"""Runs a sample under drgpum and compares what is found with the sample's expected.txt.

    sample.py --drgpum PROGRAM --programs DIR --sample DIR (--emulator DIR | --device gpu)
              [--mode intra] [--update]

For each variant (naive, fixed) that was built: the program's standard output and exit status must be
the same with and without the tool, its own check must pass, the report must be complete,
and the findings, one a line, must be those of expected.txt. --update writes the file anew.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run_program(args, program, *extra):
    """Returns the finished process of `drgpum run` on the program."""
    command = [args.drgpum, "run", "--device", args.device, "-q", *extra, "--", str(program)]
    return subprocess.run(command, capture_output=True, timeout=600)


def misfits(args, trace, report):
    """What of the JSON and the SARIF report does not fit their schemas."""
    sys.path.insert(0, str(ROOT / "tests/support"))
    import json_schema
    rules = json.loads((ROOT / "proto/report.schema.json").read_text())
    yield from json_schema.check(report, rules, rules)
    made = subprocess.run([args.drgpum, "report", str(trace), "--format", "sarif"], capture_output=True, timeout=600)
    rules = json.loads((ROOT / "tests/support/sarif.schema.json").read_text())
    yield from json_schema.check(json.loads(made.stdout), rules, rules)


def describe(report):
    """The peak and the findings of a JSON report, as lines that do not depend on addresses or paths."""
    objects = {item["id"]: item for item in report["objects"]}

    def name(object_id):
        return objects[object_id]["name"] or f"object {object_id}"

    lines = [f"peak {report['peaks'][0]['bytes'] if report['peaks'] else 0}"]
    for finding in report["findings"]:
        item = objects[finding["object"]]
        where = item["alloc"] or {}
        words = [
            finding["pattern"],
            name(finding["object"]),
            finding["certainty"],
            f"distance={finding['distance']}",
            f"wasted={finding['wasted_bytes']}",
            f"alone={finding['peak_saving_bytes']}",
            f"joint={finding['joint_saving_bytes']}",
            f"idle={finding['idle_at_peak_bytes']}",
        ]
        if "host" in finding["evidence"]:
            words.append(f"host={name(finding['evidence']['host'])}")
        for key in ("accessed_share", "fragmentation", "variation", "hot_range", "parts", "equal"):
            if key in finding["evidence"]:
                value = finding["evidence"][key]
                words.append(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}".replace(" ", ""))
        if finding["superseded_by"] is not None:
            words.append("superseded")
        words.append(f"at {pathlib.Path(where.get('file') or '?').name}:{where.get('line')}")
        lines.append(" ".join(words))
    return lines


def profile(args, program, folder):
    """Runs the program with and without patches; returns the description of its report."""
    trace = pathlib.Path(folder) / f"{program.name}.drgp"
    environment = dict(os.environ)
    if args.device == "emulated":
        environment["LD_LIBRARY_PATH"] = str(args.emulator)
    bare = subprocess.run([str(program)], capture_output=True, timeout=600, env=environment)
    traced = run_program(args, program, "-o", str(trace), "--mode", args.mode)
    problems = []
    if traced.returncode != 0:
        problems.append(f"{program}: exit status {traced.returncode}: {traced.stderr.decode()}")
    for what in ("returncode", "stdout", "stderr"):
        if getattr(bare, what) != getattr(traced, what):
            problems.append(f"{program}: {what} differs: {getattr(bare, what)!r} without, "
                            f"{getattr(traced, what)!r} with the tool")
    if problems:
        return [], problems
    made = subprocess.run([args.drgpum, "report", str(trace), "--format", "json"], capture_output=True, timeout=600)
    if made.returncode != 0:
        return [], [f"{program}: drgpum report ended with {made.returncode}: {made.stderr.decode()}"]
    report = json.loads(made.stdout)
    problems += [f"{program}: {line}" for line in misfits(args, trace, report)]
    if not report["complete"]:
        problems.append(f"{program}: the report says that it is not complete")
    if report["coverage"]:
        problems.append(f"{program}: coverage is not full: {report['coverage']}")
    return describe(report), problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("--programs", required=True, type=pathlib.Path, help="folder of the built variants")
    parser.add_argument("--sample", required=True, type=pathlib.Path, help="folder of the sources and expected.txt")
    parser.add_argument("--device", default="emulated")
    parser.add_argument("--mode", default="object", choices=["object", "intra"])
    parser.add_argument("--emulator", type=pathlib.Path, help="folder of the emulated device's libraries")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()

    found, problems = [], []
    with tempfile.TemporaryDirectory() as folder:
        for variant in ("naive", "fixed"):
            program = args.programs / variant
            if program.exists():
                lines, wrong = profile(args, program, folder)
                found += [f"[{variant}]", *lines]
                problems += wrong
    if not found:
        problems.append(f"{args.programs}: neither naive nor fixed is built")

    expected_file = args.sample / "expected.txt"
    if args.update and not problems:
        expected_file.write_text("\n".join(found) + "\n")
    expected = expected_file.read_text().splitlines() if expected_file.exists() else []
    if found != expected and not problems:
        problems.append("\n".join([f"{expected_file}: expected", *expected, "but found", *found]))
    print("\n".join(problems or found))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
