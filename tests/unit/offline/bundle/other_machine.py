# SPDX-License-Identifier: Apache-2.0
"""Reports on another machine than the one that recorded: from a bundle alone by every verb that reads, with debug files
from a directory or a server, and with what is missing named.

    other_machine.py --drgpum PROGRAM --make-trace PROGRAM --sample PROGRAM_WITH_LINES
"""

import argparse
import http.client
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

BASE = 0x500000000000
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

WITHOUT_PAGE = "DRGPUM_WITHOUT_PAGE" in os.environ


class Machine:
    """One folder with a program, a trace of it, its device code and its sources."""

    def __init__(self, args, folder):
        self.args, self.folder, self.wrong = args, folder, []
        self.environment = {**os.environ, "DRGPUM_CACHE_DIR": "", "DEBUGINFOD_URLS": ""}
        for name in ("build", "build/app.modules", "sources", "elsewhere"):
            (folder / name).mkdir()
        self.program = folder / "build/app"
        self.program.write_bytes(pathlib.Path(args.sample).read_bytes())
        (folder / "build/app.modules/c0de").write_text(PTX)
        (folder / "sources/saxpy.cu").write_text("a\nb\nfloat v = x[i];\n\tx[i] = v;\n")
        notes = self.output("readelf", "-n", str(self.program))
        self.build_id = re.search("Build ID: ([0-9a-f]+)", notes).group(1)
        self.trace = str(folder / "build/app.drgp")
        (folder / "text").write_text(self.text())
        subprocess.run([args.make_trace, str(folder / "text"), self.trace], check=True, timeout=60)

    def text(self):
        table = {words[3]: int(words[0], 16) for words in map(str.split, self.output("nm", "-S", str(self.program)).splitlines())
                 if len(words) == 4}
        inside = [BASE + table[name] + 4 for name in ("_ZN6sample10get_memoryEi", "main")]
        frames = " ".join(f"{address:#x}" for address in inside)
        calls = ("alloc y 1M path=P; free y; launch saxpy updates x path=P time=2000,2500\nsite x saxpy 7 reads=40\nsite x saxpy 9 writes=30\n" +
                 "".join(f"memcpy d2h x time={1000 * k},{1000 * k + 500}\n" for k in range(3, 6)))
        return (f'module app {BASE:#x} {BASE + (1 << 20):#x} path="{self.program}" bias={BASE:#x} build-id={self.build_id}\n'
                f"path P {frames}\ncubin saved=app.modules/c0de hash=c0de\nalloc x 1M path=P\n{calls}free x\nend exit=0\n")

    def expect(self, what, condition):
        if not condition:
            self.wrong.append(what)

    def output(self, *words):
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout

    def run(self, *words, status=0, **more):
        done = subprocess.run([self.args.drgpum, *words], capture_output=True, timeout=120, text=True,
                              env={**self.environment, **more})
        self.expect(f"drgpum {' '.join(words)}: status {done.returncode}, not {status}: {done.stderr}", done.returncode == status)
        return done

    def report(self, path, *words, **more):
        return json.loads(self.run("report", path, "--format", "json", *words, **more).stdout)

    def recorded(self, here):
        """Puts what was on the recording machine away, or back."""
        for name in ("build", "sources"):
            away, there = self.folder / f"{name}-away", self.folder / name
            away.rename(there) if here else there.rename(away)


def served(machine, path):
    """What `drgpum view` gives a browser: the page and its first piece; nothing without the web application."""
    if WITHOUT_PAGE:
        return []
    viewing = subprocess.Popen([machine.args.drgpum, "view", "--no-browser", path], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, env=machine.environment)
    try:
        port, token = re.search(r":(\d+)/\?t=(\w+)", viewing.stdout.readline()).groups()
        answers = []
        cookie = {}
        for where in (f"/?t={token}", "/", "/pieces/0"):
            connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)
            connection.request("GET", where, headers=cookie)
            answer = connection.getresponse()
            answers.append(answer.read())
            cookie = cookie or {"Cookie": answer.getheader("Set-Cookie").split(";")[0]}
            connection.close()
        return answers[1:]
    finally:
        viewing.terminate()
        viewing.wait(timeout=20)


def without_path(report):
    return json.dumps(report).replace("app.drgb", "app.drgp")


def check_page(machine, bundle, before):
    page, piece = served(machine, bundle)
    machine.expect("view: the page", b"drgpum-report" in page and len(page) > 10_000)
    machine.expect("view: the first piece", len(piece) > 0 and piece == before[1])
    machine.run("view", bundle, "-o", str(machine.folder / "page.html"))


