// SPDX-License-Identifier: Apache-2.0
// Live bytes split by the line that allocates them: the lines that hold most at the peak, and the exact rest.
import { ask } from '../work/client';
import type { Steps } from '../work/messages';
import { Curve, stepsOf } from './curve';
import type { Program } from './program';
import { place } from './words';

export interface SiteCurve {
  site: string;
  curve: Curve;
  peak: number; // bytes at the highest peak
}
const kInWorker = 30_000; // objects

// By path: the text of its line.
export function siteTexts(p: Program): string[] {
  const texts = new Array<string>(p.pathCount).fill('');
  if (p.knowsSites)
    for (let k = 0; k < texts.length; k++) {
      const site = p.siteOfPath(k);
      texts[k] = site ? place(site.file, site.line) : 'unknown line';
    }
  else for (let i = 0; i < p.count; i++) if (p.pathAt[i]! >= 0 && texts[p.pathAt[i]!] === '') texts[p.pathAt[i]!] = p.siteText(i);
  return texts;
}

interface Groups {
  sites: string[];
  of: Int32Array; // by path; -1: the rest
  peak: number[];
}
export function largestSites(p: Program, device: number, most: number): Groups {
  const texts = siteTexts(p);
  const atPeak = new Map<string, number>();
  const held = new Map<string, number>();
  for (let i = 0; i < p.count; i++) {
    if (!p.holdsMemory(i) || p.device[i] !== device || p.pathAt[i]! < 0) continue;
    const site = texts[p.pathAt[i]!]!;
    if (p.stateAtPeak.size > 0 && p.stateAtPeak.has(i)) atPeak.set(site, (atPeak.get(site) ?? 0) + p.size[i]!);
    held.set(site, (held.get(site) ?? 0) + p.size[i]! * (p.end[i]! - p.begin[i]!));
  }
  const sites = [...held.keys()].sort((a, b) => (atPeak.get(b) ?? 0) - (atPeak.get(a) ?? 0) || held.get(b)! - held.get(a)!).slice(0, most);
  const number = new Map(sites.map((site, k) => [site, k]));
  return { sites, of: Int32Array.from(texts, (site) => number.get(site) ?? -1), peak: sites.map((site) => atPeak.get(site) ?? 0) };
}

export async function siteCurves(p: Program, device: number, most: number): Promise<SiteCurve[]> {
  const groups = largestSites(p, device, most);
  const inGroup = (g: number) => (i: number): boolean => p.holdsMemory(i) && p.device[i] === device && p.pathAt[i]! >= 0 && groups.of[p.pathAt[i]!] === g;
  const steps =
    p.number === null || p.count <= kInWorker
      ? groups.sites.map((_, g) => stepsOf(p.begin, p.end, p.size, inGroup(g)))
      : await ask<Steps[]>({ ask: 'sites', program: p.number, device, groups: groups.of, count: groups.sites.length });
  return groups.sites.map((site, g) => ({ site, curve: new Curve(steps[g]!.at, steps[g]!.bytes, p.calls), peak: groups.peak[g]! }));
}
