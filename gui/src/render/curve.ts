// SPDX-License-Identifier: Apache-2.0
// Paints live bytes over calls.
import { callOf, duration, edgesOf, shareOf, type Across, type Clock } from '../model/clock';
import type { Curve } from '../model/curve';
import { bytes, count } from '../model/words';
import { byteTicks, imageFor, ink, pixelOf, ticks } from './ink';

export interface CurveScene extends Across {
  g: CanvasRenderingContext2D;
  width: number;
  height: number;
  curve: Curve;
  top: number; // highest value on the axis
  capacity?: number; // drawn when within sight
  reserved?: Curve | null; // what pools hold
  ceiling?: number; // pixels on top that something else is painted in
  removed?: { from: number; to: number; bytes: number } | null; // what a fix takes away
  peakAt?: number | null;
  cursor?: number | null;
  compare?: Curve | null;
  stack?: { curve: Curve; colour: string }[]; // parts of the curve; what is left of it lies on top
  left?: number; // room for the axis
}
const kBottom = 18;
const kManySteps = 100_000; // beyond them a column is two pixels wide, beyond ten times as many three; its value is the highest in it all the same

type Box = Across & { width: number; left?: number };
export function xOf(s: Box, call: number): number {
  const left = s.left ?? 64;
  return left + shareOf(s, call) * (s.width - left);
}
export function callAt(s: Box, x: number): number {
  const left = s.left ?? 64;
  return callOf(s, (x - left) / Math.max(1, s.width - left));
}

export function paintCurve(s: CurveScene): void {
  const { g, width, height } = s;
  if (width < 2 || height < 30) return;
  const c = ink();
  const left = s.left ?? 64;
  const floor = height - kBottom;
  const ceiling = s.ceiling ?? 0;
  const y = (v: number): number => floor - (v / s.top) * (floor - 6 - ceiling);
  g.fillStyle = c.paper;
  g.fillRect(0, 0, width, height);
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  if (left > 0) {
    for (const t of byteTicks(s.top, Math.max(2, floor / 36))) {
      g.fillStyle = c.line;
      g.fillRect(left, Math.round(y(t)), width - left, 1);
      g.fillStyle = c.dim;
      g.textAlign = 'right';
      g.fillText(bytes(t), left - 6, Math.max(7, y(t)));
    }
  }
  const wide = s.curve.at.length > kManySteps ? (s.curve.at.length > 10 * kManySteps ? 3 : 2) : 1; // pixels of a column
  const columns = Math.max(1, Math.floor((width - left) / wide));
  const edges = edgesOf(s, columns);
  const { most, at } = s.curve.windows(edges);
  const outline = (value: (px: number) => number, colour: string, thick: number): void => {
    g.fillStyle = colour;
    let before = y(value(0));
    for (let px = 1, run = 0; px <= columns; px++) {
      const now = px < columns ? y(value(px)) : NaN;
      if (now === before) continue;
      g.fillRect(left + run * wide, before - thick / 2, (px - run) * wide, thick);
      if (px < columns) g.fillRect(left + px * wide - thick / 2, Math.min(now, before) - thick / 2, thick, Math.abs(now - before) + thick);
      before = now;
      run = px;
    }
  };
  const dashed = (value: (px: number) => number): void => {
    g.beginPath();
    for (let px = 0; px < columns; px++) {
      g.lineTo(left + px * wide, y(value(px)));
      g.lineTo(left + (px + 1) * wide, y(value(px)));
    }
    g.lineTo(left + columns * wide, floor);
  };
  paintBands(s, [...(s.stack ?? []).map((part) => ({ tops: part.curve.valuesAt(at), colour: part.colour }))], most, wide, y, left, floor);
  outline((px) => most[px]!, c.curve, 1.5);
  if (s.removed) {
    const r = s.removed;
    dashed((px) => most[px]! - (edges[px + 1]! > r.from && edges[px]! < r.to ? r.bytes : 0));
    g.lineWidth = 1.5;
    g.strokeStyle = c.save;
    g.setLineDash([5, 3]);
    g.stroke();
    g.setLineDash([]);
  }
  if (s.compare) {
    // Over its own calls: two runs seldom make the same number of them.
    const share = s.compare.end / Math.max(1, s.curve.end);
    g.beginPath();
    for (let px = 0; px < columns; px++) {
      const v = y(s.compare.highest(edges[px]! * share, edges[px + 1]! * share));
      g.lineTo(left + px * wide, v);
      g.lineTo(left + (px + 1) * wide, v);
    }
    g.strokeStyle = c.head;
    g.lineWidth = 2;
    g.setLineDash([6, 3]);
    g.stroke();
    g.setLineDash([]);
  }
  if (s.reserved) {
    const held = s.reserved.windows(edges).most;
    outline((px) => held[px]!, c.ink, 1.5);
  }
  if (s.capacity && s.capacity <= s.top) {
    line(g, left, width, y(s.capacity), c.leaked);
    g.fillStyle = c.leaked;
    g.textAlign = 'right';
    g.fillText(`device: ${bytes(s.capacity)}`, width - 4, y(s.capacity) + 9);
  }
  if (s.peakAt !== null && s.peakAt !== undefined && s.peakAt >= s.from && s.peakAt <= s.to) {
    const px = xOf(s, s.peakAt + 0.5);
    g.fillStyle = c.leaked;
    g.beginPath();
    g.arc(px, y(s.curve.valueAt(s.peakAt)), 4, 0, 7);
    g.fill();
  }
  if (s.cursor !== null && s.cursor !== undefined && s.cursor >= s.from && s.cursor <= s.to) {
    g.fillStyle = c.select;
    g.fillRect(Math.round(xOf(s, s.cursor + 0.5)), 0, 1.5, floor);
  }
  paintCallAxis(g, s, floor, left);
}

