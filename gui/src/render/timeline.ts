// SPDX-License-Identifier: Apache-2.0
// Paints lifetimes of objects in rows, at any number of them: per row only what is in the window, found by binary
// search; what is narrower than a pixel is merged with its neighbours.
import type { Rows, Tile } from '../work/messages';
import { shareOf, type Across } from '../model/clock';
import type { Program } from '../model/program';
import { hatch, imageFor, ink, pixelOf, type Ink } from './ink';

export interface TimelineScene extends Across {
  g: CanvasRenderingContext2D;
  width: number;
  height: number;
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
  const { g, width, height, rows, rowHeight, program: p } = s;
  if (width < 2) return;
  const c = ink();
  g.fillStyle = c.paper;
  g.fillRect(0, 0, width, height);
  const first = Math.max(0, Math.floor(s.firstRow));
  const last = Math.min(rowCount(rows), Math.ceil(s.firstRow + height / rowHeight));
  const x = (call: number): number => shareOf(s, call) * width;
  const bar = Math.max(1, rowHeight >= 8 ? rowHeight - 3 : rowHeight - (rowHeight > 2 ? 1 : 0));
  const wide = paintNarrow(s, c, first, last, bar);
  for (const [row, i] of wide) paintBar(s, c, i, x, rowTop(s, row, bar), bar);
  if (s.cursor !== null && s.cursor >= s.from && s.cursor < s.to) {
    g.fillStyle = c.select;
    g.fillRect(x(s.cursor + 0.5), 0, 1.5, height);
  }
}
const rowTop = (s: TimelineScene, row: number, bar: number): number => (row - s.firstRow) * s.rowHeight + (s.rowHeight - bar) / 2;

const kLow = 5; // pixels; in rows below it nothing has a shape
const kWide = 20; // pixels; what is narrower has none either
const kMostWide = 500; // more shapes than that are slow to paint, and to look at

