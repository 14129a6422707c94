#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `drgpum report` takes to name the lines of many distinct frames of one large program, and the memory that it
and its limited child hold; then the same again, from the cache.

    symbolize.py --build BUILD_FOLDER [--mib 500] [--frames 100000 --frames 1000000] [--keep FOLDER]

The program: optimised C++ with inlining, compiled with -g into a few objects, which are linked many times over with
their one visible symbol renamed. --keep: where it is left, and found by the next run.
"""

import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "corpus"))
import host_lines  # noqa: E402  (functions_of, spread)

BIAS = 0x555555554000
HEAD = """#include <algorithm>
#include <map>
#include <string>
#include <vector>
namespace {
template <int n> inline long fold(long x) { return fold<n - 1>(x * 3 + n) ^ (x >> 2); }
template <> inline long fold<0>(long x) { return x; }
template <typename T> inline T clamp_to(T x, T low, T high) {
  if (x < low)
    return low;
  return x > high ? high : x;
}
struct Span {
  long* from;
  long* to;
  long size() const { return to - from; }
  long& at(long k) const { return from[clamp_to(k, 0l, size() - 1)]; }
};
"""
BODIES = [
    "std::sort(s.from, s.to, [k](long a, long b) {{ return fold<{n}>(a) < fold<{m}>(b) + k; }});",
    "for (long i = 0; i < s.size(); ++i)\n    s.at(i) = fold<{n}>(s.at(i + {m})) + clamp_to(k, {n}l, {c}l);",
    "std::string text(\"{c}\");\n  for (long i = 0; i < k; ++i)\n    text += static_cast<char>(fold<{n}>(i));\n  s.at(0) += text.size();",
    "std::vector<long> v(s.from, s.to);\n  std::reverse(v.begin(), v.end());\n  for (long x : v)\n    s.at(x) += fold<{m}>(x);",
    "s.at(k) += *std::max_element(s.from, s.to) * {c} + fold<{n}>(k);",
    "std::map<long, long> m;\n  for (long x : std::vector<long>(s.from, s.to))\n    m[fold<{n}>(x)] += k;\n  s.at(1) = m.size();",
]


def write_source(path, functions, seed):
    draw = random.Random(seed)
    text = HEAD
    for k in range(functions):
        body = draw.choice(BODIES).format(n=draw.randrange(2, 9), m=draw.randrange(1, 5), c=draw.randrange(10, 10_000))
        calls = "".join(f"\n  if (k == {j}) function{j}(s, k - 1);" for j in draw.sample(range(k), min(k, 2)))
        text += f"__attribute__((noinline)) void function{k}(const Span& s, long k) {{\n  {body}{calls}\n}}\n"
    text += "}\nextern \"C\" void visible(long* from, long* to, long k) {\n  const Span s{from, to};\n"
    text += "".join(f"  function{k}(s, k);\n" for k in range(functions)) + "}\n"
    path.write_text(text)


def build(folder, mib):
    """The program's path. Objects are compiled once and copied until they reach the size."""
    binary = folder / f"large-{mib}"
    if binary.exists():
        return binary
    objects, size = [], 0
    kinds = []
    for kind in range(3):
        source = folder / f"kind{kind}.cpp"
        write_source(source, 60, kind)
        subprocess.run(["g++", "-std=c++20", "-O2", "-g", "-gdwarf-5", "-c", source, "-o", folder / f"kind{kind}.o"], check=True)
        kinds.append(folder / f"kind{kind}.o")
    while size < mib << 20:
        kind, copy = kinds[len(objects) % len(kinds)], folder / f"copy{len(objects)}.o"
        subprocess.run(["objcopy", f"--redefine-sym=visible=visible{len(objects)}", kind, copy], check=True)
        # Relocations go when linking, merged strings too: what of it the program keeps is about this much.
        size += linked_size(copy)
        objects.append(copy)
    main = folder / "main.cpp"
    names = [f"visible{k}" for k in range(len(objects))]
    main.write_text("".join(f'extern "C" void {name}(long*, long*, long);\n' for name in names) +
                    "int main() {\n  long v[8] = {};\n" + "".join(f"  {name}(v, v + 8, 3);\n" for name in names) + "}\n")
    subprocess.run(["g++", "-O0", "-g", main, *objects, "-o", binary, "-Wl,--build-id=sha1",
                    *(["-fuse-ld=mold"] if subprocess.run(["which", "mold"], capture_output=True).returncode == 0 else [])],
                   check=True)
    for copy in objects:
        copy.unlink()
    return binary


def linked_size(path):
    listed = subprocess.run(["size", "-A", path], capture_output=True, text=True, check=True).stdout
    return sum(int(words[1]) for words in map(str.split, listed.splitlines())
               if len(words) == 3 and words[0] in (".debug_info", ".debug_line", ".debug_loclists", ".debug_rnglists", ".eh_frame")
               or len(words) == 3 and words[0].startswith((".text", ".rodata")))


def write_trace(a, folder, binary, count):
    addresses = host_lines.spread(host_lines.functions_of(binary), count)
    random.Random(1).shuffle(addresses)
    notes = subprocess.run(["readelf", "-n", binary], capture_output=True, text=True, check=True).stdout
    build_id = notes.split("Build ID: ")[1].split()[0]
    depth = 20
    with open(folder / "trace.txt", "w") as out:
        out.write(f'module app {BIAS:#x} {BIAS + (1 << 32):#x} bias={BIAS:#x} build-id={build_id} path="{binary}"\n')
        for k in range(0, len(addresses), depth):
            path = " ".join(f"{address + 1 + BIAS:#x}" for address in addresses[k:k + depth])
            out.write(f"path P{k} {path}\nalloc A{k} 64 path=P{k}\n")
        out.write("end exit=0\n")
    trace = folder / f"frames-{count}.drgp"
    subprocess.run([a.build / "tests/support/make_trace", folder / "trace.txt", trace], check=True)
    return trace, len(addresses)


def family(pid):
    """The process and its children."""
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return [pid, *map(int, children)]


def held(pid):
    """Bytes of memory that a process and its children hold, what they share counted once."""
    kib = 0
    for one in family(pid):
        try:
            for line in pathlib.Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
                kib += int(line.split()[1]) if line.startswith("Pss:") else 0
        except (OSError, ProcessLookupError):
            pass
    return kib << 10


def report(a, trace, cache):
    begin = time.monotonic()
    before = os.times()
    running = subprocess.Popen([a.build / "bin/drgpum", "report", trace, "--format", "json", "-o", "/dev/null"],
                               env={**os.environ, "DRGPUM_CACHE_DIR": str(cache)})
    highest = 0
    while running.poll() is None:
        highest = max(highest, held(running.pid))
        time.sleep(0.05)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - begin, used, highest, running.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mib", type=int, default=500)
    parser.add_argument("--frames", type=int, action="append")
    parser.add_argument("--keep", type=pathlib.Path)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = a.keep or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        binary = build(folder, a.mib)
        print(f"program of {binary.stat().st_size / 2**20:.0f} MiB", flush=True)
        for count in a.frames or [100_000]:
            trace, frames = write_trace(a, folder, binary, count)
            cache = pathlib.Path(temporary) / f"cache-{count}"
            for label in ("first", "from the cache"):
                wall, used, highest, status = report(a, trace, cache)
                print(f"{frames} frames, {label}: {wall:.1f} s, {used:.1f} s of processor time, {highest / 2**20:.0f} MiB, status {status}",
                      flush=True)
            kept = sum(file.stat().st_size for file in cache.glob("*"))
            print(f"cache of {kept / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
