// SPDX-License-Identifier: Apache-2.0
// Live bytes by call: a step curve with a pyramid of maxima, so that a pixel of any width shows its true highest
// value, at any zoom.

import type { Numbers } from './columns';

const kFanOut = 4;
const kScanned = 24; // steps that are looked at one by one

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
    const from = Math.max(0, this.stepAt(a));
    const to = this.stepAt(Math.max(a, b - 1e-9)) + 1;
    if (from >= to) return a;
    return Math.max(a, this.at[this.firstReaching(from, to, this.highestOf(from, to))]!);
  }
  // The highest value at calls in [a, b).
  highest(a: number, b: number): number {
    return this.highestOf(Math.max(0, this.stepAt(a)), this.stepAt(Math.max(a, b - 1e-9)) + 1);
  }
  // Up and down the pyramid to the first step that reaches `most`.
  private firstReaching(from: number, to: number, most: number): number {
    while (from < to && this.bytes[from]! < most) {
      let level = 0;
      let width = 1;
      while (level + 1 < this.maxima.length && from % (width * kFanOut) === 0 && this.maxima[level + 1]![from / (width * kFanOut)]! < most) {
        level++;
        width *= kFanOut;
      }
      from += width;
    }
    return Math.min(from, this.at.length - 1);
  }
  // Of the steps [from, to).
  private highestOf(from: number, to: number): number {
    let best = 0;
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
  // Of `n` windows side by side, `width` calls each from `from` on: the highest values, and where they are first reached.
  windows(from: number, width: number, n: number): { most: Float64Array; at: Float64Array } {
    const most = new Float64Array(n);
    const at = new Float64Array(n);
    let step = this.stepAt(from); // the one that holds at the window's begin
    for (let k = 0; k < n; k++) {
      const a = from + k * width;
      const b = a + width;
      let next = step;
      let far = 1;
      // On to the last step before the window's end: in growing strides, then by halves.
      while (next + far < this.at.length && this.at[next + far]! < b) {
        next += far;
        far *= 2;
      }
      for (; far >= 1; far >>= 1) while (next + far < this.at.length && this.at[next + far]! < b) next += far;
      at[k] = a;
      if (next - step <= kScanned) {
        for (let i = Math.max(0, step); i <= next; i++)
          if (this.bytes[i]! > most[k]!) {
            most[k] = this.bytes[i]!;
            at[k] = Math.max(a, this.at[i]!);
          }
      } else {
        most[k] = this.highestOf(Math.max(0, step), next + 1);
        at[k] = Math.max(a, this.at[this.firstReaching(Math.max(0, step), next + 1, most[k]!)]!);
      }
      step = next;
    }
    return { most, at };
  }
  // The values at calls that rise.
  valuesAt(calls: Float64Array): Float64Array {
    const values = new Float64Array(calls.length);
    let step = calls.length > 0 ? this.stepAt(calls[0]!) : -1;
    for (let k = 0; k < calls.length; k++) {
      let far = 1;
      while (step + far < this.at.length && this.at[step + far]! <= calls[k]!) {
        step += far;
        far *= 2;
      }
      for (; far >= 1; far >>= 1) while (step + far < this.at.length && this.at[step + far]! <= calls[k]!) step += far;
      values[k] = step < 0 ? 0 : this.bytes[step]!;
    }
    return values;
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
  const [beginCall, beginPlace] = byCall(begin, members.subarray(0, n));
  const [endCall, endPlace] = byCall(end, members.subarray(0, n));
  const at = new Uint32Array(2 * n);
  const bytes = new Float64Array(2 * n);
  let live = 0;
  let steps = 0;
  for (let b = 0, e = 0; e < n;) {
    const call = b < n && beginCall[b]! < endCall[e]! ? beginCall[b]! : endCall[e]!;
    for (; e < n && endCall[e] === call; e++) live -= size[endPlace[e]!]!;
    for (; b < n && beginCall[b] === call; b++) live += size[beginPlace[b]!]!;
    at[steps] = call;
    bytes[steps++] = live;
  }
  return { at: at.slice(0, steps), bytes: bytes.slice(0, steps) };
}

// The members by rising call: their calls, and they.
function byCall(call: Numbers, members: Uint32Array): [Uint32Array, Uint32Array] {
  const n = members.length;
  const calls = new Uint32Array(n);
  let rising = true;
  for (let k = 0; k < n; k++) {
    calls[k] = call[members[k]!]!;
    if (k > 0 && calls[k]! < calls[k - 1]!) rising = false;
  }
  if (rising) return [calls, members];
  // The call and the place in one number, exact below 2^53, so that the array sorts without a function.
  const keys = new Float64Array(n);
  for (let k = 0; k < n; k++) keys[k] = calls[k]! * kPlaces + k;
  keys.sort();
  const places = new Uint32Array(n);
  for (let k = 0; k < n; k++) {
    const own = Math.floor(keys[k]! / kPlaces);
    calls[k] = own;
    places[k] = members[keys[k]! - own * kPlaces]!;
  }
  return [calls, places];
}
const kPlaces = 2 ** 21 * 2;

export function curveOf(begin: Numbers, end: Numbers, size: Numbers, calls: number, counts: (i: number) => boolean): Curve {
  const { at, bytes } = stepsOf(begin, end, size, counts);
  return new Curve(at, bytes, calls);
}
