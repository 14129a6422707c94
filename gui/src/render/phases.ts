// SPDX-License-Identifier: Apache-2.0
// Paints phases of the program as bands, and where iterations begin.
import { callOf, shareOf, type Across } from '../model/clock';
import type { PhaseColumns } from '../model/report';
import { plain } from '../model/words';
import { ink, partColour } from './ink';

export const kBand = 15; // pixels of a row
const kMostRows = 5;
const kMostLines = 150;
const kLetter = 6.2; // pixels, about

export function phaseRows(phases: PhaseColumns | undefined): number {
  let rows = 0;
  for (let k = 0; k < (phases?.count ?? 0); k++) if (phases!.row[k]! >= rows) rows = phases!.row[k]! + 1;
  return rows;
}
export function shownRows(phases: PhaseColumns | undefined): number {
  return Math.min(kMostRows, phaseRows(phases));
}

interface Scene extends Across {
  g: CanvasRenderingContext2D;
  width: number;
  height: number; // that lines of iterations reach down to
  left: number;
  phases: PhaseColumns;
  rows: number;
}

export function paintPhases(s: Scene): void {
  const { g, phases, left } = s;
  const c = ink();
  const room = s.width - left;
  const x = (call: number): number => left + Math.min(1, Math.max(0, shareOf(s, call))) * room;
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  g.textAlign = 'left';
  const painted = new Float64Array(s.rows).fill(-1); // how far to the right, by row
  for (let k = 0; k < phases.count; k++) {
    const begin = phases.begin[k]!;
    if (begin >= s.to) break;
    const row = phases.row[k]!;
    const end = begin + phases.length[k]!;
    if (row >= s.rows || end <= s.from) continue;
    const x0 = x(begin);
    const x1 = Math.max(x0 + 1, x(end));
    if (x1 <= painted[row]! + 0.5) continue; // runs narrower than a pixel
    painted[row] = x1;
    const y = row * kBand;
    g.fillStyle = c.panel;
    g.fillRect(x0, y, x1 - x0, kBand - 2);
    g.fillStyle = partColour(phases.name[k]!);
    g.fillRect(x0, y, Math.min(3, x1 - x0), kBand - 2);
    const letters = Math.floor((x1 - x0 - 8) / kLetter);
    if (letters < 2) continue;
    const name = plain(phases.names[phases.name[k]!] ?? '', 80);
    g.fillStyle = c.ink;
    g.fillText(name.length > letters ? `${name.slice(0, letters - 1)}…` : name, x0 + 6, y + kBand / 2 - 1);
  }
  const [first, end] = within(phases.iterations, s.from, s.to);
  if (end - first > kMostLines) return;
  g.fillStyle = c.dim;
  for (let k = first; k < end; k++) for (let y = 0; y < s.height; y += 8) g.fillRect(x(phases.iterations[k]!), y, 1, 4);
}

// The places of those in [from, to).
function within(rising: ArrayLike<number>, from: number, to: number): [number, number] {
  const before = (call: number): number => {
    let low = 0;
    let high = rising.length;
    while (low < high) {
      const mid = (low + high) >>> 1;
      if (rising[mid]! < call) low = mid + 1;
      else high = mid;
    }
    return low;
  };
  return [before(from), before(to)];
}

// The phase in a row at a place; -1: none.
export function phaseAt(s: Across & { width: number; left: number; phases: PhaseColumns }, x: number, y: number): number {
  const call = callOf(s, (x - s.left) / Math.max(1, s.width - s.left));
  const row = Math.floor(y / kBand);
  for (let k = 0; k < s.phases.count; k++)
    if (s.phases.row[k] === row && s.phases.begin[k]! <= call && call < s.phases.begin[k]! + s.phases.length[k]!) return k;
  return -1;
}