def check_bundle(machine):
    trace, bundle = machine.trace, str(machine.folder / "elsewhere/app.drgb")
    sources = ["--source-root", str(machine.folder / "sources")]
    told = machine.run("bundle", trace, "-o", bundle, "--with-source", *sources).stdout
    machine.expect("tells what is in it: " + told,
                   "1 device module, lines of 1 host module, lines of 2 source files" in told)
    machine.run("bundle", trace, "-o", bundle, status=2)
    machine.run("bundle", bundle, status=2)
    machine.run("bundle", trace, "-o", bundle, "-f", "--with-source", *sources)
    before = {"report": machine.report(trace, *sources), "plan": machine.run("plan", trace, "--autoswap", "--format", "json").stdout,
              "page": served(machine, trace), "csv": machine.run("report", trace, "--format", "csv").stdout}
    machine.recorded(here=False)
    report = machine.report(bundle)
    machine.expect("report: " + json.dumps(report), without_path(report) == without_path(before["report"]))
    x = next(one for one in report["objects"] if one["alloc"]["file"])
    machine.expect(f"host lines: {x['alloc']}", x["alloc"]["file"].endswith("call_path_sample.cpp") and x["alloc"]["line"] == 6)
    machine.expect(f"device lines: {x}", [line["line"] for line in x["access_lines"]] == [3, 4])
    text = machine.run("report", bundle).stdout
    machine.expect("source: " + text, "return x + 1;" in text)
    machine.expect("csv", machine.run("report", bundle, "--format", "csv").stdout == before["csv"])
    machine.expect("annotate", "| float v = x[i];" in machine.run("annotate", "saxpy.cu", bundle).stdout)
    machine.expect("info", bundle in machine.run("info", bundle).stdout)
    plan = machine.run("plan", bundle, "--autoswap", "--format", "json").stdout
    machine.expect("plan: " + plan, plan == before["plan"].replace(trace, bundle))
    machine.expect("export", machine.run("export", bundle, "--type", "dot").stdout.startswith("digraph"))
    diff = json.loads(machine.run("diff", bundle, bundle, "--format", "json").stdout)
    machine.expect(f"diff: {diff}", diff["sites"] == [] and diff["findings"] == [])
    if WITHOUT_PAGE:
        print("without the web application: view is not tried")
    else:
        check_page(machine, bundle, before["page"])
    cut = machine.folder / "cut.drgb"
    cut.write_bytes(pathlib.Path(bundle).read_bytes()[:-40])
    for verb in (["report"], ["plan"], ["view", "-o", str(machine.folder / "none.html")], ["info"], ["annotate", "saxpy.cu"]):
        machine.run(*verb, str(cut), status=3)
    machine.expect("nothing was written", not (machine.folder / "none.html").exists())
    machine.recorded(here=True)
    machine.expect("--help has examples", "Examples" in machine.run("bundle", "--help").stdout)


def check_symbol_path(machine):
    """The program moved, and is found by its build id only where it is the same."""
    there = machine.folder / "elsewhere"
    machine.program.rename(there / "app")
    x = machine.report(machine.trace)["objects"][0]
    machine.expect("nothing is invented", x["alloc"]["file"] == "")
    told = machine.run("report", machine.trace).stderr
    machine.expect("the missing module is named: " + told, f"{machine.program}: No such file" in told)
    x = machine.report(machine.trace, "--symbol-path", str(there))["objects"][0]
    machine.expect(f"found beside: {x['alloc']}", x["alloc"]["line"] == 6)
    subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id", str(there / "app")], check=True, timeout=60)
    told = machine.run("report", machine.trace, "--symbol-path", str(there)).stderr
    machine.expect("another build is refused: " + told, "is another build than the one recorded" in told)
    (there / "app").unlink()
    machine.program.write_bytes(pathlib.Path(machine.args.sample).read_bytes())


class DebugFiles(http.server.BaseHTTPRequestHandler):
    """As a debuginfod answers."""
    files, asked = {}, []

    def do_GET(self):
        self.asked.append(self.path)
        found = self.files.get(self.path)
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(found or b"")))
        self.end_headers()
        self.wfile.write(found or b"")

    def log_message(self, *_):
        pass


def check_debuginfod(machine):
    debug = machine.folder / "app.debug"
    subprocess.run(["objcopy", "--only-keep-debug", str(machine.program), str(debug)], check=True, timeout=60)
    subprocess.run(["objcopy", "--strip-all", str(machine.program)], check=True, timeout=60)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), DebugFiles)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    urls = {"DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}"}
    caches = [{"DEBUGINFOD_CACHE_PATH": str(machine.folder / f"debuginfod{k}")} for k in range(2)]
    machine.run("report", machine.trace, **urls, **caches[0])
    machine.expect("servers are asked only when told to", DebugFiles.asked == [])
    told = machine.run("report", machine.trace, "--debuginfod", **urls, **caches[0]).stderr
    machine.expect("no server has it: " + told, "no debuginfod server has its debug file" in told)
    DebugFiles.files = {f"/buildid/{machine.build_id}/debuginfo": debug.read_bytes()}
    x = machine.report(machine.trace, "--debuginfod", **urls, **caches[1])["objects"][0]
    machine.expect(f"lines by the server: {x['alloc']}", x["alloc"]["line"] == 6)
    server.shutdown()
    x = machine.report(machine.trace, "--debuginfod", **urls, **caches[1])["objects"][0]
    machine.expect("kept for later", x["alloc"]["line"] == 6)
    told = machine.run("report", machine.trace, "--debuginfod").stderr
    machine.expect("no server is named: " + told, "DEBUGINFOD_URLS names no server" in told)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--drgpum", "--make-trace", "--sample"):
        parser.add_argument(option, required=True, type=os.path.abspath)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(args, pathlib.Path(folder))
        check_bundle(machine)
        check_symbol_path(machine)
        check_debuginfod(machine)
    print("\n".join(machine.wrong) or "as expected")
    return 1 if machine.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