// What has no shape, as one image: each pixel lies between paper and the colours of use and of memory held unused, by their
// share of the calls in it. From the rows' tile where a pixel covers as much as its stretches, else from the objects.
// Returns the objects that are left to paint, with their rows.
function paintNarrow(s: TimelineScene, c: Ink, first: number, last: number, bar: number): [number, number][] {
  const { g, rows } = s;
  const ratio = g.getTransform().a;
  const width = Math.max(1, Math.floor(s.width * ratio));
  const height = Math.max(1, Math.floor(s.height * ratio));
  const image = imageFor(g, width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const palette = blends(c);
  pixels.fill(palette[0]!);
  const line = new Uint32Array(width);
  const callsOfPixel = (s.to - s.from) / width;
  const fromTile = rows.tile !== undefined && !s.clock && callsOfPixel >= (0.75 * s.program.calls) / rows.tile.stretches;
  let least = s.rowHeight < kLow ? Infinity : kWide * ratio * callsOfPixel; // calls of what gets a shape
  let wide: [number, number][] = [];
  for (let enough = least === Infinity; !enough; least *= 2) {
    wide = [];
    for (let row = first; row < last && wide.length <= kMostWide; row++) {
      if (s.clock) addWideByTime(s, row, least / callsOfPixel / width, wide);
      else addWide(s, row, least, wide);
    }
    enough = wide.length <= kMostWide;
    if (enough) break;
  }
  const sampler = fromTile ? tileSampler(rows.tile!, s, callsOfPixel, palette, line) : objectSampler(s, callsOfPixel, palette, line, least);
  for (let row = first; row < last; row++) {
    if (!sampler(row)) continue;
    const top = rowTop(s, row, bar) * ratio;
    const y1 = Math.min(height, Math.max(Math.round(top) + 1, Math.round(top + bar * ratio)));
    for (let y = Math.max(0, Math.round(top)); y < y1; y++) pixels.set(line, y * width);
  }
  g.putImageData(image, 0, 0);
  return wide;
}

// Fills `line` with a row's colours; false: the row is empty.
type Sampler = (row: number) => boolean;

function tileSampler(finest: Tile, s: TimelineScene, callsOfPixel: number, palette: Uint32Array, line: Uint32Array): Sampler {
  let tile = finest;
  while (tile.coarser && callsOfPixel * (s.rowHeight < kLow ? 2 : 1) >= s.program.calls / tile.coarser.stretches) tile = tile.coarser;
  const perCall = tile.stretches / s.program.calls;
  const wide = s.rowHeight < kLow ? 2 : 1; // pixels of a column: low rows are many
  const columns = Math.ceil(line.length / wide);
  const from = new Uint32Array(columns + 1);
  for (let k = 0; k < from.length; k++) from[k] = Math.min(tile.stretches, Math.floor((s.from + k * wide * callsOfPixel) * perCall));
  return (row) => {
    const base = row * tile.stretches;
    for (let column = 0, x = 0; column < columns; column++, x += wide) {
      const a = base + from[column]!;
      const b = Math.min(base + tile.stretches, Math.max(a + 1, base + from[column + 1]!));
      let used = 0;
      let idle = 0;
      for (let k = a; k < b; k++) {
        used += tile.used[k]!;
        idle += tile.idle[k]!;
      }
      const share = 1 / (b - a);
      const colour = palette[kSteps[(used * share) | 0]! * (kBlends + 1) + kSteps[(idle * share) | 0]!]!;
      line[x] = colour;
      if (wide === 2 && x + 1 < line.length) line[x + 1] = colour;
    }
    return true;
  };
}

function objectSampler(s: TimelineScene, callsOfPixel: number, palette: Uint32Array, line: Uint32Array, least: number): Sampler {
  const { program: p, rows } = s;
  const width = line.length;
  const used = new Float32Array(width + 1);
  const idle = new Float32Array(width + 1);
  const pixel = s.clock ? (call: number): number => shareOf(s, call) * width : (call: number): number => (call - s.from) / callsOfPixel;
  const isShaped = s.clock ? (begin: number, end: number): boolean => pixel(end) - pixel(begin) >= least / callsOfPixel : (begin: number, end: number): boolean => end - begin >= least;
  const add = (into: Float32Array, from: number, to: number): void => {
    let a = Math.max(0, pixel(from));
    const b = Math.min(width, pixel(to));
    for (let x = Math.floor(a); a < b; x++) {
      const stop = Math.min(x + 1, b);
      into[x]! += stop - a;
      a = x + 1;
    }
  };
  return (row) => {
    let isEmpty = true;
    for (let k = firstIn(p, rows, row, s.from); k < rows.from[row + 1]!; k++) {
      const i = rows.items[k]!;
      const begin = p.begin[i]!;
      const end = p.end[i]!;
      if (begin >= s.to) break;
      if (isShaped(begin, end)) continue;
      if (isEmpty) {
        used.fill(0);
        idle.fill(0);
        isEmpty = false;
      }
      const first = p.first[i]! < 0 ? end : p.first[i]!;
      const last = p.first[i]! < 0 ? end : Math.min(end, p.last[i]! + 1);
      add(idle, begin, first);
      add(used, first, last);
      add(idle, last, end);
    }
    if (isEmpty) return false;
    for (let x = 0; x < width; x++) {
      const u = used[x]!;
      const i = idle[x]!;
      line[x] = u + i === 0 ? palette[0]! : palette[kSteps[u < 1 ? (u * 255) | 0 : 255]! * (kBlends + 1) + kSteps[i < 1 ? (i * 255) | 0 : 255]!]!;
    }
    return true;
  };
}

// Of a row's objects in sight those of at least `least` calls: past the others in strides of as many.
function addWide(s: TimelineScene, row: number, least: number, wide: [number, number][]): void {
  const { program: p, rows } = s;
  const stop = rows.from[row + 1]!;
  let at = firstIn(p, rows, row, s.from);
  while (at < stop) {
    const i = rows.items[at]!;
    const begin = p.begin[i]!;
    if (begin >= s.to) return;
    if (p.end[i]! - begin >= least || stop - rows.from[row]! === 1) {
      wide.push([row, i]);
      at++;
      continue;
    }
    // What is wide ends at least so far on.
    const beyond = begin + least;
    let step = 1;
    while (at + step < stop && p.end[rows.items[at + step]!]! < beyond) step *= 2;
    let low = at + (step >> 1) + (step === 1 ? 1 : 0);
    let high = Math.min(stop, at + step);
    while (low < high) {
      const mid = (low + high) >>> 1;
      if (p.end[rows.items[mid]!]! < beyond) low = mid + 1;
      else high = mid;
    }
    at = Math.max(low, at + 1);
  }
}

// The same by the share of the screen that they take; all are looked at.
function addWideByTime(s: TimelineScene, row: number, least: number, wide: [number, number][]): void {
  const { program: p, rows } = s;
  const stop = rows.from[row + 1]!;
  for (let at = firstIn(p, rows, row, s.from); at < stop && wide.length <= kMostWide; at++) {
    const i = rows.items[at]!;
    if (p.begin[i]! >= s.to) return;
    if (stop - rows.from[row]! === 1 || shareOf(s, p.end[i]!) - shareOf(s, p.begin[i]!) >= least) wide.push([row, i]);
  }
}

// Paper, use and idleness mixed in steps; of a share in 255ths the step, any share at all the first.
const kBlends = 24;
const kSteps = Uint8Array.from({ length: 256 }, (_, k) => Math.ceil((k * kBlends) / 255));
function blends(c: Ink): Uint32Array {
  const [paper, used, idle] = [c.paper, c.used, c.head].map(pixelOf) as [number, number, number];
  const palette = new Uint32Array((kBlends + 1) ** 2);
  const part = (pixel: number, shift: number): number => (pixel >> shift) & 255;
  for (let u = 0; u <= kBlends; u++)
    for (let more = 0; more <= kBlends; more++) {
      const i = Math.min(more, kBlends - u);
      let pixel = 255 << 24;
      for (const shift of [0, 8, 16]) pixel |= Math.round((part(paper, shift) * (kBlends - u - i) + part(used, shift) * u + part(idle, shift) * i) / kBlends) << shift;
      palette[u * (kBlends + 1) + more] = pixel;
    }
  return palette;
}

const kHatched = 14; // pixels; hatching says nothing in less

function paintBar(s: TimelineScene, c: Ink, i: number, x: (call: number) => number, y: number, bar: number): void {
  const { g, program: p } = s;
  const x0 = x(p.begin[i]!);
  const x1 = Math.max(x0 + 1, x(p.end[i]!));
  const left = Math.max(-4, x0);
  const right = Math.min(s.width + 4, x1);
  const px = (call: number): number => Math.min(right, Math.max(left, x(call)));
  const fill = (a: number, b: number, style: string | CanvasPattern): void => {
    if (b <= a) return;
    g.fillStyle = style;
    g.fillRect(a, y, b - a, bar);
  };
  const rich = bar >= 5 && x1 - x0 >= kHatched;
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
  const requested = p.requested?.[i] ?? -1;
  if (requested >= 0) fill(px(requested), right, rich ? hatch(g, 'cross', c.pending, c.paper) : c.pending);
  if (p.uses && bar >= 10 && s.width / (s.to - s.from) >= 2) paintUses(s, c, p.uses, i, x, y, bar);
  if (i === s.selected || i === s.hovered) {
    g.strokeStyle = i === s.selected ? c.select : c.ink;
    g.lineWidth = i === s.selected ? 2 : 1;
    g.strokeRect(left + 0.5, y - 0.5, Math.max(1, right - left - 1), bar + 1);
  }
}

// A tick for each call that uses the object: reads below, writes above.
function paintUses(s: TimelineScene, c: Ink, uses: NonNullable<Program['uses']>, i: number, xAt: (call: number) => number, y: number, bar: number): void {
  s.g.fillStyle = c.paper;
  for (let k = uses.from[i]!; k < uses.from[i + 1]!; k++) {
    const call = uses.call[k]!;
    if (call < s.from - 1 || call > s.to) continue;
    const x = xAt(call + 0.5);
    const flags = uses.flags[k]!;
    if (flags & 2) s.g.fillRect(x - 0.75, y + 1, 1.5, bar / 2 - 1);
    if (flags & 1) s.g.fillRect(x - 0.75, y + bar / 2, 1.5, bar / 2 - 1);
  }
}
