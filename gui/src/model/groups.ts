// SPDX-License-Identifier: Apache-2.0
// Findings by the source line to change, in the report's rank order.
import type { Program } from './program';
import { weight } from './program';
import type { Frame } from './report';
import { place } from './words';

export interface Group {
  key: string;
  site: Frame | null;
  title: string;
  findings: number[]; // places in the report's findings
  objects: number; // different ones
  best: number; // the most that one of its fixes takes off the peak
}

export function groupFindings(program: Program, keep: (finding: number) => boolean): Group[] {
  const groups = new Map<string, Group>();
  const objects = new Map<string, Set<number>>();
  program.report.findings.forEach((f, at) => {
    if (!keep(at)) return;
    const o = program.place(f.object);
    const site = o < 0 ? null : program.site(o);
    const key = site ? `${site.file}:${site.line}` : `object ${f.object}`;
    let group = groups.get(key);
    if (!group) {
      const title = site ? place(site.file, site.line) : program.name(o);
      groups.set(key, (group = { key, site, title, findings: [], objects: 0, best: 0 }));
      objects.set(key, new Set());
    }
    group.findings.push(at);
    objects.get(key)!.add(f.object);
    group.objects = objects.get(key)!.size;
    group.best = Math.max(group.best, weight(f));
  });
  return [...groups.values()];
}
