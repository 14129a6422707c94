// SPDX-License-Identifier: Apache-2.0
// Paints lifetimes of objects in rows, at any number of them: per row only what is in the window, found by binary
// search; what is narrower than a pixel is merged with its neighbours.
import type { Rows, Tile } from '../work/messages';
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
  if (rowHeight < kLow && last - first > 40) paintLow(s, c, first, last);
  else
    for (let row = first; row < last; row++) {
      const y = (row - s.firstRow) * rowHeight + (rowHeight - bar) / 2;
      paintRow(s, c, row, y, bar, perCall);
    }
  if (s.cursor !== null && s.cursor >= s.from && s.cursor < s.to) {
    g.fillStyle = c.select;
    g.fillRect((s.cursor + 0.5 - s.from) * perCall, 0, 1.5, height);
  }
}

const kLow = 5; // pixels; rows below it are painted as one image

// Rows too low for shapes: each pixel is between paper and the colours of use and of memory held unused, by their share of
// the calls in it. From the rows' tile where a pixel covers as much as its stretches, else from the objects.
function paintLow(s: TimelineScene, c: Ink, first: number, last: number): void {
  const { g, program: p, rows } = s;
  const ratio = g.getTransform().a;
  const width = Math.max(1, Math.floor(s.width * ratio));
  const height = Math.max(1, Math.floor(s.height * ratio));
  const image = g.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const palette = blends(c);
  pixels.fill(palette[0]!);
  const line = new Uint32Array(width);
  const used = new Float32Array(width + 1);
  const idle = new Float32Array(width + 1);
  const callsOfPixel = (s.to - s.from) / width;
  const tile = rows.tile;
  const all = p.calls;
  const fromTile = tile !== undefined && callsOfPixel >= (0.75 * all) / tile.stretches;
  for (let row = first; row < last; row++) {
    used.fill(0);
    idle.fill(0);
    if (fromTile) sampleTile(tile, row, s.from, callsOfPixel, all, used, idle);
    else sampleObjects(s, row, callsOfPixel, used, idle);
    for (let x = 0; x < width; x++) {
      const u = Math.min(kBlends, Math.ceil(used[x]! * kBlends));
      const i = Math.min(kBlends - u, Math.ceil(idle[x]! * kBlends));
      line[x] = palette[u * (kBlends + 1) + i]!;
    }
    const y0 = Math.max(0, Math.round((row - s.firstRow) * s.rowHeight * ratio));
    const gap = s.rowHeight >= 4 ? ratio : 0;
    const y1 = Math.min(height, Math.max(y0 + 1, Math.round((row + 1 - s.firstRow) * s.rowHeight * ratio - gap)));
    for (let y = y0; y < y1; y++) pixels.set(line, y * width);
  }
  g.putImageData(image, 0, 0);
}

function sampleTile(tile: Tile, row: number, from: number, callsOfPixel: number, all: number, used: Float32Array, idle: Float32Array): void {
  const base = row * tile.stretches;
  const perCall = tile.stretches / all;
  for (let x = 0; x < used.length - 1; x++) {
    const a = Math.floor((from + x * callsOfPixel) * perCall);
    const b = Math.min(tile.stretches, Math.max(a + 1, Math.ceil((from + (x + 1) * callsOfPixel) * perCall)));
    let u = 0;
    let i = 0;
    for (let k = a; k < b; k++) {
      u += tile.used[base + k]!;
      i += tile.idle[base + k]!;
    }
    used[x] = u / (255 * Math.max(1, b - a));
    idle[x] = i / (255 * Math.max(1, b - a));
  }
}

function sampleObjects(s: TimelineScene, row: number, callsOfPixel: number, used: Float32Array, idle: Float32Array): void {
  const { program: p, rows } = s;
  const width = used.length - 1;
  const add = (into: Float32Array, from: number, to: number): void => {
    let a = Math.max(0, (from - s.from) / callsOfPixel);
    const b = Math.min(width, (to - s.from) / callsOfPixel);
    for (let x = Math.floor(a); a < b; x++) {
      const stop = Math.min(x + 1, b);
      into[x]! += stop - a;
      a = x + 1;
    }
  };
  for (let k = firstIn(p, rows, row, s.from); k < rows.from[row + 1]!; k++) {
    const i = rows.items[k]!;
    if (p.begin[i]! >= s.to) break;
    const first = p.first[i]! < 0 ? p.end[i]! : p.first[i]!;
    const last = p.first[i]! < 0 ? p.end[i]! : Math.min(p.end[i]!, p.last[i]! + 1);
    add(idle, p.begin[i]!, first);
    add(used, first, last);
    add(idle, last, p.end[i]!);
  }
}

// Paper, use and idleness mixed in steps: by use, then idleness.
const kBlends = 24;
function blends(c: Ink): Uint32Array {
  const [paper, used, idle] = [c.paper, c.used, c.head].map(rgb) as [number[], number[], number[]];
  const palette = new Uint32Array((kBlends + 1) ** 2);
  for (let u = 0; u <= kBlends; u++)
    for (let i = 0; u + i <= kBlends; i++) {
      const [r, g, b] = [0, 1, 2].map((k) => (paper[k]! * (kBlends - u - i) + used[k]! * u + idle[k]! * i) / kBlends) as [number, number, number];
      palette[u * (kBlends + 1) + i] = (255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r);
    }
  return palette;
}
function rgb(colour: string): number[] {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour)?.[1] ?? '888888';
  return [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16));
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
  if (p.uses && bar >= 10 && perCall >= 2) paintUses(s, c, p.uses, i, y, bar, perCall);
  if (i === s.selected || i === s.hovered) {
    g.strokeStyle = i === s.selected ? c.select : c.ink;
    g.lineWidth = i === s.selected ? 2 : 1;
    g.strokeRect(left + 0.5, y - 0.5, Math.max(1, right - left - 1), bar + 1);
  }
}

// A tick for each call that uses the object: reads below, writes above.
function paintUses(s: TimelineScene, c: Ink, uses: NonNullable<Program['uses']>, i: number, y: number, bar: number, perCall: number): void {
  s.g.fillStyle = c.paper;
  for (let k = uses.from[i]!; k < uses.from[i + 1]!; k++) {
    const call = uses.call[k]!;
    if (call < s.from - 1 || call > s.to) continue;
    const x = (call + 0.5 - s.from) * perCall;
    const flags = uses.flags[k]!;
    if (flags & 2) s.g.fillRect(x - 0.75, y + 1, 1.5, bar / 2 - 1);
    if (flags & 1) s.g.fillRect(x - 0.75, y + bar / 2, 1.5, bar / 2 - 1);
  }
}
