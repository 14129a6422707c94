// SPDX-License-Identifier: Apache-2.0
// Lifetimes out of columns: what the page and its worker both read.
import type { Lives } from './lanes';
import type { ObjectColumns } from './report';

const kNotDevice = new Set(['pinned', 'imported']);

export function livesOf(c: ObjectColumns, calls: number): Lives & { begin: Uint32Array; end: Uint32Array; size: Float64Array; first: Int32Array; last: Int32Array } {
  const n = c.count;
  const own = { count: n, begin: new Uint32Array(n), end: new Uint32Array(n), size: new Float64Array(n), first: new Int32Array(n), last: new Int32Array(n), lane: c.lane ?? null };
  for (let i = 0; i < n; i++) {
    const begin = c.begin[i]!;
    const first = c.first_access[i]!;
    own.size[i] = c.size_bytes[i]!;
    own.begin[i] = begin;
    own.end[i] = Math.min(begin + c.life[i]!, Math.max(calls, begin));
    own.first[i] = first < 0 ? -1 : begin + first;
    own.last[i] = c.last_access[i]! < 0 ? -1 : begin + first + c.last_access[i]!;
  }
  return own;
}

// 1 for each object that holds memory of its device at the report's level.
export function holders(c: { count: number; kind: ArrayLike<number>; parent: ArrayLike<number>; kinds: string[] }, level: string | undefined): Uint8Array {
  const holds = new Uint8Array(c.count);
  const isDevice = c.kinds.map((kind) => !kNotDevice.has(kind));
  const hasParts = new Uint8Array(c.count);
  for (let i = 0; i < c.count; i++) if (c.parent[i]! >= 0) hasParts[c.parent[i]!] = 1;
  for (let i = 0; i < c.count; i++) holds[i] = isDevice[c.kind[i]!] && (level === 'tensor' ? hasParts[i] === 0 : c.parent[i]! < 0) ? 1 : 0;
  return holds;
}
