# SPDX-License-Identifier: Apache-2.0
"""Files that would run something, claim what is not there, or fill memory, given to `drgpum report`. Each has to
be refused with status 3 at the right byte, in little time and memory, and nothing may be executed.

  hostile_snapshots.py --drgpum BIN [--memory MIB]

--memory: the most that drgpum may take; more than 64 MiB only where a sanitizer takes memory of its own.
"""
import argparse
import gzip
import os
import pickle
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS = 5.0  # the figure to keep is 1 s; a loaded machine needs room


class Touch:
    """What pickles into a call of os.system."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def files(pwned):
    """(name, bytes, offset where it has to be refused; None: the message names no byte)"""
    call = f"posix\nsystem\n".encode()
    mark = b"\x80\x02"
    proto4 = b"\x80\x04"
    unicode = lambda t: b"\x8c" + bytes([len(t)]) + t.encode()
    touch = unicode(f"touch {pwned}"[:255])
    yield "global-reduce", b"c" + call + b"(V" + f"touch {pwned}".encode() + b"\ntR.", None
    for protocol in range(6):
        data = pickle.dumps({"segments": [], "device_traces": Touch(pwned)}, protocol)
        at = min(i for i in (data.find(b"cposix\n"), data.find(b"cnt\n"), data.find(b"\x93")) if i >= 0)
        yield f"reduce-protocol-{protocol}", data, at
    yield "global", mark + b"}" + b"c" + call + b".", 3
    yield "inst", mark + b"(" + b"i" + call + b".", 3
    yield "stack-global", proto4 + unicode("posix") + unicode("system") + b"\x93.", 2 + 7 + 8
    yield "stack-global-memo", proto4 + unicode("posix") + b"\x94" + unicode("system") + b"\x94h\x00h\x01\x93.", \
        2 + 8 + 9 + 4
    yield "obj", mark + b"(}o.", 4
    yield "newobj", mark + b"})\x81.", 4
    yield "newobj-ex", proto4 + b"})}\x92.", 5
    yield "build", mark + b"}}b.", 4
    yield "reduce", mark + b"})R.", 4
    yield "ext1", mark + b"\x82\x01.", 2
    yield "ext2", mark + b"\x83\x01\x00.", 2
    yield "ext4", mark + b"\x84\x01\x00\x00\x00.", 2
    yield "persid", mark + b"Pfile\n.", 2
    yield "binpersid", mark + b"}Q.", 3
    yield "next-buffer", b"\x80\x05\x97.", 2
    yield "readonly-buffer", b"\x80\x05}\x98.", 3
    yield "empty-set", proto4 + b"\x8f.", 2
    yield "frozenset", proto4 + b"(\x91.", 3
    yield "no-opcode", mark + b"}\xff.", 3
    yield "protocol-9", b"\x80\x09}.", 0
    yield "unicode8-claims-4-gb", proto4 + b"\x8d" + struct.pack("<Q", 4_194_304_000) + b".", 2
    yield "bytes8-claims-2-60", proto4 + b"\x8e" + struct.pack("<Q", 1 << 60) + b"abc.", 2
    yield "bytearray8-claims", b"\x80\x05\x96" + struct.pack("<Q", 1 << 63) + b".", 2
    yield "unicode-claims-2-gb", mark + b"X" + struct.pack("<I", 0x7FFFFFFF) + b"abc.", 2
    yield "frame-claims", proto4 + b"\x95" + struct.pack("<Q", 1 << 40) + b"}.", 2
    yield "negative-string", b"\x80\x01T" + struct.pack("<i", -5) + b"abcde.", 2
    yield "long4-negative", mark + b"\x8b" + struct.pack("<i", -1) + b".", 2
    yield "long4-claims", mark + b"\x8b" + struct.pack("<i", 0x7FFFFFFF) + b"1.", 2
    yield "million-marks", mark + b"(" * 1_000_000 + b".", 2 + 256
    yield "million-lists", mark + b"]" * 1_000_000 + b"a" * 999_999 + b".", 2 + 1_000_000 + 61
    yield "memo-4-billion", mark + b"]r\xff\xff\xff\xff.", 3
    yield "memo-put-line", b"(lp4000000000\n.", 2
    yield "memo-never-put", mark + b"h\x07.", 2
    yield "list-in-itself", mark + b"]q\x00h\x00a.", 7
    yield "dict-in-itself", mark + b"}q\x00X\x01\x00\x00\x00ah\x00s.", 13
    yield "two-in-each-other", mark + b"]q\x00]q\x01h\x00aa.", 11
    yield "changes-later", mark + b"]q\x00]h\x00ah\x00Na.", 12
    yield "empty-stack", mark + b"s.", 2
    yield "append-to-nothing", mark + b"Na.", 3
    yield "appends-below-mark", mark + b"(]e.", 4
    yield "tuple-without-mark", mark + b"]t.", 3
    yield "dict-with-odd-items", mark + b"(Nd.", 4
    yield "append-to-number", mark + b"K\x01Na.", 5
    yield "bad-number", b"(I12x\n.", 1
    yield "bad-unicode-escape", b"(V\\uZZZZ\n.", 1
    yield "cut-off", pickle.dumps({"segments": [{"address": 1}], "device_traces": []}, 4)[:40], None
    yield "no-stop", mark + b"}", 3
    yield "two-values-left", mark + b"}}.", 4
    yield "bomb.gz", gzip.compress(b"\x80\x04" + b"(0" * 1, 9) + gzip.compress(bytes(64 << 20), 9), None
    yield "gzip-cut-off", gzip.compress(b"\x80\x04" + b"}0" * 100_000)[:200], None
    yield "gzip-broken", gzip.compress(b"\x80\x04}.")[:10] + b"\xff" * 50, None
    yield "json-cut-off", b'{"segments": [', None
    yield "json-deep", b'{"segments": ' + b"[" * 1_000_000, None
    yield "json-garbage", b'{"segments": nonsense}', None
    del touch


def limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command):
    """Status, error text, seconds, bytes of memory at most."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit, text=True)
    text = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, text, time.monotonic() - begin, usage.ru_maxrss * 1024


