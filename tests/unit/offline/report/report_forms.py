# SPDX-License-Identifier: Apache-2.0
"""Every form of the report, from traces in text: exit codes, schema, stability, gates, diff, merge.

    report_forms.py --drgpum PROGRAM --make-trace PROGRAM --source DIR
"""

import argparse
import csv
import io
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile


class Runner:
    def __init__(self, args, folder):
        self.args, self.folder, self.wrong = args, pathlib.Path(folder), []

    def expect(self, what, condition):
        if not condition:
            self.wrong.append(what)

    def trace(self, name, text):
        source = self.folder / f"{name}.txt"
        source.write_text(text)
        target = self.folder / f"{name}.drgp"
        subprocess.run([self.args.make_trace, str(source), str(target)], check=True, timeout=60)
        return str(target)

    def run(self, *words, status=0, **options):
        done = subprocess.run([self.args.drgpum, *words], capture_output=True, timeout=120, **options)
        self.expect(f"drgpum {' '.join(words)}: status {done.returncode}, not {status}: {done.stderr.decode()}",
                    done.returncode == status)
        return done.stdout.decode("utf-8")


def sarif_is_sound(runner, text):
    """What SARIF 2.1.0 requires and code hosts ask for beyond it."""
    import json_schema
    log = json.loads(text)
    rules = json.loads((runner.args.source / "tests/support/sarif.schema.json").read_text())
    runner.wrong += [f"sarif: {line}" for line in json_schema.check(log, rules, rules)]
    runner.expect("sarif: version", log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json"))
    run = log["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    runner.expect("sarif: driver", run["tool"]["driver"]["name"] == "drgpum" and len(set(rules)) == 10)
    runner.expect("sarif: rules have texts", all(rule["shortDescription"]["text"] and rule["help"]["text"]
                                                 for rule in run["tool"]["driver"]["rules"]))
    runner.expect("sarif: invocation", isinstance(run["invocations"][0]["executionSuccessful"], bool))
    prints = set()
    for result in run["results"]:
        runner.expect("sarif: rule of a result", rules[result["ruleIndex"]] == result["ruleId"])
        runner.expect("sarif: level", result["level"] in ("none", "note", "warning", "error"))
        runner.expect("sarif: message", bool(result["message"]["text"]))
        prints.add(result["partialFingerprints"]["drgpum/v1"])
    runner.expect("sarif: fingerprints differ", len(prints) == len(run["results"]))
    return len(run["results"])


def check_forms(runner, trace):
    schema = runner.args.source / "proto/report.schema.json"
    sys.path.insert(0, str(runner.args.source / "tests/support"))
    import json_schema
    rules = json.loads(schema.read_text())
    for words in ([], ["--rules", "drgpum"], ["--level", "tensor"]):
        report = json.loads(runner.run("report", trace, "--format", "json", *words))
        runner.wrong += list(json_schema.check(report, rules, rules))
    report = json.loads(runner.run("report", trace, "--format", "json"))
    found = {finding["pattern"] for finding in report["findings"]}
    runner.expect(f"all patterns are found, not only {sorted(found)}", len(found) == 10)
    runner.expect("exit code", report["program"]["exit_code"] == 3)
    runner.expect("failed allocation", report["failed_allocations"][0]["requested_bytes"] == 4 << 30)
    runner.expect("sarif has every finding",
                  sarif_is_sound(runner, runner.run("report", trace, "--format", "sarif")) == len(report["findings"]))
    rows = list(csv.DictReader(io.StringIO(runner.run("report", trace, "--format", "csv"), newline="")))
    runner.expect("csv has every finding", len(rows) == len(report["findings"]))
    runner.expect("csv quotes names", any(row["name"] == 'we|rd, n<a>me' for row in rows))
    page = runner.run("report", trace, "--format", "html")
    runner.expect("html needs nothing else", not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//|@import|url\(\s*["']?https?:""", page))
    runner.expect("html escapes", "n<a>me" not in page)
    table = runner.run("report", trace, "--format", "md")
    runner.expect("md escapes", "we\\|rd" in table)
    text = runner.run("report", trace, env={**os.environ, "COLUMNS": "60"})
    runner.expect("text has no colour in a pipe", "\x1b" not in text)
    brief = runner.run("report", trace, "--brief")
    runner.expect("brief is brief", len(brief.splitlines()) <= 9 and "drgpum report" in brief)


def check_hostile_cells(runner):
    """Names that want to be formulas, markup, escape sequences or other cells."""
    names = ["=HYPERLINK(1)", "+1", "-2", "@x", "\ttab", "a\rb", "a\x1b[31mred", "\u202eevil", "a,b", "a;b", "<b>&amp;</b>",
             "|x|", "`x`", "[x](http://x)", "#1", "*x*"]
    text = "".join(f'alloc "{name}" {1 << 20}\n' for name in names) + "launch k\nend exit=0\n"
    trace = runner.trace("hostile", text)
    table = runner.run("report", trace, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    runner.expect("csv: every object twice", len(rows) == 2 * len(names) and {len(row) for row in rows} == {16})
    for row in rows:
        for cell in (row["name"], row["advice"]):
            runner.expect(f"csv: {cell!r} is a formula", not cell or cell[0] not in "=+-@\t\r")
    runner.expect("csv: names are told apart", len({row["name"] for row in rows}) == len(names))
    for form in ("text", "md", "csv", "json", "html", "sarif"):
        out = runner.run("report", trace, "--format", form, "--top", "0")
        runner.expect(f"{form}: raw control characters", not set(out) & ({"\x1b", "\u202e"} if form in ("text", "md", "csv") else {"\x1b"}))
    page = runner.run("report", trace, "--format", "md", "--top", "0")
    for mark in ("<b>", "[x](", "|x|", "`x`"):
        runner.expect(f"md: {mark} is markup", not re.search(r"(?<!\\)" + re.escape(mark), page))


def check_many_findings(runner):
    """Code hosts take 5,000 results."""
    text = "path main 0x10\n" + "".join(f"alloc o{i} 1K path=main\n" for i in range(5100)) + "end exit=0\n"
    made = runner.run("report", runner.trace("many", text), "--format", "sarif")
    runner.expect("sarif: as many as are shown", sarif_is_sound(runner, made) == 5000)
    notes = json.loads(made)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    runner.expect("sarif: says what it left out", any("5,200" in note["message"]["text"] for note in notes))


def on_terminal(runner, trace, columns, **extra):
    """What the report prints on a terminal."""
    import pty
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), **extra}
    running = subprocess.Popen([runner.args.drgpum, "report", trace], stdout=follower, stderr=subprocess.DEVNULL, env=environment)
    os.close(follower)
    out = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    os.close(leader)
    running.wait(timeout=60)
    return out.decode().replace("\r\n", "\n")


def check_terminal(runner, trace):
    coloured = on_terminal(runner, trace, 80)
    plain = on_terminal(runner, trace, 80, NO_COLOR="1")
    runner.expect("terminal: colour", "\x1b[1m" in coloured)
    runner.expect("terminal: NO_COLOR", "\x1b" not in plain)
    runner.expect("terminal: colour changes nothing else", re.sub("\x1b\\[[0-9]*m", "", coloured) == plain)
    runner.expect("terminal: dumb", "\x1b" not in on_terminal(runner, trace, 80, TERM="dumb"))
    for columns in (50, 60, 80, 120):
        for line in on_terminal(runner, trace, columns, NO_COLOR="1").splitlines():
            longest = max(map(len, line.split()), default=0)
            runner.expect(f"terminal: {len(line)} of {columns} columns: {line}", len(line) <= max(columns, 33 + longest))


def check_peaks_devices_pools_times(runner):
    text = """device memory=1G name=first; device memory=2G name=second
    context b device=1; alloc far 8K; launch k reads far; free far
    context a device=0
    path main 0x10; path main2 0x20
    alloc pool 64K path=main
    alloc t1 16K sub parent=pool path=main2; launch k writes t1 time=1000,2000
    alloc t2 32K sub parent=pool path=main2; launch k reads t1 writes t2 time=3000,5000
    free t1; alloc idle 4K path=main; launch k reads t2 time=6000,7000
    launch k updates idle time=8000,9000
    free t2; free idle; free pool; end exit=0"""
    trace = runner.trace("pools", text)
    tensors = json.loads(runner.run("report", trace, "--format", "json"))  # the level where a trace has any
    runner.expect("tensors: peak", tensors["peaks"][0]["bytes"] == 48 << 10)
    report = json.loads(runner.run("report", trace, "--level", "allocation", "--format", "json"))
    peaks = {device["name"]: device["peak_bytes"] for device in report["devices"]}
    runner.expect(f"devices: {peaks}", peaks == {"first": 68 << 10, "second": 8 << 10})
    pools = report["pools"]
    runner.expect(f"pools: {pools}", (pools["reserved_at_peak_bytes"], pools["allocated_at_peak_bytes"],
                                      pools["allocated_peak_bytes"]) == (64 << 10, 32 << 10, 48 << 10))
    states = {o["name"]: o["id"] for o in report["objects"]}
    at_peak = {one["id"]: one["state"] for one in report["peaks"][0]["objects"]}
    runner.expect("peaks: states", at_peak == {states["pool"]: "used", states["idle"]: "used"})
    curve = report["timeline"][0]
    runner.expect(f"timeline: {curve}", max(curve["bytes"]) == 68 << 10 and curve["time_ns"] == sorted(curve["time_ns"]))
    runner.expect("timeline: of both devices", [one["device"] for one in report["timeline"]] == [0, 1])
    runner.expect("timeline: length", report["device_time_ns"] == 8000)
    shown = runner.run("report", trace, "--level", "allocation")
    for words in ("Device 0", "Device 1", "Pools", "of 8.0 us on the device"):
        runner.expect(f"text: {words}", words in shown)


def check_outputs_that_are_no_files(runner, trace):
    pipe = str(runner.folder / "pipe")
    os.mkfifo(pipe)
    kept = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    runner.run("report", trace, "--format", "md", "-o", pipe)
    runner.expect("a pipe is still one", stat.S_ISFIFO(os.stat(pipe).st_mode))
    runner.expect("a pipe gets the report", os.read(kept, 1 << 16).startswith(b"#"))
    os.close(kept)
    runner.run("bundle", trace, "-f", "-o", "/dev/null", status=2)
    runner.expect("devices stay", stat.S_ISCHR(os.stat("/dev/null").st_mode))


def check_stability(runner, trace):
    for form in ("json", "text", "md", "csv", "sarif", "html"):
        outputs = set()
        for locale, folder in (("C", "/"), ("C.UTF-8", str(runner.folder)), ("de_DE.UTF-8", "/tmp")):
            outputs.add(runner.run("report", trace, "--format", form, cwd=folder, env={**os.environ, "LC_ALL": locale}))
        runner.expect(f"{form} depends on locale or folder", len(outputs) == 1)


def check_gates(runner, trace):
    for gate, status in (("peak>1KiB", 1), ("peak>1GiB", 0), ("memory_leak>0", 1), ("memory_leak>5", 0),
                         ("saving>10%", 1), ("dead_write>=1", 1), ("failed_allocations>0", 1), ("proven<0", 0)):
        runner.run("report", trace, "--fail-on", gate, status=status)
    runner.run("report", trace, "--fail-on", "peak>1GiB", "--fail-on", "findings>0", status=1)
    for wrong in ("peak>", "peek>1", "peak>1 parsec", "peak>5%", "peak", "peak_growth>5%"):
        runner.run("report", trace, "--fail-on", wrong, status=2)
    runner.run("report", trace, "--fail-on", "peak_growth>5%", "--baseline", trace, status=0)
    rules = runner.folder / "suppressions"
    rules.write_text("# ours\nmemory_leak:leak   # freed by the driver\ndead_*:*\n")
    report = json.loads(runner.run("report", trace, "--format", "json", "--suppressions", str(rules)))
    left = {finding["pattern"] for finding in report["findings"]}
    runner.expect("suppressed", "memory_leak" not in left and "dead_write" not in left)
    runner.expect("counted", report["suppressed"][0] == {"pattern": "memory_leak", "site": "leak",
                                                         "reason": "freed by the driver", "count": 1})
    rules.write_text("no colon\n")
    runner.run("report", trace, "--suppressions", str(rules), status=2)


PTX = """.version 9.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u64 p)
{
.loc 1 3 1
ld.global.f32 %f1, [%rd1];
.loc 1 4 1
st.global.f32 [%rd1], %f1;
ret;
}
.file 1 "/build/saxpy.cu"
"""


def check_source_lines(runner):
    """Lines of kernels that touch an object, with counts and the text of the line; what is missing is said."""
    text = ("cubin saved=code.modules/c0de hash=c0de\nalloc x 1M\nlaunch saxpy updates x\nsite x saxpy 7 reads=40\n"
            "site x saxpy 9 writes=30\nlaunch saxpy updates x\nsite x saxpy 7 reads=2\nalloc y 1M\nlaunch other reads y\nend exit=0")
    trace = runner.trace("code", text)
    env = {**os.environ, "DRGPUM_CACHE_DIR": ""}
    missing = subprocess.run([runner.args.drgpum, "report", trace], capture_output=True, timeout=120, env=env)
    runner.expect("missing code is named: " + missing.stderr.decode(), b"code.modules/c0de" in missing.stderr)
    images = runner.folder / "code.modules"
    images.mkdir()
    (images / "c0de").write_text(PTX)
    sources = runner.folder / "sources"
    sources.mkdir()
    (sources / "saxpy.cu").write_text("a\nb\nfloat v = x[i];\n\tx[i] = v <b>;\x1b[31m\n")
    report = json.loads(runner.run("report", trace, "--format", "json"))
    lines = next(o for o in report["objects"] if o["name"] == "x")["access_lines"]
    runner.expect(f"access lines: {lines}", [(l["kernel"], l["function"], l["file"], l["line"], l["reads"], l["writes"],
                                              l["launches"]) for l in lines] ==
                  [("saxpy", "saxpy", "/build/saxpy.cu", 3, 42, 0, 2), ("saxpy", "saxpy", "/build/saxpy.cu", 4, 0, 30, 1)])
    for where in (["--source-root", str(sources)], ["--path-map", f"/build={sources}"]):
        shown = runner.run("report", trace, *where)
        runner.expect("text shows the line and its code: " + shown,
                      "read 42 times in 2 launches at saxpy.cu:3 in saxpy" in shown and "| float v = x[i];" in shown)
        runner.expect("text escapes code", "\x1b" not in shown and "\\u{1b}" in shown)
    check_annotate(runner, sources)
    page = runner.run("report", trace, "--format", "html", "--source-root", str(sources))
    runner.expect("page escapes code", "v <b>" not in page)
    if "DRGPUM_WITHOUT_PAGE" in os.environ:
        print("without the web application: its page is not looked at")
    else:
        runner.expect("page has the lines", "access_lines" in page or "application/octet-stream" in page)


def check_annotate(runner, sources):
    """A source file with figures beside its lines; which file is meant; files that are not there."""
    trace = str(runner.folder / "code.drgp")
    shown = runner.run("annotate", "saxpy.cu", trace, "--source-root", str(sources))
    rows = [line for line in shown.splitlines() if " | " in line or line.endswith("|")]
    runner.expect("annotate: every line: " + shown, len(rows) == 4)
    runner.expect("annotate: reads", re.search(r"^ +42 +3 \| float v = x\[i\];$", shown, re.M) is not None)
    runner.expect("annotate: writes", re.search(r"^ +30 +4 \| ", shown, re.M) is not None)
    few = runner.run("annotate", "/elsewhere/saxpy.cu", trace, "--source-root", str(sources), "--context", "1")
    runner.expect("annotate: context", " 1 | a" not in few and " 2 | b" in few)
    runner.expect("annotate: without the file", re.search(r"^ +42 +3 \|$", runner.run("annotate", "/build/saxpy.cu", trace), re.M))
    runner.run("annotate", "other.cu", trace, status=3)
    runner.run("annotate", "saxpy.cu", status=2)
    runner.expect("annotate --help has examples", "Examples" in runner.run("annotate", "--help"))


def check_hostile_names(runner):
    """Names of a million characters with control bytes and markup: every form escapes them, and none takes long."""
    evil = "\x1b]0title\x07<script>alert(1)</script>&'`|\x00\x08\r\u202e\u2028".replace("\x00", "")
    long = evil + "n" * 1_000_000
    mangled = "_ZN" + "1n" * 250_000 + "E" + evil
    text = (f'module app 0x1000 0x9000 path="/x/{evil}"\npath P 0x1100\ncubin hash=c0de saved="{evil}"\n'
            f'alloc "{long}" 1M path=P call="{evil}"\nlaunch "{mangled}" reads "{long}" path=P\nlaunch k\n'
            f'site "{long}" "{mangled}" 0 reads=1\ncoverage tool-disabled "{evil}"\nend')
    trace = runner.trace("hostile", text)
    outputs = {form: runner.run("report", trace, "--format", form, status=4) for form in ("text", "json", "html", "sarif", "md", "csv")}
    outputs["brief"] = runner.run("report", trace, "--brief", status=4)
    outputs["info"] = runner.run("info", trace)
    outputs["records"] = runner.run("info", "--records", trace)
    outputs["dot"] = runner.run("export", trace, "--type", "dot", status=4)
    outputs["diff"] = runner.run("diff", trace, trace, status=4)
    json.loads(outputs["json"])
    for form, shown in outputs.items():
        bad = [c for c in "\x1b\x07\x08" + ("" if form in ("json", "sarif") else "\u202e") if c in shown]
        runner.expect(f"{form}: control bytes {bad} are made visible", not bad)
    runner.expect("html: markup is escaped", "<script>alert" not in outputs["html"])
    runner.expect("md: markup is escaped", not re.search(r"(?<!\\)<script>alert", outputs["md"]))


def check_usage(runner, trace):
    here = str(runner.folder)
    for before in (["--source-root", here], ["--symbol-path", here], ["--path-map", "/a=/b"],
                   ["--threshold", "early_allocation=3"], ["--fail-on", "peak>1GiB", "--fail-on", "peak>2GiB"]):
        runner.run("report", *before, trace, status=0)
    runner.run("report", status=2)
    runner.run("report", trace, "--format", "yaml", status=2)
    runner.run("report", trace, "--threshold", "early_allocation", status=2)
    runner.run("report", trace, "--threshold", "early_allocation=1000000", status=0)
    runner.run("report", str(runner.folder / "absent.drgp"), status=3)
    runner.run("report", str(runner.args.source / "README.md"), status=3)
    cut = runner.folder / "cut.drgp"
    cut.write_bytes(pathlib.Path(trace).read_bytes()[:-40])
    text = runner.run("report", str(cut), status=4)
    runner.expect("says that the trace is cut", "not complete" in text)
    runner.run("report", str(cut), "--fail-on", "peak>1KiB", status=1)
    runner.expect("explains", "Threshold" in runner.run("report", "--explain", "dead_write"))
    runner.run("report", "--explain", "nonsense", status=2)
    for verb in ("report", "diff", "export"):
        runner.expect(f"{verb} --help has examples", "Examples" in runner.run(verb, "--help"))
    target = runner.folder / "out.json"
    runner.run("report", trace, "--format", "json", "-o", str(target))
    json.loads(target.read_text())
    runner.run("report", trace, "-o", "/nonexistent/out.json", status=3)


def check_diff_and_merge(runner):
    base = "alloc A 1M; launch k reads A; free A; end exit=0"
    more = "alloc A 2M; launch k reads A; alloc B 1M; launch k reads B; free A; end exit=0"
    a, b = runner.trace("base", base), runner.trace("next", more)
    diff = json.loads(runner.run("diff", a, b, "--format", "json"))
    runner.expect("diff: peak", (diff["base_peak_bytes"], diff["new_peak_bytes"]) == (1 << 20, 3 << 20))
    runner.expect("diff: sites", {site["site"]: site["new_bytes"] for site in diff["sites"]} == {"A": 2 << 20, "B": 1 << 20})
    runner.expect("diff: new leak", any(f["pattern"] == "memory_leak" and f["change"] == "new" for f in diff["findings"]))
    runner.run("diff", a, b, "--fail-on", "peak_growth>5%", status=1)
    runner.run("diff", a, a, "--fail-on", "peak_growth>5%", status=0)
    runner.run("diff", "--fail-on", "peak_growth>5%", a, b, status=1)
    shifted = runner.trace("shifted", "alloc A 1M at=0x10000; launch k reads A; free A; end exit=0")
    same = json.loads(runner.run("diff", a, shifted, "--format", "json"))
    runner.expect("diff: addresses play no part", same["sites"] == [] and same["findings"] == [])
    folder = runner.folder / "ranks"
    folder.mkdir()
    for name in ("base", "next"):
        (folder / f"{name}.drgp").write_bytes((runner.folder / f"{name}.drgp").read_bytes())
    merged = json.loads(runner.run("report", str(folder), "--format", "json"))
    runner.expect("merge: programs", [p["peaks"][0]["bytes"] for p in merged["programs"]] == [1 << 20, 3 << 20])
    runner.expect("merge: worst", merged["worst"] == 1)
    runner.expect("merge: sites", {site["site"] for site in merged["differing_sites"]} == {"A", "B"})
    runner.expect("merge: text", "2 programs" in runner.run("report", str(folder)))
    ranks = runner.folder / "job"
    ranks.mkdir()
    for rank in (10, 2, 0):
        text = f"process rank={rank}\nalloc same 1M; alloc mine {1 + rank}M; launch k reads same mine; free mine; free same; end exit=0"
        (ranks / f"drgpum-app.{rank}.drgp").write_bytes(pathlib.Path(runner.trace(f"rank{rank}", text)).read_bytes())
    job = json.loads(runner.run("report", str(ranks), "--format", "json"))
    runner.expect("ranks: in order", [p["program"]["rank"] for p in job["programs"]] == ["0", "2", "10"])
    runner.expect("ranks: worst", job["worst"] == 2)
    runner.expect("ranks: sites", job["differing_sites"] == [{"site": "mine", "bytes": [1 << 20, 3 << 20, 11 << 20]}])
    told = runner.run("report", str(ranks))
    for words in ("3 programs", "rank 10", "Allocated differently", "mine"):
        runner.expect(f"ranks: text says {words}", words in told)
    dot = runner.run("export", a, "--type", "dot")
    runner.expect("dot: edges", "n0 -> n1" in dot and dot.startswith("digraph"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True, type=os.path.abspath)
    parser.add_argument("--make-trace", required=True, type=os.path.abspath)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(args, folder)
        data = args.source / "tests/data/report"
        trace = runner.trace("all", (data / "all_patterns.txt").read_text())
        check_forms(runner, trace)
        check_hostile_cells(runner)
        check_many_findings(runner)
        check_terminal(runner, trace)
        check_peaks_devices_pools_times(runner)
        check_stability(runner, trace)
        check_outputs_that_are_no_files(runner, trace)
        check_gates(runner, trace)
        check_usage(runner, trace)
        check_source_lines(runner)
        check_hostile_names(runner)
        check_diff_and_merge(runner)
        empty = runner.trace("empty", (data / "empty.txt").read_text())
        for form in ("text", "json", "md", "csv", "sarif", "html"):
            runner.run("report", empty, "--format", form)
    print("\n".join(runner.wrong) or "as expected")
    return 1 if runner.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
