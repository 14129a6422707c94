# SPDX-License-Identifier: Apache-2.0
"""What programs include and import, installed into a prefix of its own: drgpum.h compiles there as C99 and as C++ with
all warnings, the programs run without the tool, and the Python module is imported from there."""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

BODY = """#include <drgpum.h>
int main(void) {
  int pool[4] = {0};
  drgpum_pool(pool, sizeof pool, "pool");
  drgpum_alloc(pool, 4, "part");
  drgpum_push("phase");
  drgpum_pop();
  drgpum_free(pool);
  return 0;
}
"""
PYTHON = "import drgpum\nwith drgpum.region('forward'):\n    drgpum.iteration(1)\nprint(drgpum.__file__)"


def run(*command, **more):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--cmake", "--build", "--cxx"):
        parser.add_argument(option, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        prefix = Path(name)
        run(args.cmake, "--install", args.build, "--component", "api", "--prefix", prefix)
        for language, standard in (("c", "c99"), ("c++", "c++11")):
            source = prefix / ("program." + language.replace("+", "p"))
            source.write_text(BODY)
            # -ldl: needed before glibc 2.34.
            run(args.cxx, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", source, "-I",
                prefix / "include", "-x", "none", "-ldl", "-o", prefix / language)
            run(prefix / language)
        folder = prefix / "lib/drgpum/python"
        found = run(sys.executable, "-c", PYTHON, env=dict(os.environ, PYTHONPATH=str(folder), PYTHONDONTWRITEBYTECODE="1"))
        if Path(found.strip()) != folder / "drgpum.py":
            sys.exit(f"the module comes from {found}")
    print("header and module work from the prefix")


if __name__ == "__main__":
    main()
