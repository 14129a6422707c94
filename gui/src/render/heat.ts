// SPDX-License-Identifier: Apache-2.0
// Paints what launches access inside an object: bytes to the right, launches downwards; above them what is read, written or
// never touched.
import type { InsideColumns } from '../model/report';
import { bytes, count } from '../model/words';
import { hatch, imageFor, ink, pixelOf, type Ink } from './ink';

export const kHeatLeft = 118;
const kTouched = 16; // pixels of the strip on top
const kGap = 4;
const kAxis = 18;
const kShades = 48;
const kDark = 8; // times the mean

export interface HeatScene {
  g: CanvasRenderingContext2D;
  width: number;
  height: number;
  inside: InsideColumns;
  size: number; // bytes
  hot: [number, number] | null; // bytes
}

export function rowHeight(inside: InsideColumns): number {
  return Math.max(8, Math.min(16, Math.round(150 / inside.row_first.length)));
}
export function heatHeight(inside: InsideColumns): number {
  return kTouched + kGap + inside.row_first.length * rowHeight(inside) + kAxis;
}

// The part and the row under a place; row -1: the strip of what is touched. Null: neither.
export function cellAt(inside: InsideColumns, width: number, x: number, y: number): { part: number; row: number } | null {
  const part = Math.floor(((x - kHeatLeft) / Math.max(1, width - kHeatLeft)) * inside.parts);
  if (part < 0 || part >= inside.parts) return null;
  if (y < kTouched) return { part, row: -1 };
  const row = Math.floor((y - kTouched - kGap) / rowHeight(inside));
  return row >= 0 && row < inside.row_first.length ? { part, row } : null;
}
export function bytesOf(inside: InsideColumns, size: number, part: number): [number, number] {
  return [Math.floor((part * size) / inside.parts), Math.floor(((part + 1) * size) / inside.parts)];
}
export const kTouches = ['never touched', 'read', 'written', 'read and written'];
export function rowText(inside: InsideColumns, row: number): string {
  const n = inside.row_launches[row]!;
  const first = inside.row_first[row]!;
  return n === 1 ? `call ${count(first)}` : `${count(n)} launches, calls ${count(first)} to ${count(inside.row_last[row]!)}`;
}

export function paintHeat(s: HeatScene): void {
  const { g, width, height, inside, size } = s;
  if (width < kHeatLeft + 40) return;
  const c = ink();
  g.fillStyle = c.paper;
  g.fillRect(0, 0, width, height);
  const room = width - kHeatLeft;
  const x = (part: number): number => kHeatLeft + (part / inside.parts) * room;
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  g.textAlign = 'right';
  g.fillStyle = c.dim;
  g.fillText('all launches', kHeatLeft - 8, kTouched / 2);
  paintTouched(s, c, x);
  paintCounts(s, c);
  const tall = rowHeight(inside);
  g.fillStyle = c.dim;
  g.textAlign = 'right';
  const every = Math.ceil(12 / tall);
  for (let row = 0; row < inside.row_first.length; row += every) {
    const n = inside.row_launches[row]!;
    g.fillText(n === 1 ? `call ${count(inside.row_first[row]!)}` : `from call ${count(inside.row_first[row]!)}`, kHeatLeft - 8, kTouched + kGap + (row + 0.5) * tall);
  }
  const floor = height - kAxis;
  if (s.hot) {
    const [a, b] = s.hot.map((byte) => kHeatLeft + (byte / Math.max(1, size)) * room) as [number, number];
    g.strokeStyle = c.head;
    g.lineWidth = 2;
    g.strokeRect(a + 1, 1, Math.max(2, b - a - 2), floor - 2);
  }
  g.textAlign = 'left';
  g.fillStyle = c.dim;
  g.fillText('byte 0', kHeatLeft, floor + 10);
  g.textAlign = 'right';
  g.fillText(bytes(size), width - 2, floor + 10);
}

// Runs of parts that are touched alike.
function paintTouched(s: HeatScene, c: Ink, x: (part: number) => number): void {
  const { g, inside } = s;
  const { touched, parts } = inside;
  for (let part = 0; part < parts;) {
    let end = part + 1;
    while (end < parts && touched[end] === touched[part]) end++;
    const how = touched[part]! & 3;
    const partly = (touched[part]! & 4) !== 0;
    g.fillStyle = how === 0 ? hatch(g, 'cross', c.unused, c.paper) : [c.paper, c.used, c.head, c.select][how]!;
    g.fillRect(x(part), partly ? kTouched / 2 : 0, x(end) - x(part), partly ? kTouched / 2 : kTouched);
    part = end;
  }
}

function paintCounts(s: HeatScene, c: Ink): void {
  const { g, inside } = s;
  const { parts, counts } = inside;
  const rows = inside.row_first.length;
  const ratio = g.getTransform().a;
  const wide = Math.max(1, Math.floor((s.width - kHeatLeft) * ratio));
  const tall = rowHeight(inside) * ratio;
  const image = imageFor(g, wide, Math.max(1, Math.round(rows * tall)));
  const pixels = new Uint32Array(image.data.buffer);
  // The darkest shades are for what is accessed far more than the rest.
  let most = 1;
  let sum = 0;
  let accessed = 0;
  for (let k = 0; k < counts.length; k++) {
    if (counts[k]! > most) most = counts[k]!;
    sum += counts[k]!;
    if (counts[k]! > 0) accessed++;
  }
  most = Math.max(most, (kDark * sum) / Math.max(1, accessed));
  const shades = shadesOf(c);
  const scale = (kShades - 1) / Math.log2(1 + most);
  const line = new Uint32Array(wide);
  for (let row = 0; row < rows; row++) {
    for (let px = 0; px < wide; px++) {
      const first = Math.floor((px * parts) / wide);
      const end = Math.max(first + 1, Math.floor(((px + 1) * parts) / wide));
      let value = 0;
      for (let part = first; part < end; part++) value = Math.max(value, counts[row * parts + part]!);
      line[px] = shades[value === 0 ? 0 : 1 + Math.floor(scale * Math.log2(1 + value))]!;
    }
    const stop = Math.round((row + 1) * tall);
    for (let y = Math.round(row * tall); y < stop; y++) pixels.set(y === stop - 1 && tall > 4 ? line.map(() => shades[0]!) : line, y * wide);
  }
  g.putImageData(image, Math.round(kHeatLeft * ratio), Math.round((kTouched + kGap) * ratio));
}

// Paper for none; then from a light tint of use to ink.
function shadesOf(c: Ink): Uint32Array {
  const [paper, used, dark] = [c.paper, c.used, c.ink].map(pixelOf) as [number, number, number];
  const part = (pixel: number, shift: number): number => (pixel >> shift) & 255;
  const mix = (a: number, b: number, share: number): number => {
    let pixel = 255 << 24;
    for (const shift of [0, 8, 16]) pixel |= Math.round(part(a, shift) * (1 - share) + part(b, shift) * share) << shift;
    return pixel;
  };
  const shades = new Uint32Array(kShades + 1);
  shades[0] = paper;
  for (let k = 1; k <= kShades; k++) {
    const share = k / kShades;
    shades[k] = share < 0.7 ? mix(paper, used, 0.2 + (0.8 * share) / 0.7) : mix(used, dark, (share - 0.7) / 0.3);
  }
  return shades;
}
