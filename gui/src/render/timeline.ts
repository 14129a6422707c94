// SPDX-License-Identifier: Apache-2.0
// Paints lifetimes of objects in rows, at any number of them: per row only what is in the window, found by binary
// search; what is narrower than a pixel is merged with its neighbours.
import type { Rows } from '../model/lanes';
import type { Program } from '../model/program';
import { hatch, ink, type Ink } from './ink';

export interface TimelineScene {
  g: CanvasRenderingContext2D;
  width: number;
  height: number;
  from: number; // calls [from, to)
  to: number;
  program: Program;
  rows: Rows;
  rowHeight: number;
  firstRow: number; // may be a fraction
  selected: number;
  hovered: number;
  idle: Map<number, [number, number]>; // longest idle gap, by object
  cursor: number | null;
}

export function rowCount(rows: Rows): number {
  return rows.from.length - 1;
}
// The first member of the row that ends after `call`.
function firstIn(p: Program, rows: Rows, row: number, call: number): number {
  let low = rows.from[row]!;
  let high = rows.from[row + 1]!;
  while (low < high) {
    const mid = (low + high) >>> 1;
    if (p.end[rows.items[mid]!]! <= call) low = mid + 1;
    else high = mid;
  }
  return low;
}
export function objectAt(p: Program, rows: Rows, row: number, call: number, slack: number): number {
  if (row < 0 || row >= rowCount(rows)) return -1;
  const at = firstIn(p, rows, row, call - slack);
  if (at >= rows.from[row + 1]!) return -1;
  const i = rows.items[at]!;
  return p.begin[i]! <= call + slack ? i : -1;
}

export function paintTimeline(s: TimelineScene): void {
  const { g, width, height, rows, rowHeight } = s;
  if (width < 2) return;
  const c = ink();
  g.fillStyle = c.paper;
  g.fillRect(0, 0, width, height);
  const first = Math.max(0, Math.floor(s.firstRow));
  const last = Math.min(rowCount(rows), Math.ceil(s.firstRow + height / rowHeight));
  const perCall = width / (s.to - s.from);
  const bar = Math.max(1, rowHeight >= 8 ? rowHeight - 3 : rowHeight - (rowHeight > 2 ? 1 : 0));
  for (let row = first; row < last; row++) {
    const y = (row - s.firstRow) * rowHeight + (rowHeight - bar) / 2;
    paintRow(s, c, row, y, bar, perCall);
  }
  if (s.cursor !== null && s.cursor >= s.from && s.cursor < s.to) {
    g.fillStyle = c.select;
    g.fillRect((s.cursor + 0.5 - s.from) * perCall, 0, 1.5, height);
  }
}

function paintRow(s: TimelineScene, c: Ink, row: number, y: number, bar: number, perCall: number): void {
  const { g, program: p, rows } = s;
  const stop = rows.from[row + 1]!;
  let at = firstIn(p, rows, row, s.from);
  let merged = -1; // right end of the run of narrow bars, in pixels
  let mergedFrom = 0;
  const flush = (): void => {
    if (merged < 0) return;
    g.fillStyle = c.dim;
    g.fillRect(mergedFrom, y, Math.max(1, merged - mergedFrom), bar);
    merged = -1;
  };
  while (at < stop) {
    const i = rows.items[at]!;
    if (p.begin[i]! >= s.to) break;
    const x0 = (p.begin[i]! - s.from) * perCall;
    const x1 = (p.end[i]! - s.from) * perCall;
    if (x1 - x0 >= 2) {
      flush();
      paintBar(s, c, i, x0, x1, y, bar, perCall);
      at++;
      continue;
    }
    if (merged >= 0 && x0 > merged + 1) flush();
    if (merged < 0) mergedFrom = x0;
    merged = Math.max(x1, x0 + 1);
    // On to the first that ends beyond this pixel.
    const beyond = s.from + (merged + 0.5) / perCall;
    let step = 1;
    while (at + step < stop && p.end[rows.items[at + step]!]! <= beyond) step *= 2;
    let low = at + (step >> 1) + (step === 1 ? 1 : 0);
    let high = Math.min(stop, at + step);
    while (low < high) {
      const mid = (low + high) >>> 1;
      if (p.end[rows.items[mid]!]! <= beyond) low = mid + 1;
      else high = mid;
    }
    at = Math.max(low, at + 1);
  }
  flush();
}

function paintBar(s: TimelineScene, c: Ink, i: number, x0: number, x1: number, y: number, bar: number, perCall: number): void {
  const { g, program: p } = s;
  const left = Math.max(-4, x0);
  const right = Math.min(s.width + 4, x1);
  const px = (call: number): number => Math.min(right, Math.max(left, (call - s.from) * perCall));
  const fill = (a: number, b: number, style: string | CanvasPattern): void => {
    if (b <= a) return;
    g.fillStyle = style;
    g.fillRect(a, y, b - a, bar);
  };
  const rich = bar >= 5 && x1 - x0 > 5;
  if (p.first[i]! < 0) {
    fill(left, right, rich ? hatch(g, 'cross', c.unused, c.paper) : c.unused);
  } else {
    const a = px(p.first[i]!);
    const b = Math.max(a + 1, px(p.last[i]! + 1));
    fill(left, a, rich ? hatch(g, 'rising', c.head, c.paper) : c.head);
    fill(b, right, rich ? hatch(g, 'falling', p.freed[i] ? c.tail : c.leaked, c.paper) : p.freed[i] ? c.tail : c.leaked);
    fill(a, b, c.used);
    const gap = s.idle.get(i);
    if (gap) fill(px(gap[0] + 1), px(gap[1]), rich ? hatch(g, 'dots', c.idle, c.paper) : c.idle);
  }
  if (i === s.selected || i === s.hovered) {
    g.strokeStyle = i === s.selected ? c.select : c.ink;
    g.lineWidth = i === s.selected ? 2 : 1;
    g.strokeRect(left + 0.5, y - 0.5, Math.max(1, right - left - 1), bar + 1);
  }
}
