// SPDX-License-Identifier: Apache-2.0
// What changed between two reports, by the line that allocates.
import type { Program } from './program';

export interface SiteChange {
  site: string;
  peak: [number, number]; // bytes at the peak: before, now
  allocated: [number, number];
  objects: [number, number];
}

export function changesBySite(before: Program, now: Program): SiteChange[] {
  const changes = new Map<string, SiteChange>();
  [before, now].forEach((p, side) => {
    for (let i = 0; i < p.count; i++) {
      if (!p.holdsMemory(i)) continue;
      const site = `${p.siteText(i)}${p.rawName(i) === '' ? '' : `, ${p.name(i)}`}`;
      let c = changes.get(site);
      if (!c) changes.set(site, (c = { site, peak: [0, 0], allocated: [0, 0], objects: [0, 0] }));
      c.allocated[side]! += p.size[i]!;
      c.objects[side]!++;
      if (p.stateAtPeak.has(i)) c.peak[side]! += p.size[i]!;
    }
  });
  const delta = (c: SiteChange): number => Math.abs(c.peak[1] - c.peak[0]) * 1e6 + Math.abs(c.allocated[1] - c.allocated[0]);
  return [...changes.values()].sort((a, b) => delta(b) - delta(a));
}
