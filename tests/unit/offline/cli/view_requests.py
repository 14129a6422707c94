# SPDX-License-Identifier: Apache-2.0
"""`drgpum view` against who may not see what it serves: foreign hosts, origins and tokens, paths out of it, and many
mutated requests. All are refused, and the server lives.

    view_requests.py --drgpum PROGRAM --make-trace PROGRAM [--count 100000] [--seed 1]
"""

import argparse
import concurrent.futures
import http.client
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile

kAtOnce = 8  # connections, as many as the server answers at once
TRACE = "alloc A 1M; launch k reads A; alloc B 2M; launch k writes B; free A; free B; end exit=0"


class Server:
    def __init__(self, args, folder):
        text, trace = pathlib.Path(folder) / "t.txt", pathlib.Path(folder) / "t.drgp"
        text.write_text(TRACE)
        subprocess.run([args.make_trace, str(text), str(trace)], check=True, timeout=60)
        self.process = subprocess.Popen([args.drgpum, "view", "--no-browser", str(trace)], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.split(":")[2].split("/")[0])
        self.token = self.url.split("t=")[1]
        self.own = f"127.0.0.1:{self.port}"
        self.cookie = ""

    def ask(self, method, path, headers=None, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", self.own if host is None else host)
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def raw(self, request):
        """What comes back for these bytes in a moment; empty when the connection was closed, or is waited on for more."""
        answer = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as s:
            try:
                s.sendall(request)
                s.settimeout(5)
                while chunk := s.recv(65536):
                    answer += chunk
                    s.settimeout(0.02)
            except (ConnectionResetError, BrokenPipeError, TimeoutError):
                pass
        return answer


def check_who_sees(server, wrong):
    def expect(what, status, method, path, headers=None, host=None):
        answer, body = server.ask(method, path, headers, host)
        if answer.status != status:
            wrong.append(f"{what}: status {answer.status}, not {status}")
        if status != 200 and (b"drgpum-report" in body or len(body) > 200):
            wrong.append(f"{what}: gives content")
        for name in ("Access-Control-Allow-Origin", "Access-Control-Allow-Credentials"):
            if answer.getheader(name):
                wrong.append(f"{what}: lets other origins in: {name}")
        policy = answer.getheader("Content-Security-Policy") or ""
        if "default-src 'none'" not in policy or "frame-ancestors 'none'" not in policy:
            wrong.append(f"{what}: policy {policy!r}")
        return answer, body

    expect("no token", 401, "GET", "/")
    expect("foreign token", 401, "GET", "/?t=" + "0" * 32)
    expect("shorter token", 401, "GET", "/?t=" + server.token[:-1])
    expect("token in another case", 401, "GET", "/?t=" + server.token.upper()) if server.token.upper() != server.token else None
    bought, _ = expect("token", 303, "GET", "/?t=" + server.token)
    given = bought.getheader("Set-Cookie") or ""
    for part in ("HttpOnly", "SameSite=Strict", "Path=/"):
        if part not in given:
            wrong.append(f"cookie without {part}: {given}")
    if server.token in given:
        wrong.append("the cookie is the token")
    server.cookie = given.split(";")[0]
    mine = {"Cookie": server.cookie}
    _, page = expect("page", 200, "GET", "/", mine)
    if b"drgpum-report" not in page:
        wrong.append("the page is not the page")
    expect("piece", 200, "GET", "/pieces/0", mine)
    expect("piece without cookie", 401, "GET", "/pieces/0")
    expect("piece for a token only", 401, "GET", "/pieces/0?t=" + server.token)
    expect("foreign cookie", 401, "GET", "/", {"Cookie": "drgpum_view=" + "0" * 32})
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port}.evil.example", "", f"[::1]:{server.port}"):
        expect(f"host {host!r}", 403, "GET", "/", mine, host)
    for origin in ("http://evil.example", "null", "https://" + server.own, "http://127.0.0.1:1", f"http://localhost:{server.port}"):
        expect(f"origin {origin}", 403, "GET", "/pieces/0", {**mine, "Origin": origin})
    expect("own origin", 200, "GET", "/pieces/0", {**mine, "Origin": "http://" + server.own})
    for site in ("cross-site", "same-site", "nonsense"):
        expect(f"Sec-Fetch-Site {site}", 403, "GET", "/", {**mine, "Sec-Fetch-Site": site})
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        expect(method, 405, method, "/", {**mine, "Content-Length": "0"})
    for path in ("/etc/passwd", "/../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/pieces",
                 "/pieces/", "/pieces/-1", "/pieces/1e3", "/pieces/0/", "/pieces/0/../../etc/passwd", "/pieces/99999999999999999999",
                 "/pieces/1", "/calls/0/order/0", "/calls/9/level/0", "/calls/0/other/0", "/favicon.ico", "/index.html"):
        expect(f"path {path}", 404, "GET", path, mine)


