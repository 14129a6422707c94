// SPDX-License-Identifier: Apache-2.0
// The calls of a program as points in lanes: across by topological level or by order of issue, a lane for each stream.
import { ask } from '../work/client';
import type { CallColumns, CallsPage, PagedCalls } from './report';

export type By = 'level' | 'ordinal' | 'time';

export interface Points {
  call: ArrayLike<number>; // index in issue order
  kind: ArrayLike<number>;
  level: ArrayLike<number>;
  time: ArrayLike<number> | null; // ns
  lane: Uint16Array;
  at: Map<number, number>; // by call: its place here
  edges: { from: ArrayLike<number>; to: ArrayLike<number>; kind: ArrayLike<number> };
}

export function lanesOf(calls: CallColumns | PagedCalls): number[] {
  if ('overview' in calls) return calls.overview.lanes;
  return [...new Set(Array.from(calls.stream))].sort((a, b) => a - b);
}
export function knowsTime(calls: CallColumns | PagedCalls): boolean {
  return 'overview' in calls ? calls.overview.by_time !== undefined : calls.time_ns !== undefined;
}
// `end`: of the device's work, ns.
export function extentOf(calls: CallColumns | PagedCalls, by: By, end: number): number {
  if (by === 'ordinal') return Math.max(1, calls.count);
  if (by === 'time') return end + 1;
  if ('overview' in calls) return calls.overview.levels;
  let highest = 0;
  for (let i = 0; i < calls.level.length; i++) if (calls.level[i]! > highest) highest = calls.level[i]!;
  return highest + 1;
}

export function pointsOf(columns: CallColumns | CallsPage, lanes: number[]): Points {
  const n = columns.kind.length;
  const laneOf = new Map(lanes.map((stream, k) => [stream, k]));
  const lane = new Uint16Array(n);
  const at = new Map<number, number>();
  const call = 'call' in columns ? columns.call : Uint32Array.from({ length: n }, (_, k) => columns.first + k);
  for (let i = 0; i < n; i++) {
    lane[i] = laneOf.get(columns.stream[i]!) ?? 0;
    if ('call' in columns) at.set(call[i]!, i);
  }
  return { call, kind: columns.kind, level: columns.level, time: columns.time_ns ?? null, lane, at, edges: { from: columns.edge_from, to: columns.edge_to, kind: columns.edge_kind } };
}
export function placeIn(points: Points, call: number): number {
  if (points.at.size > 0) return points.at.get(call) ?? -1;
  const first = points.call[0] ?? 0;
  return call >= first && call < first + points.call.length ? call - first : -1;
}

// Pages in sight of a window, or null where they are more than a person can read: the overview is shown then.
const kMostPages = 4;
export function pagesIn(calls: PagedCalls, byLevel: boolean, from: number, to: number): number[] | null {
  const pages = calls.page_levels.length;
  let first: number;
  let last: number;
  if (byLevel) {
    first = calls.page_levels.findIndex((level, k) => (calls.page_levels[k + 1] ?? Infinity) >= from && level <= to);
    last = calls.page_levels.findLastIndex((level) => level < to);
  } else {
    first = Math.floor(from / calls.page_calls);
    last = Math.floor(Math.max(from, to - 1) / calls.page_calls);
  }
  first = Math.max(0, first);
  last = Math.min(pages - 1, last);
  return last - first + 1 > kMostPages ? null : Array.from({ length: last - first + 1 }, (_, k) => first + k);
}

const kKept = 12;
const kept = new Map<string, Points>();
const asked = new Set<string>();
export function pagePoints(program: number, calls: PagedCalls, byLevel: boolean, page: number, arrived: () => void): Points | null {
  const key = `calls/${program}/${byLevel ? 'level' : 'order'}/${page}`;
  const known = kept.get(key);
  if (known || asked.has(key)) return known ?? null;
  asked.add(key);
  ask<CallsPage>({ ask: 'page', url: new URL(key, location.href).href }).then(
    (columns) => {
      asked.delete(key);
      if (kept.size >= kKept) kept.delete(kept.keys().next().value!);
      kept.set(key, pointsOf(columns, calls.overview.lanes));
      arrived();
    },
    () => undefined, // stays asked for: asking again and again would not help
  );
  return null;
}
