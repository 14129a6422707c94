// SPDX-License-Identifier: Apache-2.0
// Objects as blocks in the plane of calls and addresses, or of a plan's offsets.
import type { Blocks } from '../render/map';
import type { Program } from './program';
import type { Plan } from './report';

const kGap = 32n << 20n; // addresses that lie further apart belong to different segments

export interface Segment {
  start: bigint;
  bytes: number;
  base: number; // where it is drawn
}
export interface AddressMap {
  blocks: Blocks;
  segments: Segment[];
  top: number; // bytes drawn
}

// Addresses with large unused stretches between them taken out.
export function addressMap(p: Program, device: number): AddressMap | null {
  const { address } = p;
  if (!address) return null;
  const members: number[] = [];
  for (let i = 0; i < p.count; i++) if (p.device[i] === device && p.holdsMemory(i) && p.size[i]! > 0 && address[i]! > 0n && p.end[i]! > p.begin[i]!) members.push(i);
  members.sort((a, b) => (address[a]! < address[b]! ? -1 : address[a]! > address[b]! ? 1 : a - b));
  const segments: Segment[] = [];
  const low = new Map<number, number>();
  let end = 0n;
  let top = 0;
  for (const i of members) {
    const start = address[i]!;
    const stop = start + BigInt(Math.round(p.size[i]!));
    let segment = segments[segments.length - 1];
    if (!segment || start > end + kGap) segments.push((segment = { start, bytes: 0, base: top }));
    low.set(i, segment.base + Number(start - segment.start));
    if (stop > end || segment.bytes === 0) end = stop;
    segment.bytes = Number(end - segment.start);
    top = segment.base + segment.bytes;
  }
  const order = members.sort((a, b) => p.begin[a]! - p.begin[b]!);
  const column = (value: (i: number) => number): Float64Array => Float64Array.from(order, value);
  return {
    segments,
    top: Math.max(1, top),
    blocks: { from: column((i) => p.begin[i]!), to: column((i) => p.end[i]!), low: column((i) => low.get(i)!), high: column((i) => low.get(i)! + p.size[i]!), object: Int32Array.from(order) },
  };
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

export function planBlocks(plan: Plan, p: Program | null): Blocks {
  const column = (value: (o: Plan['objects'][number]) => number): Float64Array => Float64Array.from(plan.objects, value);
  return {
    from: column((o) => o.lower),
    to: column((o) => o.upper),
    low: column((o) => o.offset),
    high: column((o) => o.offset + o.size),
    object: Int32Array.from(plan.objects, (o) => p?.place(o.id) ?? -1),
  };
}
