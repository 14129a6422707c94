// SPDX-License-Identifier: Apache-2.0
// Paints live bytes over calls.
import type { Curve } from '../model/curve';
import { bytes } from '../model/words';
import { byteTicks, ink, ticks } from './ink';

export interface CurveScene {
  g: CanvasRenderingContext2D;
  width: number;
  height: number;
  from: number; // calls [from, to)
  to: number;
  curve: Curve;
  top: number; // highest value on the axis
  capacity?: number; // drawn when within sight
  removed?: { from: number; to: number; bytes: number } | null; // what a fix takes away
  peakAt?: number | null;
  cursor?: number | null;
  compare?: Curve | null;
  stack?: { curve: Curve; colour: string }[]; // parts of the curve; what is left of it lies on top
  left?: number; // room for the axis
}
const kBottom = 18;

export function xOf(s: { from: number; to: number; width: number; left?: number }, call: number): number {
  const left = s.left ?? 64;
  return left + ((call - s.from) / (s.to - s.from)) * (s.width - left);
}
export function callAt(s: { from: number; to: number; width: number; left?: number }, x: number): number {
  const left = s.left ?? 64;
  return s.from + ((x - left) / Math.max(1, s.width - left)) * (s.to - s.from);
}

export function paintCurve(s: CurveScene): void {
  const { g, width, height } = s;
  if (width < 2 || height < 30) return;
  const c = ink();
  const left = s.left ?? 64;
  const floor = height - kBottom;
  const y = (v: number): number => floor - (v / s.top) * (floor - 6);
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
  const columns = Math.max(1, Math.floor(width - left));
  const scale = (s.to - s.from) / columns;
  const trace = (curve: Curve, less: ((call0: number, call1: number) => number) | null): void => {
    g.beginPath();
    g.moveTo(left, floor);
    for (let px = 0; px < columns; px++) {
      const a = s.from + px * scale;
      const value = curve.highest(a, a + scale) - (less ? less(a, a + scale) : 0);
      g.lineTo(left + px, y(value));
      g.lineTo(left + px + 1, y(value));
    }
    g.lineTo(left + columns, floor);
  };
  if (s.stack && s.stack.length > 0) paintStack(s, y, columns, scale, left);
  trace(s.curve, null);
  g.fillStyle = c.curvefill;
  if (!s.stack || s.stack.length === 0) g.fill();
  g.strokeStyle = c.curve;
  g.lineWidth = 1.5;
  g.stroke();
  if (s.removed) {
    const r = s.removed;
    trace(s.curve, (a, b) => (b > r.from && a < r.to ? r.bytes : 0));
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
      const a = (s.from + px * scale) * share;
      const v = y(s.compare.highest(a, a + scale * share));
      g.lineTo(left + px, v);
      g.lineTo(left + px + 1, v);
    }
    g.strokeStyle = c.head;
    g.lineWidth = 2;
    g.setLineDash([6, 3]);
    g.stroke();
    g.setLineDash([]);
  }
  if (s.capacity && s.capacity <= s.top) line(g, left, width, y(s.capacity), c.leaked);
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

// Each pixel shows the split at the call where its value is highest, so that the parts and the rest sum to it exactly.
function paintStack(s: CurveScene, y: (v: number) => number, columns: number, scale: number, left: number): void {
  const { g } = s;
  const parts = s.stack!;
  const sums = new Float64Array(columns); // below the next part
  const calls = new Float64Array(columns);
  const tops = new Float64Array(columns);
  for (let px = 0; px < columns; px++) {
    const a = s.from + px * scale;
    tops[px] = s.curve.highest(a, a + scale);
    calls[px] = s.curve.highestAt(a, a + scale);
  }
  const band = (upper: (px: number) => number, colour: string): void => {
    g.beginPath();
    g.moveTo(left, y(sums[0]!));
    for (let px = 0; px < columns; px++) {
      const v = y(upper(px));
      g.lineTo(left + px, v);
      g.lineTo(left + px + 1, v);
    }
    for (let px = columns - 1; px >= 0; px--) {
      const v = y(sums[px]!);
      g.lineTo(left + px + 1, v);
      g.lineTo(left + px, v);
    }
    g.fillStyle = colour;
    g.fill();
  };
  for (const part of parts) {
    const upper = new Float64Array(columns);
    for (let px = 0; px < columns; px++) upper[px] = sums[px]! + part.curve.valueAt(calls[px]!);
    band((px) => upper[px]!, part.colour);
    sums.set(upper);
  }
  band((px) => tops[px]!, ink().curvefill);
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

export function paintCallAxis(g: CanvasRenderingContext2D, s: { from: number; to: number; width: number; left?: number }, top: number, left: number): void {
  const c = ink();
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
    if (x < s.width - 40) g.fillText(t === 0 ? 'call 0' : t.toLocaleString('en-US'), x + 3, top + 10);
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
