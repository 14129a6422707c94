# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots as PyTorch writes them, of every generation, protocol and action, made by a small
caching allocator that is driven at random. Only the standard library is used.

  make_snapshots.py DIR --count N [--seed S]    writes DIR/000000.pickle ... and files in other forms
  make_snapshots.py FILE --events N             one large snapshot (for measurements)
"""
import argparse
import gzip
import json
import pickle
import random
import struct
from pathlib import Path

GENERATIONS = range(9)
MIB = 1 << 20
STREAMS = (0, 0x7F0000001000, 0x7F0000002000)


class Block:
    def __init__(self, segment, address, size):
        self.segment, self.address, self.size = segment, address, size
        self.state, self.requested, self.frames = "inactive", 0, []


class Segment:
    def __init__(self, address, size, stream, pool, small, expandable):
        self.address, self.size, self.stream, self.pool = address, size, stream, pool
        self.small, self.expandable = small, expandable
        self.blocks = [Block(self, address, size)]


class Allocator:
    """One device. Events carry every key of the latest generation; strip() takes the later ones."""

    def __init__(self, rng, device, clock, frames):
        self.rng, self.device, self.clock, self.frames = rng, device, clock, frames
        self.segments, self.events, self.pending, self.active = [], [], [], []
        self.next_address = 0x7F0000000000 + device * (1 << 40)
        self.capacity = rng.choice((64, 96, 1024)) * MIB

    def stack(self):
        rng = self.rng
        return [rng.choice(self.frames) for _ in range(rng.randrange(4))]

    def event(self, action, address, size, stream, pool=(0, 0), **more):
        self.clock[0] += self.rng.randrange(50)
        event = {"action": action, "addr": address, "size": size, "stream": stream, "time_us": self.clock[0],
                 "frames": self.stack(), "compile_context": self.rng.choice(("N/A", "0/0", "1/2")),
                 "user_metadata": self.rng.choice(("", "", "layer1", {"step": 3, "tags": ["a", None]})),
                 "pool_id": pool, "internal_metadata": ""}
        event.update(more)
        self.events.append(event)
        return event

    def reserved(self):
        return sum(s.size for s in self.segments)

    def new_segment(self, size, stream, pool, small):
        if self.reserved() + size > self.capacity:
            return None
        expandable = pool == (0, 0) and self.rng.random() < 0.3
        grown = None
        if expandable:
            grown = next((s for s in self.segments if s.expandable and s.stream == stream and s.small == small
                          and s.address + s.size == self.next_address), None)
        address = self.next_address
        self.next_address += size
        if self.rng.random() < 0.2:
            self.next_address += 64 * MIB
        self.event("segment_map" if expandable else "segment_alloc", address, size, stream, pool)
        if grown:
            grown.size += size
            grown.blocks.append(Block(grown, address, size))
            return grown
        self.segments.append(Segment(address, size, stream, pool, small, expandable))
        return self.segments[-1]

    def allocate(self):
        rng = self.rng
        requested = int(2 ** rng.uniform(0, 24))
        size = (requested + 511) // 512 * 512
        stream = rng.choice(STREAMS)
        pool = (0, 0) if rng.random() < 0.8 else (self.device + 1, 0)
        small = size <= MIB
        fits = [b for s in self.segments if s.stream == stream and s.pool == pool and s.small == small
                for b in s.blocks if b.state == "inactive" and b.size >= size]
        block = min(fits, key=lambda b: (b.size, b.address), default=None)
        if block is None:
            wanted = 2 * MIB if small else max(20 * MIB, (size + 2 * MIB - 1) // (2 * MIB) * 2 * MIB)
            segment = self.new_segment(wanted, stream, pool, small)
            if segment is None:
                free = self.capacity - self.reserved()
                oom = self.event("oom", 0, size, stream, pool, device_free=free)
                del oom["addr"]
                return
            block = segment.blocks[-1]
        if block.size - size >= 512:
            rest = Block(block.segment, block.address + size, block.size - size)
            block.size = size
            block.segment.blocks.insert(block.segment.blocks.index(block) + 1, rest)
        block.state, block.requested = "active_allocated", requested
        event = self.event("alloc", block.address, block.size, stream, pool)
        block.frames = event["frames"]
        self.active.append(block)

    def release(self):
        if not self.active:
            return
        block = self.active.pop(self.rng.randrange(len(self.active)))
        segment = block.segment
        self.event("free_requested", block.address, block.size, segment.stream, segment.pool)
        block.state = "active_pending_free"
        if self.rng.random() < 0.7:
            self.complete(block)
        else:
            self.pending.append(block)

    def complete(self, block):
        segment = block.segment
        self.event("free_completed", block.address, block.size, segment.stream, segment.pool)
        block.state, block.requested, block.frames = "inactive", 0, []
        self.merge(segment)

    def merge(self, segment):
        merged = [segment.blocks[0]]
        for block in segment.blocks[1:]:
            if block.state == merged[-1].state == "inactive":
                merged[-1].size += block.size
            else:
                merged.append(block)
        segment.blocks = merged

    def trim(self):
        for segment in list(self.segments):
            if all(b.state == "inactive" for b in segment.blocks) and self.rng.random() < 0.5:
                action = "segment_unmap" if segment.expandable else "segment_free"
                self.event(action, segment.address, segment.size, segment.stream, segment.pool)
                self.segments.remove(segment)

    def unmap_middle(self):
        """Takes whole inactive 2 MiB pages out of an expandable segment, which splits it."""
        for segment in list(self.segments):
            for block in segment.blocks if segment.expandable else ():
                begin = (block.address + 2 * MIB - 1) // (2 * MIB) * 2 * MIB
                end = (block.address + block.size) // (2 * MIB) * 2 * MIB
                if block.state != "inactive" or begin >= end:
                    continue
                self.event("segment_unmap", begin, end - begin, segment.stream, segment.pool)
                self.split(segment, block, begin, end)
                return

    def split(self, segment, block, begin, end):
        at = segment.blocks.index(block)
        before, after = segment.blocks[:at], segment.blocks[at + 1:]
        if begin > block.address:
            before.append(Block(segment, block.address, begin - block.address))
        if end < block.address + block.size:
            after.insert(0, Block(segment, end, block.address + block.size - end))
        self.segments.remove(segment)
        for blocks in (before, after):
            if not blocks:
                continue
            part = Segment(blocks[0].address, sum(b.size for b in blocks), segment.stream, segment.pool,
                           segment.small, True)
            part.blocks = blocks
            for one in blocks:
                one.segment = part
            self.segments.append(part)

    def step(self):
        choice = self.rng.random()
        if choice < 0.5:
            self.allocate()
        elif choice < 0.85:
            self.release()
        elif choice < 0.93 and self.pending:
            self.complete(self.pending.pop(self.rng.randrange(len(self.pending))))
        elif choice < 0.95:
            self.trim()
        elif choice < 0.97:
            self.unmap_middle()
        elif choice < 0.98:
            self.event("snapshot", 0, 0, 0)
        elif choice < 0.99:
            self.event("annotate", 0, 0, 0, user_metadata="phase")

    def dump_segments(self):
        return [{"device": self.device, "address": s.address, "total_size": s.size,
                 "allocated_size": sum(b.size for b in s.blocks if b.state == "active_allocated"),
                 "active_size": sum(b.size for b in s.blocks if b.state != "inactive"),
                 "requested_size": sum(b.requested for b in s.blocks), "stream": s.stream,
                 "segment_type": "small" if s.small else "large", "segment_pool_id": s.pool,
                 "is_expandable": s.expandable, "frames": self.stack(),
                 "blocks": [{"address": b.address, "size": b.size, "requested_size": b.requested,
                             "state": b.state, "frames": b.frames} for b in s.blocks]}
                for s in sorted(self.segments, key=lambda s: s.address)]


def strip(snapshot, generation):
    """Takes away what came after `generation`."""
    drop = set()
    if generation < 8:
        drop.add("internal_metadata")
    if generation < 7:
        drop.add("pool_id")
    if generation < 6:
        drop.add("user_metadata")
    if generation < 5:
        drop.add("compile_context")
    if generation < 2:
        drop.add("time_us")
    for trace in snapshot["device_traces"]:
        if generation < 8:
            trace[:] = [e for e in trace if e["action"] != "annotate"]
        for event in trace:
            for key in drop & event.keys():
                del event[key]
            if 6 <= generation < 8 and isinstance(event["user_metadata"], dict):
                event["user_metadata"] = json.dumps(event["user_metadata"])
    if generation == 0:
        for segment in snapshot["segments"]:
            for key in ("segment_pool_id", "is_expandable", "frames", "requested_size"):
                del segment[key]
            for block in segment["blocks"]:
                block["history"] = [{"addr": block["address"], "real_size": block["requested_size"],
                                     "frames": block["frames"]}]
                for key in ("address", "requested_size", "frames"):
                    del block[key]
    if generation < 8:
        for key in ("host_segments", "host_traces"):
            snapshot.pop(key, None)
    if generation < 7:
        snapshot.pop("trace_alloc_overflowed", None)
    if generation < 4:
        snapshot.pop("external_annotations", None)
    if generation < 3:
        snapshot.pop("allocator_settings", None)


def make(seed, steps=None):
    """A snapshot, and what was done to it: "whole", "ring" (its beginning is lost), "holes" (events are)."""
    rng = random.Random(seed)
    generation = seed % len(GENERATIONS)
    frames = [{"filename": rng.choice(("/home/u/train.py", "/usr/lib/python3.11/site-packages/torch/nn/m.py", "??")),
               "name": f"f{i}", "line": rng.randrange(500)} for i in range(12)]
    clock = [1_700_000_000_000_000]
    devices = [Allocator(rng, d, clock, frames) for d in range(rng.choice((1, 1, 2, 3)))]
    annotations = []
    for step in range(steps or rng.randrange(10, 160)):
        if step % 20 == 0:
            annotations.append({"stage": "START", "name": f"ProfilerStep#{step // 20}", "device": 0, "time_us": clock[0]})
        rng.choice(devices).step()
        if step % 20 == 19:
            annotations.append({"stage": "END", "name": f"ProfilerStep#{step // 20}", "device": 0, "time_us": clock[0]})
    traces = [d.events for d in devices]
    damage = rng.choice(("whole", "whole", "ring", "holes"))
    if damage == "ring":
        traces = [t[rng.randrange(len(t) + 1):] for t in traces]
    if damage == "holes":
        traces = [[e for e in t if rng.random() > 0.15 or e["action"].startswith("segment")] for t in traces]
    if generation == 4:
        for trace in traces:
            trace.insert(0, {"action": "user_defined", "addr": 0, "size": 0, "stream": 0, "frames": [],
                             "time_us": clock[0] - 10**6, "stage": "START", "name": "epoch"})
    if rng.random() < 0.2:
        traces.append([])
    host = Allocator(rng, 0, [clock[0]], frames)
    for _ in range(12):
        host.step()
    snapshot = {"segments": [s for d in devices for s in d.dump_segments()], "device_traces": traces,
                "allocator_settings": {"expandable_segments": True, "max_split_size": -1, "garbage_collection_threshold": 0.5,
                                       "roundup_power2_divisions": {"1": 0, "2": 0}},
                "external_annotations": annotations, "trace_alloc_overflowed": damage == "ring",
                "host_segments": host.dump_segments(), "host_traces": host.events}
    strip(snapshot, generation)
    return snapshot, damage


def dump(snapshot, path, form):
    """form: p0 ... p5, json, p4.gz, json.gz. Tuples become lists in JSON."""
    data = json.dumps(snapshot).encode() if form.startswith("json") else pickle.dumps(snapshot, int(form[1]))
    if form == "python":
        data = pickle._dumps(snapshot, 2)
    if form.endswith(".gz"):
        data = gzip.compress(data, 1)
    Path(path).write_bytes(data)


FORMS = ("p0", "p1", "p2", "p3", "p4", "p5", "json", "p4.gz", "json.gz")


class LargePickle:
    """Writes events opcode by opcode, as Python's pickler would: names, frames and their lists by memo."""

    def __init__(self, file):
        self.write, self.memo = file.write, 0

    def remember(self, opcodes):
        """The opcode that fetches what `opcodes` make."""
        number, self.memo = self.memo, self.memo + 1
        put, get = ((b"q", b"h") if number < 256 else (b"r", b"j"))
        index = number.to_bytes(1 if number < 256 else 4, "little")
        self.write(opcodes + put + index + b"0")
        return get + index

    def text(self, text):
        return self.remember(b"\x8c" + bytes([len(text)]) + text.encode())

    @staticmethod
    def number(value):
        if value < 256:
            return b"K" + bytes([value])
        if value < 1 << 31:
            return b"J" + value.to_bytes(4, "little")
        return b"\x8a\x07" + value.to_bytes(7, "little")