def mutations(server, rng):
    """One request that a stranger, or a broken program, could send; and whether it may see anything."""
    host, cookie = server.own, server.cookie
    path = rng.choice(["/", "/pieces/0", "/calls/0/order/0", "/?t=" + server.token, "/" + "../" * rng.randrange(9) + "etc/passwd"])
    headers = [f"Host: {host}"]
    knows = rng.random() < 0.5
    if knows:
        headers.append(f"Cookie: {cookie}")
    headers += rng.sample(["Origin: http://" + host, "Sec-Fetch-Site: none", "Accept: */*", "Range: bytes=0-5", "Connection: close",
                           "Transfer-Encoding: identity", "Content-Length: 0", "X: " + "y" * rng.randrange(3000)], rng.randrange(5))
    request = bytearray(("\r\n".join([f"{rng.choice(['GET', 'GET', 'HEAD', 'POST', 'FOO'])} {path} HTTP/1.1", *headers]) + "\r\n\r\n").encode())
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(request))
        kind = rng.randrange(5)
        if kind == 0:
            request[at] = rng.randrange(256)
        elif kind == 1:
            del request[at:at + rng.randrange(1, 20)]
        elif kind == 2:
            request[at:at] = rng.randbytes(rng.randrange(1, 20))
        elif kind == 3:
            request[at:at] = request[at:at + rng.randrange(200)]
        else:
            del request[at + 1:]
        if not request:
            request = bytearray(b"G")
    # Its end comes, or the connection does: what is never finished only waits for the server's time limit.
    return bytes(request) + b"\r\n\r\n"


def may_see(server, request):
    """Whether the request still holds the secret: only then may anything come back."""
    return server.cookie.split("=")[1].encode() in request


def check_mutations(server, count, seed, wrong):
    rng = random.Random(seed)
    seen = {}
    def answers():
        with concurrent.futures.ThreadPoolExecutor(kAtOnce) as pool:
            for first in range(0, count, 1000):
                requests = [mutations(server, rng) for _ in range(min(1000, count - first))]
                yield from pool.map(lambda request: (request, server.raw(request)), requests)
    for i, (request, answer) in enumerate(answers()):
        status = answer[9:12].decode("latin1") if answer.startswith(b"HTTP/") else "closed"
        seen[status] = seen.get(status, 0) + 1
        has_content = b"drgpum-report" in answer or (status == "200" and len(answer) > 1500)
        if (has_content and not may_see(server, request)) or b"root:x:0" in answer:
            wrong.append(f"mutation {i} of seed {seed} gave content: {request!r}")
            if len(wrong) > 5:
                return
        if server.process.poll() is not None:
            wrong.append(f"the server died at mutation {i} of seed {seed}: {request!r}")
            return
    print(f"{count} mutated requests:", ", ".join(f"{n} × {status}" for status, n in sorted(seen.items())))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drgpum", required=True)
    parser.add_argument("--make-trace", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if "DRGPUM_WITHOUT_PAGE" in os.environ:
        print("skipped: this drgpum was built without the web application")
        return 77
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(args, folder)
        try:
            check_who_sees(server, wrong)
            check_mutations(server, args.count, args.seed, wrong)
            answer, body = server.ask("GET", "/", {"Cookie": server.cookie})
            if answer.status != 200 or b"drgpum-report" not in body:
                wrong.append("the server does not answer any more")
        finally:
            server.process.kill()
            server.process.wait()
    print("\n".join(wrong) if wrong else "refused, and the server lives")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
