// SPDX-License-Identifier: Apache-2.0
// Bytes by call path, as a tree from the outermost function in, and by line.
import type { Program } from './program';
import { place } from './words';

export const kMetrics = ['peak', 'allocated', 'bytes × calls', 'wasted', 'objects'] as const;
export type Metric = (typeof kMetrics)[number];
export const kMetricWords: Record<Metric, string> = {
  peak: 'bytes at the peak',
  allocated: 'bytes allocated in all',
  'bytes × calls': 'bytes × calls that they were held for',
  wasted: 'bytes that findings call wasted',
  objects: 'number of objects',
};

export interface Node {
  label: string; // function
  file: string;
  line: number;
  value: number;
  children: Map<string, Node>;
}

function valueOf(p: Program, metric: Metric, i: number): number {
  switch (metric) {
    case 'peak':
      return p.stateAtPeak.has(i) ? p.size[i]! : 0;
    case 'allocated':
      return p.size[i]!;
    case 'bytes × calls':
      return p.size[i]! * (p.end[i]! - p.begin[i]!);
    case 'wasted':
      return p.wasted(i);
    case 'objects':
      return 1;
  }
}

function valuesByPath(p: Program, metric: Metric): Map<number, { value: number; some: number; count: number }> {
  const sums = new Map<number, { value: number; some: number; count: number }>();
  for (let i = 0; i < p.count; i++) {
    if (!p.holdsMemory(i)) continue;
    const value = valueOf(p, metric, i);
    if (value === 0) continue;
    const sum = sums.get(p.pathKey(i));
    if (sum) {
      sum.value += value;
      sum.count++;
    } else sums.set(p.pathKey(i), { value, some: i, count: 1 });
  }
  return sums;
}

export function stackTree(p: Program, metric: Metric): Node {
  const root: Node = { label: 'all', file: '', line: 0, value: 0, children: new Map() };
  for (const { value, some } of valuesByPath(p, metric).values()) {
    root.value += value;
    let node = root;
    const path = p.path(some);
    const frames = path.length > 0 ? [...path].reverse() : [{ function: 'no call path', file: '', line: 0 }];
    for (const frame of frames) {
      const key = `${frame.function}\n${frame.file}:${frame.line}`;
      let child = node.children.get(key);
      if (!child) node.children.set(key, (child = { label: frame.function || '?', file: frame.file, line: frame.line, value: 0, children: new Map() }));
      child.value += value;
      node = child;
    }
  }
  return root;
}

export interface SiteSum {
  site: string;
  value: number;
  count: number;
}
export function bySite(p: Program, metric: Metric): SiteSum[] {
  const sums = new Map<string, SiteSum>();
  for (const { value, some, count } of valuesByPath(p, metric).values()) {
    const frame = p.site(some);
    const site = frame ? place(frame.file, frame.line) : 'unknown line';
    const sum = sums.get(site) ?? { site, value: 0, count: 0 };
    sum.value += value;
    sum.count += count;
    sums.set(site, sum);
  }
  return [...sums.values()].sort((a, b) => b.value - a.value);
}
