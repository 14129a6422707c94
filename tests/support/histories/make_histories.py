# SPDX-License-Identifier: Apache-2.0
"""Files of other profilers, with the tables, events and fields that these write, as small as a test wants them: an SQLite
export of Nsight Systems, a trace of torch.profiler, a device memory profile of JAX."""
import gzip
import json
import sqlite3
from pathlib import Path

# --- Nsight Systems ------------------------------------------------------------------------------

MEMORY = ("start", "globalPid", "deviceId", "contextId", "address", "pc", "bytes", "memKind", "memoryOperationType",
          "name", "correlationId", "streamId", "localMemoryPoolAddress")
RUNTIME = ("start", "end", "globalTid", "correlationId", "nameId", "callchainId")
KERNEL = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName", "shortName",
          "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ")
MEMCPY = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes", "copyKind")
MEMSET = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes")
NVTX = ("start", "end", "eventType", "text", "textId", "globalTid")
CHAINS = ("id", "symbol", "module", "stackDepth")
KINDS = ("PAGEABLE", "PINNED", "DEVICE", "ARRAY", "MANAGED", "DEVICE_STATIC", "MANAGED_STATIC", "UNKNOWN")
PINNED, DEVICE, MANAGED, STATIC = 1, 2, 4, 5


def pid(process):
    return process << 24


class Nsight:
    """Rows by table; columns named in `without` are left out of all tables."""

    def __init__(self):
        self.tables, self.texts, self.correlation = {}, [], 100

    def text(self, text):
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1

    def row(self, table, columns, **values):
        rows = self.tables.setdefault(table, (columns, []))[1]
        rows.append([values.get(column) for column in columns])

    def call(self, time, name, process=7, chain=None):
        self.correlation += 1
        self.row("CUPTI_ACTIVITY_KIND_RUNTIME", RUNTIME, start=time, end=time + 10, globalTid=pid(process) + 3,
                 correlationId=self.correlation, nameId=self.text(name), callchainId=chain)
        return self.correlation

    def memory(self, time, operation, address, size, kind=DEVICE, process=7, device=0, chain=None, call=None, **more):
        call = call or ("cudaFree_v3020" if operation else "cudaMalloc_v3020")
        self.row("CUDA_GPU_MEMORY_USAGE_EVENTS", MEMORY, start=time, globalPid=pid(process), deviceId=device,
                 contextId=1, address=address, pc=0, bytes=size, memKind=kind, memoryOperationType=operation,
                 correlationId=self.call(time, call, process, chain), **more)

    def alloc(self, time, address, size, **more):
        self.memory(time, 0, address, size, **more)

    def free(self, time, address, size, **more):
        self.memory(time, 1, address, size, **more)

    def kernel(self, time, name, process=7, stream=7):
        self.row("CUPTI_ACTIVITY_KIND_KERNEL", KERNEL, start=time + 5, end=time + 25, deviceId=0, streamId=stream,
                 correlationId=self.call(time, "cudaLaunchKernel_v7000", process), globalPid=pid(process),
                 demangledName=self.text(name), shortName=self.text(name), gridX=4, gridY=1, gridZ=1, blockX=128,
                 blockY=1, blockZ=1)

    def copy(self, time, size, kind=1):
        self.row("CUPTI_ACTIVITY_KIND_MEMCPY", MEMCPY, start=time + 1, end=time + 3, deviceId=0, streamId=7,
                 correlationId=self.call(time, "cudaMemcpyAsync_v3020"), globalPid=pid(7), bytes=size, copyKind=kind)

    def set(self, time, size):
        self.row("CUPTI_ACTIVITY_KIND_MEMSET", MEMSET, start=time + 1, end=time + 3, deviceId=0, streamId=7,
                 correlationId=self.call(time, "cudaMemset_v3020"), globalPid=pid(7), bytes=size)

    def range(self, begin, end, name):
        self.row("NVTX_EVENTS", NVTX, start=begin, end=end, eventType=59, textId=self.text(name), globalTid=pid(7) + 3)

    def chain(self, number, *functions):
        for depth, (symbol, module) in enumerate(functions):
            self.row("CUDA_CALLCHAINS", CHAINS, id=number, symbol=self.text(symbol), module=self.text(module),
                     stackDepth=depth)

    def write(self, path, without=(), script=""):
        Path(path).unlink(missing_ok=True)
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
        db.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(self.texts, 1))
        db.execute("CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER PRIMARY KEY, name TEXT, label TEXT)")
        db.executemany("INSERT INTO ENUM_CUDA_MEM_KIND VALUES (?, ?, '')",
                       [(i, "CUDA_MEMOPR_MEMORY_KIND_" + kind) for i, kind in enumerate(KINDS)])
        db.execute("CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, computeMajor INTEGER, "
                   "computeMinor INTEGER)")
        db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 'A device', 8589934592, 9, 0)")
        for table, (columns, rows) in self.tables.items():
            kept = [i for i, column in enumerate(columns) if column not in without]
            db.execute(f"CREATE TABLE {table} ({', '.join(columns[i] for i in kept)})")
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(kept))})",
                           [[row[i] for i in kept] for row in rows])
        db.executescript(script)
        db.commit()
        db.close()


