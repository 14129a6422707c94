// SPDX-License-Identifier: Apache-2.0
// Colours of the page for canvases, and hatchings: what is unused has a pattern as well as a colour.

const kNames = ['paper', 'ink', 'dim', 'line', 'panel', 'used', 'head', 'tail', 'idle', 'unused', 'leaked', 'pending', 'select', 'curve', 'curvefill', 'save', 'part0', 'part1', 'part2', 'part3', 'part4', 'part5', 'part6', 'part7'] as const;
export type Ink = Record<(typeof kNames)[number], string>;

let cached: Ink | null = null;
let cachedFor = '';

export function ink(): Ink {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const key = `${document.documentElement.dataset['theme'] ?? ''}${dark}`;
  if (!cached || cachedFor !== key) {
    const style = getComputedStyle(document.documentElement);
    cached = Object.fromEntries(kNames.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Ink;
    cachedFor = key;
    hatchings.clear();
  }
  return cached;
}

export type Hatch = 'rising' | 'falling' | 'cross' | 'dots';
const hatchings = new Map<string, CanvasPattern>();
const colourOfHatching = new WeakMap<CanvasPattern, string>();
// What stands for a hatching where there are none.
export function plainColour(pattern: CanvasPattern): string {
  return colourOfHatching.get(pattern) ?? '#888888';
}

export function hatch(_: CanvasRenderingContext2D, kind: Hatch, colour: string, paper: string): CanvasPattern | string {
  const key = `${kind}${colour}${paper}`;
  const known = hatchings.get(key);
  if (known) return known;
  const tile = document.createElement('canvas');
  tile.width = tile.height = 8;
  const t = tile.getContext('2d')!;
  t.fillStyle = paper;
  t.fillRect(0, 0, 8, 8);
  t.globalAlpha = 0.25;
  t.fillStyle = colour;
  t.fillRect(0, 0, 8, 8);
  t.globalAlpha = 1;
  t.strokeStyle = colour;
  t.lineWidth = 1.6;
  t.beginPath();
  for (const shift of [-8, 0, 8]) {
    if (kind === 'rising' || kind === 'cross') {
      t.moveTo(shift, 8);
      t.lineTo(shift + 8, 0);
    }
    if (kind === 'falling' || kind === 'cross') {
      t.moveTo(shift, 0);
      t.lineTo(shift + 8, 8);
    }
  }
  t.stroke();
  if (kind === 'dots') {
    t.fillRect(1, 1, 2, 2);
    t.fillRect(5, 5, 2, 2);
  }
  const made = t.createPattern(tile, 'repeat');
  if (!made) return colour;
  hatchings.set(key, made);
  colourOfHatching.set(made, colour);
  return made;
}

// A colour as a pixel of an image's bytes. Styles may be shortened on the way here: the browser reads them.
const pixels = new Map<string, number>();
export function pixelOf(colour: string): number {
  let pixel = pixels.get(colour);
  if (pixel === undefined) {
    const g = document.createElement('canvas').getContext('2d')!;
    g.fillStyle = colour;
    const hex = parseInt(String(g.fillStyle).slice(1, 7), 16);
    pixel = (255 << 24) | ((hex & 255) << 16) | (hex & 0xff00) | (hex >> 16);
    pixels.set(colour, pixel);
  }
  return pixel;
}

// An image to fill anew and put at once; the same one as long as its size stays.
let image: ImageData | null = null;
export function imageFor(g: CanvasRenderingContext2D, width: number, height: number): ImageData {
  if (!image || image.width !== width || image.height !== height) image = g.createImageData(width, height);
  return image;
}

// Of parts in a stack: told apart by lightness as well as by hue. Swatches have the same by class: part0 to part7.
export const kMostParts = 8;
export function partColour(k: number): string {
  return ink()[`part${(k % kMostParts) as 0}`];
}

// Round numbers that divide [a, b) into about `about` parts.
export function ticks(a: number, b: number, about: number, whole = false): number[] {
  const raw = (b - a) / Math.max(1, about);
  if (!(raw > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  let step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  if (whole) step = Math.max(1, step);
  const out: number[] = [];
  for (let t = Math.ceil(a / step) * step; t < b; t += step) out.push(t);
  return out;
}
// The same for bytes: powers of two.
export function byteTicks(top: number, about: number): number[] {
  let step = 1;
  while (top / step > about) step *= 2;
  const out: number[] = [];
  for (let t = step; t <= top; t += step) out.push(t);
  return out;
}
