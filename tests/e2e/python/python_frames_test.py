# SPDX-License-Identifier: Apache-2.0
"""Call paths of a Python program: functions and lines of Python in the place of the interpreter's, innermost first.

    python_frames_test.py --drgpum PROGRAM [--python PROGRAM]

With a Python whose frames drgpum does not know, paths stay native and nothing else changes.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE / "allocates.py"


def output(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
    return done.stdout


def line_of(text):
    return next(k for k, line in enumerate(PROGRAM.read_text().splitlines(), 1) if text in line)


def expected():
    """By size: functions and lines up to the module's, innermost first."""
    call = ("allocate", line_of("status = library"))
    last = lambda text: ("<module>", line_of(text))
    grow, hello, key, generated = (line_of(text) for text in ("return allocate(library, line())", "return allocate(held, line())",
                                                              "return sorted(", "yield allocate("))
    return {
        grow: [call, ("Pool.grow", grow)],
        hello: [call, ("grüße", hello)],
        key * 10 + 1: [call, ("out_of_c.<locals>.<lambda>", key), ("out_of_c", key)],
        key * 10 + 2: [call, ("out_of_c.<locals>.<lambda>", key), ("out_of_c", key)],
        generated: [call, ("generated", generated), last("list(generated())")],
        7: [call, ("<module>", 7), last("exec(compile(")],
        line_of("threading.Thread("): [call, ("<lambda>", line_of("threading.Thread("))],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("--python", default=sys.executable)
    a = parser.parse_args()
    version = output(a.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "t.drgp"
        told = subprocess.run([a.drgpum, "run", "--device", "emulated", "-q", "-o", trace, "--", a.python, PROGRAM],
                              capture_output=True, text=True, timeout=120)
        if told.returncode != 0 or told.stderr:
            sys.exit(f"run: status {told.returncode}: {told.stderr}")
        report = json.loads(output(a.drgpum, "report", trace, "--format", "json"))
        text = output(a.drgpum, "report", trace)
        records = output(a.drgpum, "info", "--records", trace)
    found = {}
    for one in report["objects"]:
        path = [(frame["function"], frame["line"], frame["file"]) for frame in one["call_path"]]
        found.setdefault(one["size_bytes"], []).append(path)
    if version != "3.11":
        if "source-frame" in records or not report["objects"]:
            wrong.append(f"Python {version} is not known, and yet: {found}")
    else:
        for size, frames in expected().items():
            for path in found.get(size, [[]]):
                if [frame[:2] for frame in path[:len(frames)]] != frames:
                    wrong.append(f"size {size}: {path}, not {frames}")
        if len(found.get(line_of("return allocate(library, line())"), [])) != 2:
            wrong.append(f"with the lock held and without: {sorted(found)}")
        for paths in found.values():
            for path in paths:
                wrong += [f"a frame of the interpreter: {path}" for frame in path if not frame[2]]
        if "allocates.py" not in text:
            wrong.append("the report names no line: " + text)
    print("\n".join(wrong) or f"Python {version}: as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
