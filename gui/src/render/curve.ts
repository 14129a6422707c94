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
  trace(s.curve, null);
  g.fillStyle = c.curvefill;
  g.fill();
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
    trace(s.compare, null);
    g.strokeStyle = c.save;
    g.lineWidth = 1.5;
    g.stroke();
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

function line(g: CanvasRenderingContext2D, left: number, width: number, y: number, colour: string): void {
  g.strokeStyle = colour;
  g.setLineDash([2, 3]);
  g.beginPath();
  g.moveTo(left, y);
  g.lineTo(width, y);
  g.stroke();
  g.setLineDash([]);
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
