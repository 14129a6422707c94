// SPDX-License-Identifier: Apache-2.0
// Paints calls in lanes, a lane for each stream.
import { placeIn, type By, type Points } from '../model/calls';
import { duration } from '../model/clock';
import type { PagedCalls } from '../model/report';
import { count } from '../model/words';
import { paintCallAxis } from './curve';
import { ink, pixelOf, ticks } from './ink';

// Few lanes are high: there is room for them.
export function laneHeight(lanes: number): number {
  return Math.max(34, Math.min(64, Math.floor(220 / Math.max(1, lanes))));
}
export const kLanesLeft = 96;

export interface LanesScene {
  g: CanvasRenderingContext2D;
  width: number;
  height: number;
  from: number; // levels, calls or ns [from, to)
  to: number;
  extent: number; // levels, calls or ns there are
  by: By;
  lanes: number[];
  lane: number; // height
  kinds: string[];
  points: Points[];
  overview: PagedCalls['overview'] | null; // instead of points
  marked: Set<number>; // calls of the selected object
  cursor: number | null;
  edges: { from: number; to: number; guaranteed: boolean }[];
  critical: Set<number> | null;
}

const xAt = (s: LanesScene, v: number): number => kLanesLeft + ((v - s.from) / (s.to - s.from)) * (s.width - kLanesLeft);
const valueOf = (s: LanesScene, points: Points, k: number): number => valueIn(points, k, s.by);
export function valueIn(points: Points, k: number, by: By): number {
  return by === 'level' ? points.level[k]! : by === 'time' ? points.time?.[k] ?? 0 : points.call[k]!;
}
export function colourOf(kind: string): string {
  const c = ink();
  return { alloc: c.save, free: c.tail, launch: c.used, memcpy: c.head, memset: c.idle }[kind] ?? c.dim;
}

export function paintLanes(s: LanesScene): void {
  const { g, width, height } = s;
  const c = ink();
  g.fillStyle = c.paper;
  g.fillRect(0, 0, width, height);
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  g.textAlign = 'left';
  s.lanes.forEach((stream, k) => {
    g.fillStyle = c.dim;
    g.fillText(stream < 0 ? 'host' : `stream ${stream}`, 4, k * s.lane + s.lane / 2);
    g.fillStyle = c.line;
    g.fillRect(kLanesLeft, k * s.lane + s.lane - 1, width - kLanesLeft, 1);
  });
  g.save();
  g.beginPath();
  g.rect(kLanesLeft, 0, width - kLanesLeft, height - 20);
  g.clip();
  if (s.overview) paintOverview(s, s.overview);
  for (const points of s.points) paintPoints(s, points);
  if (s.critical) paintChain(s);
  for (const edge of s.edges) paintEdge(s, edge);
  g.restore();
  paintAxis(s);
}

// A column of a lane is split by the kinds of the calls in it.
function paintOverview(s: LanesScene, overview: PagedCalls['overview']): void {
  const { g } = s;
  const counts = { level: overview.by_level, ordinal: overview.by_call, time: overview.by_time ?? overview.by_call }[s.by];
  const kinds = s.kinds.length;
  const perStretch = s.extent / overview.stretches;
  const ratio = g.getTransform().a;
  const columns = Math.floor((s.width - kLanesLeft) * ratio);
  const tall = Math.round((s.lane - 13) * ratio);
  const colours = s.kinds.map((kind) => pixelOf(colourOf(kind)));
  const paper = pixelOf(ink().paper);
  s.lanes.forEach((_, lane) => {
    const image = g.createImageData(Math.max(1, columns), Math.max(1, tall));
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(paper);
    for (let x = 0; x < columns; x++) {
      const stretch = Math.min(overview.stretches - 1, Math.floor((s.from + (x / columns) * (s.to - s.from)) / perStretch));
      const base = (lane * overview.stretches + stretch) * kinds;
      let all = 0;
      for (let k = 0; k < kinds; k++) all += counts[base + k]!;
      let sum = 0;
      let y = 0;
      for (let k = 0; k < kinds && all > 0; k++) {
        sum += counts[base + k]!;
        for (const stop = Math.round((tall * sum) / all); y < stop; y++) pixels[y * columns + x] = colours[k]!;
      }
    }
    g.putImageData(image, Math.round(kLanesLeft * ratio), Math.round((lane * s.lane + 6) * ratio));
  });
}

