// SPDX-License-Identifier: Apache-2.0
// Live bytes by call: a step curve with a pyramid of maxima, so that a pixel of any width shows its true highest
// value, at any zoom.

import type { Numbers } from './columns';

const kFanOut = 4;

export class Curve {
  private readonly maxima: Float64Array[];
  constructor(
    readonly at: Uint32Array, // call of each step, rising
    readonly bytes: Float64Array, // live from this step to the next
    readonly end: number, // calls there are
    readonly stretch = 1, // calls of a step that shows only the highest value in them; 1: every step is there
  ) {
    this.maxima = [bytes];
    for (let below = bytes; below.length > kFanOut; below = this.maxima[this.maxima.length - 1]!) {
      const level = new Float64Array(Math.ceil(below.length / kFanOut));
      for (let i = 0; i < below.length; i++) {
        const to = (i / kFanOut) | 0;
        if (below[i]! > level[to]!) level[to] = below[i]!;
      }
      this.maxima.push(level);
    }
  }
  // The last step at or before `call`; -1 before the first.
  stepAt(call: number): number {
    let low = 0;
    let high = this.at.length;
    while (low < high) {
      const mid = (low + high) >>> 1;
      if (this.at[mid]! <= call) low = mid + 1;
      else high = mid;
    }
    return low - 1;
  }
  valueAt(call: number): number {
    const step = this.stepAt(call);
    return step < 0 ? 0 : this.bytes[step]!;
  }
  // The first call in [a, b) with the highest value there.
  highestAt(a: number, b: number): number {
    const most = this.highest(a, b);
    let from = Math.max(0, this.stepAt(a));
    const to = this.stepAt(Math.max(a, b - 1e-9)) + 1;
    if (from >= to) return a;
    // Up and down the pyramid to the first step that reaches it.
    while (from < to && this.bytes[from]! < most) {
      let level = 0;
      let width = 1;
      while (level + 1 < this.maxima.length && from % (width * kFanOut) === 0 && this.maxima[level + 1]![from / (width * kFanOut)]! < most) {
        level++;
        width *= kFanOut;
      }
      from += width;
    }
    return Math.max(a, this.at[Math.min(from, this.at.length - 1)] ?? a);
  }
  // The highest value at calls in [a, b).
  highest(a: number, b: number): number {
    let from = this.stepAt(a);
    let to = this.stepAt(Math.max(a, b - 1e-9)) + 1;
    let best = 0;
    if (from < 0) from = 0;
    let level = 0;
    while (from < to) {
      const row = this.maxima[level]!;
      while (from < to && from % kFanOut !== 0) best = Math.max(best, row[from++]!);
      while (from < to && to % kFanOut !== 0) best = Math.max(best, row[--to]!);
      if (from >= to) break;
      if (level + 1 >= this.maxima.length) {
        for (; from < to; from++) best = Math.max(best, row[from]!);
        break;
      }
      from /= kFanOut;
      to /= kFanOut;
      level++;
    }
    return best;
  }
  get peak(): number {
    return this.highest(0, this.end + 1);
  }
  peakCall(): number {
    let best = 0;
    for (let i = 1; i < this.bytes.length; i++) if (this.bytes[i]! > this.bytes[best]!) best = i;
    return this.at[best] ?? 0;
  }
}

// Lifetimes [begin, end) with sizes, of the members for which `counts` holds, as steps. At one call, what ends ends before
// what begins begins.
export function stepsOf(begin: Numbers, end: Numbers, size: Numbers, counts: (i: number) => boolean): { at: Uint32Array; bytes: Float64Array } {
  let n = 0;
  const members = new Uint32Array(begin.length);
  for (let i = 0; i < begin.length; i++) if (size[i]! > 0 && begin[i]! < end[i]! && counts(i)) members[n++] = i;
  // The call and the place in one number, exact below 2^53, so that the arrays sort without a function.
  const sorted = (call: Numbers): Float64Array => {
    const keys = new Float64Array(n);
    for (let k = 0; k < n; k++) keys[k] = call[members[k]!]! * kPlaces + k;
    return keys.sort();
  };
  const begins = sorted(begin);
  const ends = sorted(end);
  const at = new Uint32Array(2 * n);
  const bytes = new Float64Array(2 * n);
  let live = 0;
  let steps = 0;
  for (let b = 0, e = 0; e < n;) {
    const call = Math.min(b < n ? Math.floor(begins[b]! / kPlaces) : Infinity, Math.floor(ends[e]! / kPlaces));
    for (; e < n && Math.floor(ends[e]! / kPlaces) === call; e++) live -= size[members[ends[e]! % kPlaces]!]!;
    for (; b < n && Math.floor(begins[b]! / kPlaces) === call; b++) live += size[members[begins[b]! % kPlaces]!]!;
    at[steps] = call;
    bytes[steps++] = live;
  }
  return { at: at.slice(0, steps), bytes: bytes.slice(0, steps) };
}
const kPlaces = 2 ** 21 * 2;

export function curveOf(begin: Numbers, end: Numbers, size: Numbers, calls: number, counts: (i: number) => boolean): Curve {
  const { at, bytes } = stepsOf(begin, end, size, counts);
  return new Curve(at, bytes, calls);
}
