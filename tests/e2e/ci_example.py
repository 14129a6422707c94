# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of docs/ci.md as a runner of workflows would: bash -e, one step after the other.

    ci_example.py --drgpum PROGRAM --docs DIR --program PROGRAM

The program leaks, so that its gate on leaks has to fail and every other step has to pass. Steps that build, and actions of
others, are left out.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def steps_of(text):
    """The `run` lines of the workflow, and the commands that stand alone, that call drgpum."""
    workflow = re.search(r"```yaml\n(.*?)```", text, re.S).group(1)
    steps = re.findall(r"^\s+run: (drgpum .*)$", workflow, re.M)
    alone = [line.strip() for line in re.findall(r"^    (drgpum .*)$", text, re.M)]
    return steps, alone


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True, type=pathlib.Path)
    parser.add_argument("--docs", required=True, type=pathlib.Path)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    args = parser.parse_args()
    steps, alone = steps_of((args.docs / "ci.md").read_text())
    wrong = [] if len(steps) == 4 and len(alone) >= 4 else [f"the document has {len(steps)} steps and {len(alone)} commands"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(args.program, folder / "app")
        summary = folder / "summary.md"
        environment = {**os.environ, "PATH": f"{args.drgpum.parent}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(summary)}

        def run(command, status):
            done = subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
                                  timeout=600)
            if done.returncode != status:
                wrong.append(f"{command}: status {done.returncode}, not {status}: {done.stderr}")

        for command in steps:
            run(command, 1 if "memory_leak>0" in command else 0)
        if "GPU memory: peak" not in summary.read_text():
            wrong.append("the summary says nothing")
        if not json.loads((folder / "memory.sarif").read_text())["runs"][0]["results"]:
            wrong.append("SARIF has no results")
        shutil.copy(folder / "app.drgp", folder / "base.drgp")
        (folder / "app.drgp").unlink()
        for command in alone:
            run(command, 1 if "memory_leak>0" in command else 0)
    print("\n".join(wrong) or f"{len(steps)} steps and {len(alone)} commands do what the document says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
