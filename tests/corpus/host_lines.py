#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares lines and inline chains of host code with addr2line and llvm-symbolizer, at addresses spread evenly over
the functions of optimised C++ programs, and says of what class each difference is.

    host_lines.py --build BUILD_FOLDER [--addresses 10000] [--compiler g++ --compiler clang++] [--binary FILE]...

Builds host_program.cpp with each compiler, DWARF 4 and 5, also with -gsplit-dwarf (.dwo and .dwp); --binary takes the
place of these. Ends with 1 when less than 99.9 % of the addresses of a program equal the better reference.
"""

import argparse
import collections
import json
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def functions_of(binary):
    """Half-open address ranges of the functions that have a size."""
    listed = subprocess.run(["nm", "-S", "--defined-only", binary], capture_output=True, text=True, check=True).stdout
    ranges = set()
    for line in listed.splitlines():
        words = line.split()
        if len(words) >= 4 and words[2] in "tTwWi" and int(words[1], 16) > 0:
            ranges.add((int(words[0], 16), int(words[0], 16) + int(words[1], 16)))
    return sorted(ranges)


def spread(ranges, count):
    """`count` different addresses at equal distances, rising; all when there are no more."""
    merged = []
    for begin, end in ranges:
        if merged and begin < merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    size = sum(end - begin for begin, end in merged)
    wanted = iter([k * size // min(count, size) for k in range(min(count, size))])
    addresses, passed, at = [], 0, next(wanted, None)
    for begin, end in merged:
        while at is not None and at < passed + end - begin:
            addresses.append(begin + at - passed)
            at = next(wanted, None)
        passed += end - begin
    return addresses


def place(file, line):
    """Without a line there is no place: '??' and 'file:0' mean the same to a reader."""
    return (posixpath.normpath(file), int(line)) if file not in ("", "??") and int(line) > 0 else ("", 0)


def feed(command, addresses):
    text = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    if done.stderr:
        sys.stderr.write(done.stderr[:2000])
    return done.stdout


def ours(tool, binary, addresses):
    found = {}
    for line in feed([tool, binary], addresses).splitlines():
        if re.fullmatch("0x[0-9a-f]+", line):
            frames = found[int(line, 16)] = []
        else:
            name, _, where = line.rpartition("\t")
            file, _, number = where.rpartition(":")
            frames.append((name, *place(file, number)))
    return found


def addr2line(binary, addresses):
    found, lines = {}, iter(feed(["addr2line", "-a", "-i", "-f", "-C", "-e", binary], addresses).splitlines())
    for line in lines:
        if re.fullmatch("0x[0-9a-f]+", line):
            frames = found[int(line, 16)] = []
            continue
        file, _, number = re.sub(r" \(discriminator \d+\)", "", next(lines)).rpartition(":")
        frames.append((line, *place(file, number if number.isdigit() else 0)))
    return found


def llvm_symbolizer(binary, addresses):
    found = {}
    for line in feed(["llvm-symbolizer", "--output-style=JSON", "--inlines", f"--obj={binary}"], addresses).splitlines():
        answer = json.loads(line)
        found[int(answer["Address"], 16)] = [(frame["FunctionName"], *place(frame["FileName"], frame["Line"]))
                                             for frame in answer["Symbol"]]
    return found


def places(frames):
    return [frame[1:] for frame in frames] or [("", 0)]


def short_name(name):
    """Without arguments, qualifiers and what demanglers write differently."""
    name = re.sub(r"\[abi:\w+\]| |\(anonymous namespace\)::|\[clone.*", "", name)
    depth, kept = 0, ""
    for at, c in enumerate(name):
        depth += c in "<(" and not name[:at].endswith("operator")
        kept += c if depth == 0 else ""
        depth -= c in ">)" and depth > 0
    return kept.rsplit("::", 1)[-1]


def class_of(mine, theirs):
    """How two chains of one address differ; empty: in nothing that counts."""
    a, b = places(mine), places(theirs)
    if a == b:
        return ""
    if not any(line for _, line in b):
        return "the reference knows nothing"
    if not any(line for _, line in a):
        return "we know nothing"
    if len(a) != len(b):
        return "depth of inlining"
    pairs = [(x, y) for x, y in zip(a, b) if x != y]
    if all(0 in (x[1], y[1]) for x, y in pairs):
        return "line 0 for one"
    if all(x[1] == y[1] and posixpath.basename(x[0]) == posixpath.basename(y[0]) for x, y in pairs):
        return "folder of a file"
    return "line" if all(x[0] == y[0] for x, y in pairs) else "file"


def show(frames):
    return " < ".join(f"{name} {file}:{line}" for name, file, line in frames)


def compare(tool, label, binary, count, examples):
    """The better of the two shares of equal addresses."""
    addresses = spread(functions_of(binary), count)
    mine = ours(tool, binary, addresses)
    references = {"addr2line": addr2line(binary, addresses)}
    if shutil.which("llvm-symbolizer"):
        references["llvm-symbolizer"] = llvm_symbolizer(binary, addresses)
    inlined = sum(len(mine[address]) > 1 for address in addresses)
    print(f"{label}: {len(addresses)} addresses, {inlined} in inlined calls")
    best = 0
    for name, theirs in references.items():
        classes, shown = collections.Counter(), collections.defaultdict(list)
        for address in addresses:
            kind = class_of(mine[address], theirs[address])
            if not kind:
                continue
            others = [other for other in references if other != name]
            if others and not class_of(mine[address], references[others[0]][address]):
                kind += f", {others[0]} agrees with us"
            classes[kind] += 1
            shown[kind].append(address)
        equal = len(addresses) - sum(classes.values())
        names = sum(len(mine[a]) == len(theirs[a]) and
                    any(short_name(x[0]) != short_name(y[0]) for x, y in zip(mine[a], theirs[a])) for a in addresses)
        share = equal / len(addresses)
        best = max(best, share)
        print(f"  {name}: {equal} equal, {100 * share:.3f} %; other names at {names}")
        for kind, times in classes.most_common():
            print(f"    {times} x {kind}")
            for address in shown[kind][:examples]:
                print(f"      {address:#x}: {show(mine[address])}\n        not {show(theirs[address])}")
    return best


def build(folder, compilers):
    """Label and path of each program."""
    for compiler in compilers:
        if not shutil.which(compiler):
            print(f"{compiler} is not installed: left out")
            continue
        for version in (4, 5):
            for form in ("", "-gsplit-dwarf", "packed"):
                place = folder / f"{compiler}-{version}{form}"
                place.mkdir()
                binary = place / "host_program"
                flags = ["-std=c++20", "-O2", "-g", f"-gdwarf-{version}"] + (["-gsplit-dwarf"] if form else [])
                subprocess.run([compiler, *flags, "-c", HERE / "host_program.cpp", "-o", place / "host_program.o"],
                               check=True, cwd=place)
                subprocess.run([compiler, place / "host_program.o", "-o", binary], check=True, cwd=place)
                if form == "packed":
                    packer = shutil.which("llvm-dwp") if version == 5 else shutil.which("dwp")
                    if not packer:
                        print("no dwp for this version of DWARF: left out")
                        continue
                    subprocess.run([packer, "-e", binary, "-o", f"{binary}.dwp"], check=True, cwd=place)
                    for loose in place.glob("*.dwo"):
                        loose.unlink()
                yield f"{compiler} -gdwarf-{version} {form}".rstrip(), str(binary)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--tool", type=pathlib.Path, help="print_frames; that of --build without it")
    parser.add_argument("--addresses", type=int, default=10_000)
    parser.add_argument("--compiler", action="append")
    parser.add_argument("--binary", action="append", default=[])
    parser.add_argument("--examples", type=int, default=2, help="differences of each class to show")
    a = parser.parse_args()
    tool = a.tool or a.build / "tests/corpus/print_frames"
    with tempfile.TemporaryDirectory() as folder:
        programs = [(path, path) for path in a.binary] or build(pathlib.Path(folder), a.compiler or ["g++", "clang++"])
        shares = [compare(str(tool), label, path, a.addresses, a.examples) for label, path in programs]
    if not shares or min(shares) < 0.999:
        print("less than 99.9 % equal")
        return 1
    print(f"{len(shares)} programs: at least {100 * min(shares):.3f} % equal")
    return 0


if __name__ == "__main__":
    sys.exit(main())
