// SPDX-License-Identifier: Apache-2.0
// Objects as blocks in the plane of calls and addresses, or of a plan's offsets.
import type { Blocks } from '../render/map';
import type { Program } from './program';
import type { Plan } from './report';
import { plain } from './words';

const kGap = 32 * 2 ** 20; // addresses that lie further apart belong to different segments
const kMostBlocks = 100_000;

export interface Segment {
  start: bigint;
  bytes: number;
  base: number; // where it is drawn
}
export interface AddressMap {
  blocks: Blocks;
  segments: Segment[];
  top: number; // bytes drawn
  leftOut: { count: number; bytes: number }; // the smallest by bytes × calls, where there are too many to draw
}

// Addresses with large unused stretches between them taken out.
export function addressMap(p: Program, device: number): AddressMap | null {
  const { address } = p;
  if (!address) return null;
  let members: number[] = [];
  for (let i = 0; i < p.count; i++) if (p.device[i] === device && p.holdsMemory(i) && p.size[i]! > 0 && address[i]! >= 0 && p.addressBase > 0n && p.end[i]! > p.begin[i]!) members.push(i);
  const leftOut = { count: 0, bytes: 0 };
  if (members.length > kMostBlocks) {
    const weight = (i: number): number => p.size[i]! * (p.end[i]! - p.begin[i]!);
    members.sort((a, b) => weight(b) - weight(a));
    for (const i of members.slice(kMostBlocks)) leftOut.bytes += p.size[i]!;
    leftOut.count = members.length - kMostBlocks;
    members = members.slice(0, kMostBlocks);
  }
  members.sort((a, b) => address[a]! - address[b]! || a - b);
  const segments: Segment[] = [];
  const low = new Map<number, number>();
  let segmentStart = 0;
  let end = 0;
  let top = 0;
  for (const i of members) {
    const start = address[i]!;
    const stop = start + p.size[i]!;
    let segment = segments[segments.length - 1];
    if (!segment || start > end + kGap) {
      segments.push((segment = { start: p.addressBase + BigInt(Math.round(start)), bytes: 0, base: top }));
      segmentStart = start;
    }
    low.set(i, segment.base + start - segmentStart);
    if (stop > end || segment.bytes === 0) end = stop;
    segment.bytes = end - segmentStart;
    top = segment.base + segment.bytes;
  }
  const order = members.sort((a, b) => p.begin[a]! - p.begin[b]!);
  const column = (value: (i: number) => number): Float64Array => Float64Array.from(order, value);
  return {
    segments,
    leftOut,
    top: Math.max(1, top),
    blocks: { from: column((i) => p.begin[i]!), to: column((i) => p.end[i]!), low: column((i) => low.get(i)!), high: column((i) => low.get(i)! + p.size[i]!), object: Int32Array.from(order) },
  };
}

// How much of the memory up to the highest live address of each segment is holes, at `count` calls of [from, to).
export function fragmentation(map: AddressMap, from: number, to: number, count: number): number[] {
  return Array.from({ length: count }, (_, k) => {
    const use = useAt(map, Math.floor(from + ((to - from) * k) / Math.max(1, count - 1)));
    return use.holes + use.live > 0 ? use.holes / (use.holes + use.live) : 0;
  });
}

export interface Use {
  live: number;
  holes: number; // free bytes below the highest live address of each segment
  largestHole: number;
}
export function useAt(map: AddressMap, call: number): Use {
  const { blocks } = map;
  const live: [number, number][] = [];
  for (let k = 0; k < blocks.from.length; k++) if (blocks.from[k]! <= call && call < blocks.to[k]!) live.push([blocks.low[k]!, blocks.high[k]!]);
  live.sort((a, b) => a[0] - b[0]);
  const use = { live: 0, holes: 0, largestHole: 0 };
  for (const segment of map.segments) {
    let end = segment.base;
    for (const [a, b] of live) {
      if (a < segment.base || a >= segment.base + segment.bytes) continue;
      const hole = Math.max(0, a - end);
      use.holes += hole;
      use.largestHole = Math.max(use.largestHole, hole);
      use.live += Math.max(0, b - Math.max(a, end));
      end = Math.max(end, b);
    }
  }
  return use;
}

// The number of a trace's object in a plan's name for it; -1: none.
export function plannedObject(id: string): number {
  const digits = id.slice(id.lastIndexOf('#') + 1);
  return /^\d{1,15}$/.test(digits) ? Number(digits) : -1;
}

export function plannedName(id: string, p: Program | null): string {
  const at = p?.place(plannedObject(id)) ?? -1;
  if (p && at >= 0) return p.name(at);
  return /^\d+$/.test(id) ? `object ${id}` : plain(id, 80);
}

export function planBlocks(plan: Plan, p: Program | null): Blocks {
  const column = (value: (o: Plan['objects'][number]) => number): Float64Array => Float64Array.from(plan.objects, value);
  return {
    from: column((o) => o.lower),
    to: column((o) => o.upper),
    low: column((o) => o.offset),
    high: column((o) => o.offset + o.size),
    object: Int32Array.from(plan.objects, (o) => p?.place(plannedObject(o.id)) ?? -1),
  };
}

// The planned pool of a report, over the program's calls; null where the page does not carry it.
export function packedBlocks(p: Program): Blocks | null {
  const { packing } = p.report;
  if (!packing || packing.id.length === 0) return null;
  const objects = Array.from(packing.id, (id) => p.place(id));
  const column = (value: (i: number, k: number) => number): Float64Array => Float64Array.from(objects, (i, k) => (i < 0 ? 0 : value(i, k)));
  return {
    from: column((i) => p.begin[i]!),
    to: column((i) => p.end[i]!),
    low: column((_, k) => packing.offset[k]!),
    high: column((i, k) => packing.offset[k]! + p.size[i]!),
    object: Int32Array.from(objects),
  };
}