function paintPoints(s: LanesScene, points: Points): void {
  const { g } = s;
  const c = ink();
  const cell = (s.width - kLanesLeft) / (s.to - s.from);
  const colours = s.kinds.map(colourOf);
  const drawn = new Int32Array(s.lanes.length).fill(-1);
  const w = s.by === 'time' ? 3 : Math.max(1, Math.min(cell - 1, 40)); // how long a call takes is not known
  for (let k = 0; k < points.kind.length; k++) {
    const v = valueOf(s, points, k);
    if (v < s.from - 1 || v > s.to) continue;
    const x = xAt(s, v);
    const lane = points.lane[k]!;
    const call = points.call[k]!;
    const isMarked = s.marked.has(call) || s.cursor === call;
    if (cell < 1 && !isMarked && drawn[lane] === (x | 0)) continue;
    drawn[lane] = x | 0;
    g.fillStyle = colours[points.kind[k]!]!;
    g.fillRect(x, lane * s.lane + 6, w, s.lane - 13);
    if (!isMarked) continue;
    g.strokeStyle = c.select;
    g.lineWidth = 2;
    g.strokeRect(x - 1, lane * s.lane + 5, w + 2, s.lane - 11);
  }
}

function centre(s: LanesScene, call: number): [number, number] | null {
  const half = s.by === 'time' ? 1.5 : Math.min((s.width - kLanesLeft) / (s.to - s.from), 40) / 2;
  for (const points of s.points) {
    const k = placeIn(points, call);
    if (k >= 0) return [xAt(s, valueOf(s, points, k)) + half, points.lane[k]! * s.lane + s.lane / 2];
  }
  return null;
}

function paintChain(s: LanesScene): void {
  const { g } = s;
  g.strokeStyle = ink().leaked;
  g.lineWidth = 2;
  g.beginPath();
  let last: [number, number] | null = null;
  for (const call of s.critical!) {
    const at = centre(s, call);
    if (!at) continue;
    if (last && at[0] - last[0] < 0.5 && at[1] === last[1]) continue;
    if (last) g.lineTo(...at);
    else g.moveTo(...at);
    last = at;
  }
  g.stroke();
}

function paintEdge(s: LanesScene, edge: LanesScene['edges'][number]): void {
  const a = centre(s, edge.from);
  const b = centre(s, edge.to);
  if (!a || !b) return;
  const { g } = s;
  g.strokeStyle = ink().select;
  g.lineWidth = 1.5;
  g.setLineDash(edge.guaranteed ? [] : [4, 3]);
  g.beginPath();
  g.moveTo(...a);
  g.bezierCurveTo((a[0] + b[0]) / 2, a[1] - 20, (a[0] + b[0]) / 2, b[1] - 20, ...b);
  g.stroke();
  g.setLineDash([]);
}

function paintAxis(s: LanesScene): void {
  const { g, height, width } = s;
  const c = ink();
  if (s.by === 'ordinal') return paintCallAxis(g, { from: s.from, to: s.to, width, left: kLanesLeft }, height - 20, kLanesLeft);
  g.fillStyle = c.line;
  g.fillRect(kLanesLeft, height - 20, width, 1);
  g.fillStyle = c.dim;
  const word = (v: number): string => (s.by === 'time' ? duration(v) : `level ${count(Math.round(v))}`);
  for (const t of ticks(s.from, s.to, (width - kLanesLeft) / 130, s.by === 'level')) {
    g.fillStyle = c.line;
    g.fillRect(xAt(s, t), height - 20, 1, 5);
    g.fillStyle = c.dim;
    if (xAt(s, t) < width - 60) g.fillText(word(t), xAt(s, t) + 3, height - 10);
  }
}
