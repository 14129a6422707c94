// SPDX-License-Identifier: Apache-2.0
// Which stretch of an object's life a finding is about, for drawing; the report's savings come from drgpum.
import type { Program } from './program';
import type { Finding } from './report';

// Calls [from, to) and the bytes that the fix takes away there; null when the fix frees none.
export function removedBy(p: Program, f: Finding): { from: number; to: number; bytes: number } | null {
  const i = p.place(f.object);
  if (i < 0) return null;
  const begin = p.begin[i]!;
  const end = p.end[i]!;
  const bytes = p.size[i]!;
  const from = f.evidence.from?.index ?? begin;
  const to = f.evidence.to?.index ?? end;
  switch (f.pattern) {
    case 'early_allocation':
      return { from: begin, to, bytes };
    case 'late_deallocation':
    case 'memory_leak':
      return { from: from + 1, to: end, bytes };
    case 'temporary_idleness':
      return { from: from + 1, to, bytes };
    case 'unused_allocation':
    case 'redundant_allocation':
      return { from: begin, to: end, bytes };
    case 'overallocation':
    case 'structured_access':
      return { from: begin, to: end, bytes: f.wasted_bytes };
    default:
      return null;
  }
}

// The longest idle gap of each object that has one.
export function idleGaps(p: Program): Map<number, [number, number]> {
  const gaps = new Map<number, [number, number]>();
  for (const f of p.report.findings) {
    if (f.pattern !== 'temporary_idleness' || !f.evidence.from || !f.evidence.to) continue;
    gaps.set(p.place(f.object), [f.evidence.from.index, f.evidence.to.index]);
  }
  return gaps;
}
