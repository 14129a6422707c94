# SPDX-License-Identifier: Apache-2.0
"""What a memory snapshot says about bytes, worked out the slow way: one list of what lives, event by event.
Shares nothing with the importer but the rules (offline/import/replay_history.h).

  replay_snapshot.py FILE...    prints one line of JSON for each
"""
import collections
import json
import pickle
import sys

SEGMENT_EVENTS = ("segment_alloc", "segment_free", "segment_map", "segment_unmap")


def load(path):
    import gzip
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return json.loads(data) if data[:1] in b"{[" else pickle.loads(data)


class Life:
    def __init__(self, address, size, stream, begin):
        self.address, self.size, self.stream, self.begin = address, size, stream, begin
        self.end = self.request = None
        self.recorded = begin is not None

    def meets(self, address, size):
        return self.address < address + size and address < self.address + self.size


class Replay:
    def __init__(self, events, segments):
        self.events, self.segments = events, segments
        self.live, self.lives, self.unmatched = [], [], []
        self.counts = collections.Counter()
        for i, event in enumerate(events):
            self.step(i, event)
        self.finish()
        self.place_unmatched()

    def end(self, life, i, recorded):
        life.end = i
        self.live.remove(life)
        self.counts["unrecorded_ends"] += not recorded

    def clear(self, address, size, i):
        for life in [x for x in self.live if x.meets(address, size)]:
            self.end(life, i, False)

    def begin(self, address, size, stream, i):
        life = Life(address, size, stream, i)
        self.live.append(life)
        self.lives.append(life)
        return life

    def step(self, i, event):
        action, address, size = event["action"], event.get("addr", 0), event.get("size", 0)
        if action == "alloc" and size:
            self.clear(address, size, i)
            self.begin(address, size, event["stream"], i)
        elif action in ("free_requested", "free_completed", "free"):
            life = next((x for x in self.live if x.address == address), None)
            if life is None:
                life = self.unmatched_free(event, i)
            if life is None:
                return
            if action == "free_requested":
                life.request = i if life.request is None else life.request
            else:
                self.end(life, i, True)
        elif action in ("segment_free", "segment_unmap"):
            self.clear(address, size, i)

    def unmatched_free(self, event, i):
        if not event["size"]:
            return None
        self.counts["unmatched_frees"] += 1
        if any(x.meets(event["addr"], event["size"]) for x in self.live):
            return None
        life = self.begin(event["addr"], event["size"], event["stream"], None)
        self.unmatched.append((i, life))
        return life

    def finish(self):
        n, confirmed = len(self.events), []
        for segment in self.segments:
            address = segment["address"]
            for block in segment["blocks"]:
                address = block.get("address", address)
                if block["state"] != "inactive" and block["size"]:
                    life = next((x for x in self.live if x.address == address), None)
                    if life is None:
                        self.clear(address, block["size"], n)
                        life = self.begin(address, block["size"], segment["stream"], None)
                        self.unmatched.append((n, life))
                        self.counts["unmatched_blocks"] += 1
                    confirmed.append(life)
                address += block["size"]
        if self.segments:
            self.counts["unseen_ends"] = sum(all(x is not y for y in confirmed) for x in self.live)

    def place_unmatched(self):
        self.unmatched.sort(key=lambda one: one[0])
        for i, life in self.unmatched:
            ends = [x.end for x in self.lives if x is not life and x.end is not None and x.end <= i and
                    ((x.recorded and x.address <= life.address < x.address + x.size) or
                     (not x.recorded and x.address == life.address and any(
                         x is other and when < i for when, other in self.unmatched)))]
            life.begin = max(ends, default=None)

    # --- curves: [0] before the first event, [i + 1] after event i, the last behind the end state ---

    def curve(self, lives, start):
        n = len(self.events)
        change = [0] * (n + 2)
        for life in lives:
            begin = start(life)
            change[0 if begin is None else begin + 1] += life.size
            if life.end is not None:
                change[life.end + 1] -= life.size
        total, out = 0, []
        for delta in change:
            total += delta
            out.append(total)
        return out

    def pending(self, lives):
        waiting = []
        for life in lives:
            if life.request is None:
                continue
            at_once = life.end == life.request + 1 and life.end < len(self.events) and \
                self.events[life.end]["action"] in ("free_completed", "free") and \
                self.events[life.end].get("addr") == life.address
            if not at_once:
                waiting.append(life)
        return waiting


def reserved_curve(events, segments):
    """Backwards from the end state, so that nothing has to be known about the beginning."""
    total = sum(s["total_size"] for s in segments)
    out = [total]
    for event in reversed(events):
        if event["action"] in ("segment_alloc", "segment_map"):
            total -= event["size"]
        elif event["action"] in ("segment_free", "segment_unmap"):
            total += event["size"]
        out.append(total)
    return out[::-1]


def totals(snapshot):
    """By device, what the report's memory_pressure and coverage say as well."""
    result = {}
    traces = snapshot.get("device_traces", [])
    segments = collections.defaultdict(list)
    for segment in snapshot["segments"]:
        segments[segment.get("device", 0)].append(segment)
    for device in sorted(set(range(len(traces))) | set(segments)):
        events = traces[device] if device < len(traces) else []
        if not events and not segments[device]:
            continue
        result[device] = device_totals(events, segments[device])
    return result


def device_totals(events, segments):
    replay = Replay(events, segments)
    allocated = replay.curve(replay.lives, lambda x: x.begin)
    waiting = replay.pending(replay.lives)
    pending = replay.curve(waiting, lambda x: x.request)
    reserved = reserved_curve(events, segments)
    streams = {}
    for stream in sorted({x.stream for x in replay.lives}):
        of = [x for x in replay.lives if x.stream == stream]
        curve = replay.curve(of, lambda x: x.begin)
        wait = replay.curve([x for x in waiting if x.stream == stream], lambda x: x.request)
        streams[str(stream)] = [max(curve), curve[-1], max(wait), wait[-1]]
    return {"allocated_peak": max(allocated), "allocated_end": allocated[-1], "pending_peak": max(pending),
            "pending_end": pending[-1], "reserved_peak": max(reserved), "reserved_end": reserved[-1],
            "lowest": min(min(allocated), min(reserved)), "streams": streams,
            "counts": {k: v for k, v in replay.counts.items() if v}}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(json.dumps(totals(load(name))))