// Bands on each other up to the curve, as one image: each pixel shows the split at the call where its value is highest, so that
// the parts and the rest sum to it exactly.
function paintBands(s: CurveScene, parts: { tops: Float64Array; colour: string }[], most: Float64Array, wide: number, y: (v: number) => number, left: number, floor: number): void {
  const { g } = s;
  const c = ink();
  const ratio = g.getTransform().a;
  const columns = most.length;
  const width = Math.round(columns * wide * ratio);
  const height = Math.round(floor * ratio);
  const image = imageFor(g, width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const paper = pixelOf(c.paper) >>> 0; // as it comes out of an array
  const colours = [...parts.map((part) => pixelOf(part.colour)), pixelOf(c.curvefill)];
  // Where each band begins in each column, as lists by row; then row by row from the top, as memory lies.
  const bands = colours.length;
  const { first, next, now } = listsFor(height, columns * bands, width);
  first.fill(-1);
  for (let column = 0; column < columns; column++) {
    let sum = 0;
    let below = height;
    for (let k = 0; k < bands; k++) {
      sum = k < parts.length ? sum + parts[k]!.tops[column]! : most[column]!;
      const top = Math.max(0, Math.round(y(sum) * ratio));
      if (top >= below) continue;
      next[column * bands + k] = first[top]!;
      first[top] = column * bands + k;
      below = top;
    }
  }
  const lines = new Set(left > 0 ? byteTicks(s.top, Math.max(2, floor / 36)).map((t) => Math.round(y(t) * ratio)) : []);
  const behind = pixelOf(c.line);
  now.fill(paper);
  for (let row = 0; row < height; row++) {
    for (let entry = first[row]!; entry >= 0; entry = next[entry]!) {
      const column = Math.floor(entry / bands);
      const colour = colours[entry % bands]!;
      for (let x = Math.round(column * wide * ratio), end = Math.round((column + 1) * wide * ratio); x < end; x++) now[x] = colour;
    }
    pixels.set(now, row * width);
    if (!lines.has(row)) continue;
    for (let x = 0; x < width; x++) if (now[x] === paper) pixels[row * width + x] = behind;
  }
  g.putImageData(image, Math.round(left * ratio), 0);
}

// The same memory for each painting.
let lists = { first: new Int32Array(0), next: new Int32Array(0), now: new Uint32Array(0) };
function listsFor(rows: number, entries: number, width: number): typeof lists {
  if (lists.first.length !== rows || lists.next.length < entries || lists.now.length !== width) lists = { first: new Int32Array(rows), next: new Int32Array(entries), now: new Uint32Array(width) };
  return lists;
}

function line(g: CanvasRenderingContext2D, left: number, width: number, y: number, colour: string): void {
  g.strokeStyle = colour;
  g.setLineDash([2, 3]);
  g.beginPath();
  g.moveTo(left, y);
  g.lineTo(width, y);
  g.stroke();
  g.setLineDash([]);
}

// A share from 0 to 1 over calls, from samples at even distances.
export function paintShare(s: { g: CanvasRenderingContext2D; width: number; height: number; from: number; to: number; samples: number[]; cursor: number | null }): void {
  const { g, width, height } = s;
  if (width < 80) return;
  const c = ink();
  const left = 64;
  const floor = height - kBottom;
  g.fillStyle = c.paper;
  g.fillRect(0, 0, width, height);
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  g.textAlign = 'right';
  for (const share of [0, 0.5, 1]) {
    const y = floor - share * (floor - 6);
    g.fillStyle = c.line;
    g.fillRect(left, Math.round(y), width - left, 1);
    g.fillStyle = c.dim;
    g.fillText(`${100 * share} %`, left - 6, y);
  }
  g.beginPath();
  s.samples.forEach((share, k) => {
    const x = left + (k / Math.max(1, s.samples.length - 1)) * (width - left);
    g.lineTo(x, floor - share * (floor - 6));
  });
  g.strokeStyle = c.head;
  g.lineWidth = 1.5;
  g.stroke();
  if (s.cursor !== null && s.cursor >= s.from && s.cursor <= s.to) {
    g.fillStyle = c.select;
    g.fillRect(Math.round(xOf(s, s.cursor + 0.5)), 0, 1.5, floor);
  }
  paintCallAxis(g, s, floor, left);
}

export function paintCallAxis(g: CanvasRenderingContext2D, s: Box, top: number, left: number): void {
  const c = ink();
  if (s.clock) return paintTimeAxis(g, s, s.clock, top, left);
  g.fillStyle = c.line;
  g.fillRect(left, top, s.width - left, 1);
  g.font = '11px system-ui, sans-serif';
  g.textAlign = 'left';
  g.textBaseline = 'middle';
  for (const t of ticks(s.from, s.to, s.width / 110, true)) {
    const x = xOf(s, t);
    g.fillStyle = c.line;
    g.fillRect(x, top, 1, 5);
    g.fillStyle = c.dim;
    if (x < s.width - 40) g.fillText(t === 0 ? 'call 0' : count(t), x + 3, top + 10);
  }
}

function paintTimeAxis(g: CanvasRenderingContext2D, s: Box, clock: Clock, top: number, left: number): void {
  const c = ink();
  g.fillStyle = c.line;
  g.fillRect(left, top, s.width - left, 1);
  g.font = '11px system-ui, sans-serif';
  g.textAlign = 'left';
  g.textBaseline = 'middle';
  const [a, b] = [clock.timeAt(s.from), clock.timeAt(s.to)];
  for (const t of ticks(a, b, s.width / 130)) {
    const x = left + ((t - a) / Math.max(1e-3, b - a)) * (s.width - left);
    g.fillStyle = c.line;
    g.fillRect(x, top, 1, 5);
    g.fillStyle = c.dim;
    if (x < s.width - 50) g.fillText(t === 0 ? '0, first work' : duration(t), x + 3, top + 10);
  }
}

// Overhead against limit, with what is chosen and the least without stalls.
export interface TradeScene {
  g: CanvasRenderingContext2D;
  width: number;
  height: number;
  points: { limit_bytes: number; overhead_ns: number }[];
  whole: number; // bytes without swapping
  iteration: number; // ns; 0: not known
  chosen: { limit_bytes: number; overhead_ns: number } | null;
  bound: number | null; // bytes
}
export function paintTrade(s: TradeScene): void {
  const { g, width, height } = s;
  const c = ink();
  const left = 64;
  const floor = height - kBottom;
  g.fillStyle = c.paper;
  g.fillRect(0, 0, width, height);
  const most = Math.max(1, ...s.points.map((p) => p.overhead_ns), s.chosen?.overhead_ns ?? 0);
  const lowest = Math.min(s.bound ?? Infinity, ...s.points.map((p) => p.limit_bytes), s.whole) * 0.97;
  const x = (b: number): number => left + ((b - lowest) / Math.max(1, s.whole * 1.02 - lowest)) * (width - left - 10);
  const y = (ns: number): number => floor - (ns / (most * 1.1)) * (floor - 8);
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  for (const t of ticks(0, most * 1.1, floor / 30)) {
    g.fillStyle = c.line;
    g.fillRect(left, Math.round(y(t)), width - left, 1);
    g.fillStyle = c.dim;
    g.textAlign = 'right';
    g.fillText(s.iteration > 0 ? `${((100 * t) / s.iteration).toPrecision(2)} %` : `${(t / 1e6).toPrecision(2)} ms`, left - 6, y(t));
  }
  g.textAlign = 'center';
  for (const t of ticks(lowest, s.whole * 1.02, 6)) {
    g.fillStyle = c.dim;
    g.fillText(bytes(t), x(t), floor + 10);
  }
  if (s.bound !== null) {
    g.strokeStyle = c.save;
    g.setLineDash([4, 3]);
    g.beginPath();
    g.moveTo(x(s.bound), 0);
    g.lineTo(x(s.bound), floor);
    g.stroke();
    g.setLineDash([]);
  }
  g.beginPath();
  for (const p of [...s.points].sort((a, b) => a.limit_bytes - b.limit_bytes)) g.lineTo(x(p.limit_bytes), y(p.overhead_ns));
  g.strokeStyle = c.curve;
  g.lineWidth = 2;
  g.stroke();
  const dot = (p: { limit_bytes: number; overhead_ns: number }, r: number, colour: string): void => {
    g.fillStyle = colour;
    g.beginPath();
    g.arc(x(p.limit_bytes), y(p.overhead_ns), r, 0, 7);
    g.fill();
  };
  for (const p of s.points) dot(p, 3, c.curve);
  if (s.chosen) dot(s.chosen, 5, c.leaked);
}
