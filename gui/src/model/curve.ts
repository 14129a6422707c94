// SPDX-License-Identifier: Apache-2.0
// Live bytes by call: a step curve with a pyramid of maxima, so that a pixel of any width shows its true highest
// value, at any zoom.

const kFanOut = 4;

export class Curve {
  private readonly maxima: Float64Array[];
  constructor(
    readonly at: Uint32Array, // call of each step, rising
    readonly bytes: Float64Array, // live from this step to the next
    readonly end: number, // calls there are
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

// Lifetimes [begin, end) with sizes, of the members for which `counts` holds. At one call, what ends ends before what
// begins begins.
export function curveOf(
  begin: Uint32Array,
  end: Uint32Array,
  size: Float64Array,
  calls: number,
  counts: (i: number) => boolean,
): Curve {
  const change = new Float64Array(calls + 2);
  const touched = new Uint8Array(calls + 2);
  for (let i = 0; i < begin.length; i++) {
    const a = begin[i]!;
    const b = end[i]!;
    if (size[i] === 0 || a >= b || !counts(i)) continue;
    change[a]! += size[i]!;
    change[b]! -= size[i]!;
    touched[a] = touched[b] = 1;
  }
  let steps = 0;
  for (let c = 0; c < touched.length; c++) steps += touched[c]!;
  const at = new Uint32Array(steps);
  const bytes = new Float64Array(steps);
  let live = 0;
  let to = 0;
  for (let c = 0; c < touched.length; c++) {
    if (touched[c] === 0) continue;
    live += change[c]!;
    at[to] = c;
    bytes[to++] = live;
  }
  return new Curve(at, bytes, calls);
}
