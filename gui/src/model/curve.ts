// SPDX-License-Identifier: Apache-2.0
// Live bytes by call: a step curve with a pyramid of maxima, so that a pixel of any width shows its true highest
// value, at any zoom. The pyramid stands on cells of calls, so that a place in it is found without searching.

import type { Numbers } from './columns';

const kFanOut = 4;
const kStepsOfCell = 4; // about

// Highest values of cells of calls, and the first call in each that has it.
interface Level {
  most: Float64Array;
  at: Uint32Array;
}

export class Curve {
  // A cell is 2^shift calls; `first` has the first step in it or after it. Levels above the cells take four each.
  private readonly shift: number;
  private readonly first: Uint32Array;
  private readonly levels: Level[];
  constructor(
    readonly at: Uint32Array, // call of each step, rising
    readonly bytes: Float64Array, // live from this step to the next
    readonly end: number, // calls there are
    readonly stretch = 1, // calls of a step that shows only the highest value in them; 1: every step is there
  ) {
    const n = at.length;
    const calls = Math.max(end, n > 0 ? at[n - 1]! : 0) + 1;
    let shift = 0;
    while (calls / 2 ** shift > n / kStepsOfCell + 1) shift++;
    this.shift = shift;
    const cells = Math.ceil(calls / 2 ** shift);
    this.first = new Uint32Array(cells + 1);
    const most = new Float64Array(cells);
    const where = new Uint32Array(cells);
    let step = 0;
    let live = 0;
    for (let cell = 0; cell < cells; cell++) {
      this.first[cell] = step;
      const stop = (cell + 1) * 2 ** shift;
      let best = live;
      let bestAt = cell * 2 ** shift;
      if (step < n && at[step] === bestAt) best = live = bytes[step++]!;
      for (; step < n && at[step]! < stop; step++) {
        live = bytes[step]!;
        if (live > best) {
          best = live;
          bestAt = at[step]!;
        }
      }
      most[cell] = best;
      where[cell] = bestAt;
    }
    this.first[cells] = n;
    this.levels = [{ most, at: where }];
    for (let below = this.levels[0]!; below.most.length > kFanOut; below = this.levels[this.levels.length - 1]!) this.levels.push(above(below));
  }
  // The last step at or before `call`; -1 before the first.
  stepAt(call: number): number {
    const cell = Math.floor(call / 2 ** this.shift);
    if (!(cell >= 0)) return -1;
    if (cell >= this.first.length - 1) return this.at.length - 1;
    let low = this.first[cell]!;
    let high = this.first[cell + 1]!;
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
  // The highest value at calls in [a, b), and the first place of it there.
  private best(a: number, b: number): { most: number; at: number } {
    let step = this.stepAt(a);
    let most = step < 0 ? 0 : this.bytes[step]!;
    let at = a;
    const last = this.stepAt(Math.ceil(b) - 1);
    const scan = (stop: number): void => {
      for (step++; step <= stop; step++)
        if (this.bytes[step]! > most) {
          most = this.bytes[step]!;
          at = this.at[step]!;
        }
      step = stop;
    };
    const size = 2 ** this.shift;
    let cell = Math.ceil(a / size);
    const end = Math.min(Math.floor(b / size), this.levels[0]!.most.length);
    if (cell >= end) {
      scan(last);
      return { most, at };
    }
    scan(Math.max(step, this.first[cell]! - 1));
    const take = (level: number, i: number): void => {
      const { most: values, at: places } = this.levels[level]!;
      if (values[i]! > most) {
        most = values[i]!;
        at = places[i]!;
      }
    };
    // From left to right: first up the levels, then down again.
    let level = 0;
    for (let width = 1; cell < end;) {
      while (level + 1 < this.levels.length && cell % (width * kFanOut) === 0 && cell + width * kFanOut <= end) {
        level++;
        width *= kFanOut;
      }
      while (cell + width > end) {
        level--;
        width /= kFanOut;
      }
      take(level, cell / width);
      cell += width;
    }
    step = this.first[end]! - 1;
    scan(Math.max(step, last));
    return { most, at };
  }
  // The first call in [a, b) with the highest value there.
  highestAt(a: number, b: number): number {
    return this.best(a, b).at;
  }
  // The highest value at calls in [a, b).
  highest(a: number, b: number): number {
    return this.best(a, b).most;
  }
  // Of the windows between each edge and the next: the highest values, and where they are first reached.
  windows(edges: Float64Array): { most: Float64Array; at: Float64Array } {
    const n = edges.length - 1;
    const most = new Float64Array(n);
    const at = new Float64Array(n);
    for (let k = 0; k < n; k++) {
      const found = this.best(edges[k]!, Math.max(edges[k + 1]!, edges[k]! + 1e-6));
      most[k] = found.most;
      at[k] = found.at;
    }
    return { most, at };
  }
  valuesAt(calls: Float64Array): Float64Array {
    return calls.map((call) => this.valueAt(call));
  }
  get peak(): number {
    return this.highest(0, this.end + 1);
  }
  peakCall(): number {
    return this.highestAt(0, this.end + 1);
  }
}

function above(below: Level): Level {
  const n = Math.ceil(below.most.length / kFanOut);
  const level: Level = { most: new Float64Array(n), at: new Uint32Array(n) };
  for (let i = 0; i < n; i++) {
    let best = i * kFanOut;
    for (let k = best + 1; k < Math.min(below.most.length, (i + 1) * kFanOut); k++) if (below.most[k]! > below.most[best]!) best = k;
    level.most[i] = below.most[best]!;
    level.at[i] = below.at[best]!;
  }
  return level;
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