def empty_run(drgpum, folder):
    """What the program needs for the least snapshot: its libraries count for nothing here."""
    path = folder / "least.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": []}, 4))
    status, text, _, memory = run([drgpum, "report", str(path)])
    if status != 0:
        sys.exit(f"the least snapshot ends with {status}: {text}")
    return memory


def faults(offset, outcome, most_memory):
    status, text, seconds, memory = outcome
    if status != 3:
        yield f"ends with {status}, not 3: {text[:200]}"
    if text.count("\n") != 1:
        yield f"says {text.count(chr(10))} lines, not one: {text[:300]}"
    found = re.search(r": byte (\d+): ", text)
    if offset is not None and (found is None or int(found.group(1)) != offset):
        yield f"is to be refused at byte {offset}: {text.strip()[-160:]}"
    if seconds > SECONDS:
        yield f"takes {seconds:.1f} s"
    if memory > most_memory:
        yield f"takes {memory >> 20} MiB"


def traced(drgpum, path, folder):
    """Programs started and connections made, besides drgpum itself."""
    if shutil.which("strace") is None:
        return None
    log = folder / "strace.log"
    subprocess.run(["strace", "-f", "-e", "trace=execve,connect,socket", "-o", str(log), drgpum, "report", str(path)],
                   capture_output=True)
    lines = log.read_text().splitlines()
    if not any("execve(" in line for line in lines):
        return None  # tracing is not allowed here
    return [line for line in lines if "(" in line.split("+++")[0]][1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("--memory", type=int, default=64)
    args = parser.parse_args()
    wrong = count = 0
    worst = [0.0, 0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pwned = folder / "pwned"
        base = empty_run(args.drgpum, folder)
        without_strace = False
        for name, data, offset in files(pwned):
            path = folder / name
            path.write_bytes(data)
            outcome = run([args.drgpum, "report", str(path)])
            worst = [max(worst[0], outcome[2]), max(worst[1], outcome[3])]
            calls = traced(args.drgpum, path, folder)
            without_strace |= calls is None
            for fault in [*faults(offset, outcome, args.memory << 20), *(f"calls {c}" for c in calls or [])]:
                print(f"{name}: {fault}")
                wrong += 1
            count += 1
            path.unlink()
        if pwned.exists():
            print("a pickle was executed")
            wrong += 1
    print(f"{count} files, {wrong} faults; at most {worst[0]:.2f} s and {worst[1] >> 20} MiB (the least "
          f"snapshot: {base >> 20} MiB){'; without strace' if without_strace else ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
