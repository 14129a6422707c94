// SPDX-License-Identifier: Apache-2.0
// The device's time of calls, where a timing run or an emulated device told it, and what lies across a drawing: calls in
// the order of issue, or that time.
import type { Numbers } from './columns';
import type { Report } from './report';

export class Clock {
  // Of calls `at` (rising) the time (never falling), in ns; in between by straight lines.
  constructor(private readonly at: Numbers, private readonly ns: Numbers, readonly end: number) {}

  timeAt(call: number): number {
    return between(this.at, this.ns, call);
  }
  // The lowest call with that time.
  callAt(time: number): number {
    return between(this.ns, this.at, time);
  }
}

// The value at `x` of the line through the points (xs, ys); the first of several points with the same x counts.
function between(xs: Numbers, ys: Numbers, x: number): number {
  let low = 0;
  let high = xs.length;
  while (low < high) {
    const mid = (low + high) >>> 1;
    if (xs[mid]! < x) low = mid + 1;
    else high = mid;
  }
  if (low === 0) return ys[0] ?? 0;
  if (low === xs.length) return ys[low - 1]!;
  const [x0, x1] = [xs[low - 1]!, xs[low]!];
  return ys[low - 1]! + ((x - x0) / (x1 - x0)) * (ys[low]! - ys[low - 1]!);
}

// Null where the report has no times.
export function clockOf(report: Report, calls: number): Clock | null {
  const { clock } = report;
  if (clock) {
    const n = clock.ns.length;
    const at = new Float64Array(n + 1);
    const ns = new Float64Array(n + 1);
    for (let k = 0; k < n; k++) {
      at[k] = k * clock.stretch;
      ns[k] = clock.ns[k]!;
    }
    at[n] = calls;
    ns[n] = clock.end_ns;
    return clock.end_ns > 0 ? new Clock(at, ns, clock.end_ns) : null;
  }
  const line = report.timeline?.find((t) => t.time_ns !== null && t.time_ns.length > 1);
  const end = report.device_time_ns ?? 0;
  if (!line || end <= 0) return null;
  return new Clock([...line.call, calls], [...line.time_ns!, end], end);
}

// Calls [from, to) across a drawing; with a clock by its time.
export interface Across {
  from: number;
  to: number;
  clock?: Clock | null;
}
// 0 at the left edge, 1 at the right.
export function shareOf(s: Across, call: number): number {
  if (!s.clock) return (call - s.from) / (s.to - s.from);
  const start = s.clock.timeAt(s.from);
  return (s.clock.timeAt(call) - start) / Math.max(1e-3, s.clock.timeAt(s.to) - start);
}
export function callOf(s: Across, share: number): number {
  if (!s.clock) return s.from + share * (s.to - s.from);
  const start = s.clock.timeAt(s.from);
  return s.clock.callAt(start + share * (s.clock.timeAt(s.to) - start));
}
// The calls at the edges of `n` columns of the same width, n + 1 of them; they never fall.
export function edgesOf(s: Across, n: number): Float64Array {
  const edges = new Float64Array(n + 1);
  const start = s.clock?.timeAt(s.from) ?? s.from;
  const width = ((s.clock?.timeAt(s.to) ?? s.to) - start) / n;
  for (let k = 1; k < n; k++) edges[k] = s.clock ? Math.max(edges[k - 1]!, s.from, s.clock.callAt(start + k * width)) : start + k * width;
  edges[0] = s.from;
  edges[n] = s.to;
  return edges;
}

// "12.3 ms"
export function duration(ns: number): string {
  const units: [number, string][] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']];
  const [unit, word] = units.find(([u]) => Math.abs(ns) >= u) ?? [1, 'ns'];
  const value = ns / unit;
  return `${Number(value.toPrecision(value >= 100 ? 4 : 3))} ${word}`;
}
