// SPDX-License-Identifier: Apache-2.0
// Paints blocks in a plane: calls to the right, addresses or offsets upwards.
import { bytes } from '../model/words';
import { paintCallAxis, xOf } from './curve';
import { byteTicks, ink, pixelOf } from './ink';

export interface Blocks {
  from: Float64Array; // x
  to: Float64Array;
  low: Float64Array; // y, bytes
  high: Float64Array;
  object: Int32Array; // place, or -1
}
export interface MapScene {
  g: CanvasRenderingContext2D;
  width: number;
  height: number;
  from: number;
  to: number;
  top: number; // bytes
  blocks: Blocks;
  selected: number;
  colour: (block: number) => string;
  label?: (block: number) => string; // inside, where there is room
  line?: { at: number; label: string } | null;
}
export const kMapLeft = 64;
const kAxis = 18;

export function paintMap(s: MapScene): void {
  const { g, width, height, blocks } = s;
  if (width < 2) return;
  const c = ink();
  g.fillStyle = c.paper;
  g.fillRect(0, 0, width, height);
  const floor = height - kAxis;
  const y = (v: number): number => floor - (v / s.top) * (floor - 14);
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  g.textAlign = 'right';
  for (const t of byteTicks(s.top, Math.max(2, floor / 40))) {
    g.fillStyle = c.line;
    g.fillRect(kMapLeft, Math.round(y(t)), width, 1);
    g.fillStyle = c.dim;
    g.fillText(bytes(t), kMapLeft - 6, y(t));
  }
  g.save();
  g.beginPath();
  g.rect(kMapLeft, 0, width - kMapLeft, floor);
  g.clip();
  for (let k = 0; k < blocks.from.length; k++) {
    if (blocks.to[k]! < s.from || blocks.from[k]! > s.to) continue;
    const x0 = xOf(s, blocks.from[k]!);
    const x1 = Math.max(x0 + 1, xOf(s, blocks.to[k]!));
    const y0 = y(blocks.high[k]!);
    const h = Math.max(1, y(blocks.low[k]!) - y0);
    g.fillStyle = s.colour(k);
    g.fillRect(x0, y0, x1 - x0, h);
    if (h > 4 && x1 - x0 > 4) {
      g.strokeStyle = c.paper;
      g.lineWidth = 1;
      g.strokeRect(x0 + 0.5, y0 + 0.5, x1 - x0 - 1, h - 1);
    }
    if (s.label && h >= 13 && Math.min(x1, width) - Math.max(x0, kMapLeft) >= 40) {
      const left = Math.max(x0, kMapLeft) + 5;
      const fits = Math.floor((Math.min(x1, width) - left - 3) / 6.4);
      const text = s.label(k);
      g.fillStyle = isLight(s.colour(k)) ? '#14171b' : '#ffffff';
      g.textAlign = 'left';
      g.fillText(text.length <= fits ? text : `${text.slice(0, Math.max(1, fits - 1))}…`, left, y0 + h / 2);
    }
    if (blocks.object[k]! >= 0 && blocks.object[k] === s.selected) {
      g.strokeStyle = c.select;
      g.lineWidth = 3;
      g.strokeRect(x0 + 1, y0 + 1, x1 - x0 - 2, h - 2);
    }
  }
  g.restore();
  if (s.line) {
    g.fillStyle = c.save;
    g.fillRect(kMapLeft, y(s.line.at), width, 1.5);
    g.textAlign = 'right';
    g.fillText(s.line.label, width - 6, y(s.line.at) - 7);
  }
  paintCallAxis(g, s, floor, kMapLeft);
}

export function blockAt(blocks: Blocks, call: number, value: number): number {
  for (let k = blocks.from.length - 1; k >= 0; k--)
    if (blocks.from[k]! <= call && call < blocks.to[k]! && blocks.low[k]! <= value && value < blocks.high[k]!) return blocks.object[k]!;
  return -1;
}
export function valueAt(s: { height: number; top: number }, y: number): number {
  const floor = s.height - kAxis;
  return ((floor - y) / (floor - 14)) * s.top;
}
// Whether dark letters read better on it (relative luminance, WCAG 2).
function isLight(colour: string): boolean {
  const pixel = pixelOf(colour);
  const linear = (shift: number): number => {
    const v = ((pixel >> shift) & 255) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(0) + 0.7152 * linear(8) + 0.0722 * linear(16) > 0.18;
}
// Sixteen tones that differ in lightness as well, by a number that stays the same for the same object.
export function tone(seed: number): string {
  const dark = getComputedStyle(document.documentElement).colorScheme === 'dark';
  const hue = (seed * 137.5) % 360;
  const light = (dark ? 42 : 58) + ((seed * 7) % 4) * 5;
  return `hsl(${hue.toFixed(0)} 45% ${light}%)`;
}
