// SPDX-License-Identifier: Apache-2.0
// Small reports for tests.
import type { Api, Finding, Report, ReportObject } from '../src/model/report';

export function call(index: number, kind = 'launch', line = index + 1): Api {
  return { index, kind, name: kind === 'alloc' ? 'cudaMalloc' : kind, stream: 0, function: 'main', file: '/src/app.cu', line };
}
export function object(id: number, size: number, alloc: number, free: number | null, more: Partial<ReportObject> = {}): ReportObject {
  return {
    id, name: `o${id}`, size_bytes: size, parent: null, kind: 'device', device: 0,
    alloc: call(alloc, 'alloc'), free: free === null ? null : call(free, 'free'), first_access: null, last_access: null,
    call_path: [{ function: 'main', file: '/src/app.cu', line: alloc + 1 }], ...more,
  };
}
export function finding(object: number, more: Partial<Finding> = {}): Finding {
  return {
    pattern: 'early_allocation', object, certainty: 'proven', distance: 1, wasted_bytes: 0, peak_saving_bytes: 0, joint_saving_bytes: 0,
    idle_at_peak_bytes: 0, superseded_by: null, advice: 'Do it.',
    evidence: { from: null, to: null, apis_between: 0, count: 0, cut_at_unrecorded_launch: false, missing: [], must_move_count: 0, must_move: [], calls: [] },
    ...more,
  };
}
export function report(objects: ReportObject[], apis: number, findings: Finding[] = []): Report {
  return {
    version: 1, program: { argv: ['./app'], exit_code: 0 }, device: { kind: 'emulated', name: 'A100', memory_bytes: 1 << 30 }, complete: true,
    api_count: apis, coverage: [], peaks: [], lower_bound_bytes: 0, objects, findings,
    savings: { peak_after_all_fixes_bytes: 0, smartpool: null, autoswap: null },
  };
}
// Numbers in [0, 1), the same every time. Source: mulberry32.
export function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