# --- torch.profiler ------------------------------------------------------------------------------

class Kineto:
    """Times in microseconds, as floats with three digits. `before` bytes are allocated when the trace begins."""

    def __init__(self, before=0):
        self.events, self.allocated, self.reserved, self.correlation = [], {}, {}, 0
        self.before = before

    def memory(self, time, address, size, device=0, kind=1, **args):
        self.allocated[device] = self.allocated.get(device, self.before) + size
        self.reserved[device] = max(self.reserved.get(device, 0), self.allocated[device])
        values = {"Total Reserved": self.reserved[device], "Total Allocated": self.allocated[device], "Bytes": size,
                  "Addr": address, "Device Id": device if kind else -1, "Device Type": kind, "Ev Idx": len(self.events)}
        values.update(args)
        self.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 41, "tid": 42,
                            "ts": time, "args": {k: v for k, v in values.items() if v is not None}})

    def slice(self, category, name, begin, length, pid=41, tid=42, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": begin, "dur": length,
                            "args": args})

    def kernel(self, time, name, category="kernel", **more):
        self.correlation += 1
        self.slice("cuda_runtime", "cudaLaunchKernel", time, 2, correlation=self.correlation)
        self.slice(category, name, time + 5, 10, 0, 7, device=0, stream=7, correlation=self.correlation, **more)

    def snapshot(self):
        return {"schemaVersion": 1,
                "deviceProperties": [{"id": 0, "name": "A device", "totalGlobalMem": 8589934592, "computeMajor": 9,
                                      "computeMinor": 0}],
                "distributedInfo": {"backend": "nccl", "rank": 0}, "traceEvents": self.events, "traceName": "x"}

    def write(self, path, array=False):
        text = json.dumps(self.events if array else self.snapshot(), indent=2).encode()
        Path(path).write_bytes(gzip.compress(text, 1) if str(path).endswith(".gz") else text)


# --- JAX -----------------------------------------------------------------------------------------

def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


class Pprof:
    """Samples of (count, bytes, labels, frames); a frame is (function, file, line)."""

    def __init__(self, types=(("allocations", "count"), ("space", "bytes"))):
        self.texts, self.locations, self.functions = [""], {}, {}
        self.head = b"".join(field(1, field(1, self.text(t)) + field(2, self.text(u))) for t, u in types)
        self.samples = b""

    def text(self, text):
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)

    def location(self, frame):
        function = self.functions.setdefault(frame[:2], len(self.functions) + 1)
        return self.locations.setdefault((function, frame[2]), len(self.locations) + 1)

    def sample(self, values, labels=(), frames=(), packed=True):
        ids = [self.location(frame) for frame in frames]
        if packed:
            body = field(1, b"".join(map(varint, ids))) + field(2, b"".join(map(varint, values)))
        else:
            body = b"".join(field(1, i) for i in ids) + b"".join(field(2, v) for v in values)
        for key, value in labels:
            body += field(3, field(1, self.text(key)) + field(2, self.text(value)))
        self.samples += field(2, body)

    def bytes(self):
        body = self.head + self.samples
        for (function, line), number in self.locations.items():
            body += field(4, field(1, number) + field(4, field(1, function) + field(2, line)))
        for (name, file), number in self.functions.items():
            body += field(5, field(1, number) + field(2, self.text(name)) + field(4, self.text(file)))
        return body + b"".join(field(6, text.encode()) for text in self.texts)

    def write(self, path):
        data = self.bytes()
        Path(path).write_bytes(gzip.compress(data) if str(path).endswith((".gz", ".prof")) else data)
