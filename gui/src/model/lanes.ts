// SPDX-License-Identifier: Apache-2.0
// Which objects stand in which row of the timeline.
import type { Numbers } from './columns';
import type { Rows, Tile } from '../work/messages';

export type SortKey = 'start' | 'size' | 'lifetime' | 'bytes × lifetime' | 'waste' | 'packed';
export const kSortKeys: SortKey[] = ['size', 'start', 'lifetime', 'bytes × lifetime', 'waste', 'packed'];

// What rows are made of; a Program is one.
export interface Lives {
  count: number;
  begin: Numbers; // alive in calls [begin, end)
  end: Numbers;
  size: Numbers;
  first: Numbers; // calls; below 0: never used
  last: Numbers;
  lane: Numbers | null; // rows without overlap, of all objects
}

export function rowsOf(lives: Lives, sort: SortKey, shown: Uint32Array, wasted: (i: number) => number): Rows {
  if (sort !== 'packed') return oneEach(order(lives, sort, shown, wasted));
  return lives.lane && shown.length === lives.count ? byLane(lives, lives.lane, shown) : pack(lives, shown);
}

function oneEach(items: Uint32Array): Rows {
  const from = new Uint32Array(items.length + 1);
  for (let i = 0; i <= items.length; i++) from[i] = i;
  return { from, items };
}

// Ascending by a number each; ties keep their order.
function sortedBy(items: Uint32Array, key: (i: number) => number): Uint32Array {
  const keys = new Float64Array(items.length);
  let rising = true;
  for (let k = 0; k < items.length; k++) {
    keys[k] = key(items[k]!);
    if (k > 0 && keys[k]! < keys[k - 1]!) rising = false;
  }
  if (rising) return items;
  const places = new Uint32Array(items.length);
  for (let k = 0; k < places.length; k++) places[k] = k;
  places.sort((a, b) => keys[a]! - keys[b]! || a - b);
  for (let k = 0; k < places.length; k++) places[k] = items[places[k]!]!;
  return places;
}

function order(p: Lives, sort: SortKey, shown: Uint32Array, wasted: (i: number) => number): Uint32Array {
  const life = (i: number): number => p.end[i]! - p.begin[i]!;
  switch (sort) {
    case 'size':
      return sortedBy(shown, (i) => -p.size[i]!);
    case 'lifetime':
      return sortedBy(shown, (i) => -life(i));
    case 'bytes × lifetime':
      return sortedBy(shown, (i) => -p.size[i]! * life(i));
    case 'waste':
      return sortedBy(shown, (i) => -wasted(i));
    default:
      return sortedBy(shown, (i) => p.begin[i]!);
  }
}

function intoRows(p: Lives, byBegin: Uint32Array, row: Numbers, rows: number): Rows {
  const from = new Uint32Array(rows + 1);
  for (const i of byBegin) if (p.end[i]! > p.begin[i]!) from[row[i]! + 1]!++;
  for (let r = 0; r < rows; r++) from[r + 1]! += from[r]!;
  const next = from.slice();
  const items = new Uint32Array(from[rows] ?? 0);
  for (const i of byBegin) if (p.end[i]! > p.begin[i]!) items[next[row[i]!]!++] = i;
  return { from, items };
}

function byLane(p: Lives, lane: Numbers, shown: Uint32Array): Rows {
  let rows = 0;
  for (let i = 0; i < lane.length; i++) if (lane[i]! >= rows && p.end[i]! > p.begin[i]!) rows = lane[i]! + 1;
  return intoRows(p, sortedBy(shown, (i) => p.begin[i]!), lane, rows);
}

// As few rows as objects are ever alive at once: each takes the row that came free last.
function pack(p: Lives, shown: Uint32Array): Rows {
  const byBegin = sortedBy(shown, (i) => p.begin[i]!);
  const byEnd = sortedBy(shown, (i) => p.end[i]!);
  const row = new Uint32Array(p.count);
  const idle: number[] = [];
  let rows = 0;
  let ended = 0;
  for (const i of byBegin) {
    while (ended < byEnd.length && p.end[byEnd[ended]!]! <= p.begin[i]!) {
      const gone = byEnd[ended++]!;
      if (p.end[gone]! > p.begin[gone]!) idle.push(row[gone]!);
    }
    if (p.end[i]! <= p.begin[i]!) continue;
    row[i] = idle.pop() ?? rows++;
  }
  return intoRows(p, byBegin, row, rows);
}

const kMostTile = 24 * 2 ** 20; // values in all
const kMostStretches = 8192;
const kLeastStretches = 1024;

// Null where rows hold so few objects that they are drawn as quickly one by one.
export function tileOf(p: Lives, rows: Rows, calls: number): Tile | null {
  const n = rows.from.length - 1;
  if (n === 0 || rows.items.length < 40 * n) return null;
  let stretches = kMostStretches;
  while (stretches > 256 && stretches * n > kMostTile) stretches /= 2;
  const tile: Tile = { stretches, coarser: null, used: new Uint8Array(n * stretches), idle: new Uint8Array(n * stretches) };
  const perCall = stretches / calls;
  const used = new Float32Array(stretches + 1);
  const idle = new Float32Array(stretches + 1);
  const add = (into: Float32Array, from: number, to: number): void => {
    let a = from * perCall;
    const b = to * perCall;
    for (let s = Math.floor(a); a < b; s++) {
      const stop = Math.min(s + 1, b);
      into[s]! += stop - a;
      a = s + 1;
    }
  };
  for (let r = 0; r < n; r++) {
    used.fill(0);
    idle.fill(0);
    for (let k = rows.from[r]!; k < rows.from[r + 1]!; k++) {
      const i = rows.items[k]!;
      const first = p.first[i]! < 0 ? p.end[i]! : p.first[i]!;
      const last = p.first[i]! < 0 ? p.end[i]! : Math.min(p.end[i]!, p.last[i]! + 1);
      add(idle, p.begin[i]!, first);
      add(used, first, last);
      add(idle, last, p.end[i]!);
    }
    for (let s = 0; s < stretches; s++) {
      tile.used[r * stretches + s] = Math.min(255, Math.ceil(used[s]! * 255));
      tile.idle[r * stretches + s] = Math.min(255, Math.ceil(idle[s]! * 255));
    }
  }
  for (let finer = tile; finer.stretches > kLeastStretches; finer = finer.coarser!) finer.coarser = halved(finer);
  return tile;
}

// Any share at all stays one.
function halved(tile: Tile): Tile {
  const half = (values: Uint8Array): Uint8Array => {
    const means = new Uint8Array(values.length / 2);
    for (let k = 0; k < means.length; k++) means[k] = (values[2 * k]! + values[2 * k + 1]! + 1) >> 1;
    return means;
  };
  return { stretches: tile.stretches / 2, used: half(tile.used), idle: half(tile.idle), coarser: null };
}
