// SPDX-License-Identifier: Apache-2.0
// Which objects stand in which row of the timeline.
import type { Program } from './program';

// Row r shows items[from[r]] to items[from[r + 1]], by rising begin and not overlapping.
export interface Rows {
  from: Uint32Array;
  items: Uint32Array;
}
export type SortKey = 'start' | 'size' | 'lifetime' | 'bytes × lifetime' | 'waste' | 'packed';
export const kSortKeys: SortKey[] = ['size', 'start', 'lifetime', 'bytes × lifetime', 'waste', 'packed'];

export function rowsOf(program: Program, sort: SortKey, shown: Uint32Array): Rows {
  return sort === 'packed' ? pack(program, shown) : oneEach(order(program, sort, shown));
}

function oneEach(items: Uint32Array): Rows {
  const from = new Uint32Array(items.length + 1);
  for (let i = 0; i <= items.length; i++) from[i] = i;
  return { from, items };
}

// Ascending by a number each; ties keep their order. Sorts (key, place) as one double array where that is exact.
function sortedBy(items: Uint32Array, key: (i: number) => number): Uint32Array {
  const keys = new Float64Array(items.length);
  for (let k = 0; k < items.length; k++) keys[k] = key(items[k]!);
  const places = new Uint32Array(items.length);
  for (let k = 0; k < places.length; k++) places[k] = k;
  places.sort((a, b) => keys[a]! - keys[b]! || a - b);
  for (let k = 0; k < places.length; k++) places[k] = items[places[k]!]!;
  return places;
}

function order(p: Program, sort: SortKey, shown: Uint32Array): Uint32Array {
  const life = (i: number): number => p.end[i]! - p.begin[i]!;
  switch (sort) {
    case 'size':
      return sortedBy(shown, (i) => -p.size[i]!);
    case 'lifetime':
      return sortedBy(shown, (i) => -life(i));
    case 'bytes × lifetime':
      return sortedBy(shown, (i) => -p.size[i]! * life(i));
    case 'waste':
      return sortedBy(shown, (i) => -p.wasted(i));
    default:
      return sortedBy(shown, (i) => p.begin[i]!);
  }
}

// As few rows as objects are ever alive at once: each takes the row that came free last.
function pack(p: Program, shown: Uint32Array): Rows {
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
  const from = new Uint32Array(rows + 1);
  for (const i of byBegin) if (p.end[i]! > p.begin[i]!) from[row[i]! + 1]!++;
  for (let r = 0; r < rows; r++) from[r + 1]! += from[r]!;
  const next = from.slice();
  const items = new Uint32Array(from[rows] ?? 0);
  for (const i of byBegin) if (p.end[i]! > p.begin[i]!) items[next[row[i]!]!++] = i;
  return { from, items };
}