def dump_large(path, count):
    """`count` events of a training loop, written as they come."""
    rng = random.Random(7)
    with open(path, "wb") as file:
        out = LargePickle(file)
        file.write(b"\x80\x04")
        key = {k: out.text(k) for k in ("action", "addr", "size", "stream", "time_us", "frames", "compile_context",
                                        "user_metadata", "alloc", "free_requested", "free_completed", "N/A", "",
                                        "filename", "name", "line", "segments", "device_traces")}
        frames = []
        for i in range(500):
            names = out.text(f"/home/u/model{i % 40}.py"), out.text(f"forward{i}")
            frames.append(out.remember(b"}(" + key["filename"] + names[0] + key["name"] + names[1] + key["line"] +
                                       out.number(i) + b"u"))
        stacks = [b"]\x94(" + b"".join(rng.choice(frames) for _ in range(rng.randrange(8, 16))) + b"e"
                  for _ in range(240)]
        file.write(b"}(" + key["segments"] + b"]" + key["device_traces"] + b"](](")
        write_events(file, key, stacks, rng, count)
        file.write(b"eeu.")


def write_events(file, key, stacks, rng, count):
    tail = key["stream"] + b"K\x00"
    rest = key["compile_context"] + key["N/A"] + key["user_metadata"] + key[""] + b"u"
    head = {a: b"}\x94(" + key["action"] + key[a] + key["addr"] for a in ("alloc", "free_requested", "free_completed")}
    number = LargePickle.number
    live, free, top, clock, made, chunk = [], {}, 0x7F0000000000, 1_700_000_000_000_000, 0, []

    def put(action, address, size, stack):
        chunk.append(head[action] + number(address) + key["size"] + number(size) + tail + key["time_us"] +
                     number(clock) + key["frames"] + stack + rest)

    while made < count:
        clock += 3
        stack = stacks[rng.randrange(len(stacks))]
        if len(live) < 4000 or rng.random() < 0.5:
            size = rng.choice((512, 2048, 65536, 1 << 20, 8 << 20))
            if free.get(size):
                address = free[size].pop()
            else:
                address, top = top, top + size
            live.append((address, size))
            put("alloc", address, size, stack)
            made += 1
        else:
            at = rng.randrange(len(live))
            live[at], live[-1] = live[-1], live[at]
            address, size = live.pop()
            free.setdefault(size, []).append(address)
            put("free_requested", address, size, stack)
            put("free_completed", address, size, stack)
            made += 2
        if len(chunk) >= 1000:
            file.write(b"".join(chunk) + (b"e(" if made < count else b""))
            chunk.clear()
    file.write(b"".join(chunk))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--count", type=int, default=90)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--events", type=int)
    args = parser.parse_args()
    if args.events:
        return dump_large(args.target, args.events)
    Path(args.target).mkdir(parents=True, exist_ok=True)
    for seed in range(args.seed, args.seed + args.count):
        snapshot, _ = make(seed)
        form = FORMS[seed % len(FORMS)]
        dump(snapshot, Path(args.target) / f"{seed:06}.{form}", form)


if __name__ == "__main__":
    main()
