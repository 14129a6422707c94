// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { Clock, callOf, clockOf, duration, edgesOf, shareOf } from '../src/model/clock';
import { Curve } from '../src/model/curve';
import { Program } from '../src/model/program';
import type { ClockColumns } from '../src/model/report';
import { cellAt, bytesOf, kHeatLeft, rowText } from '../src/render/heat';
import { phaseAt, phaseRows } from '../src/render/phases';
import { object, random, report } from './reports';

// Times of calls that often stand still and sometimes jump.
function someClock(calls: number): Clock {
  const r = random(3);
  const ns = new Float64Array(calls + 1);
  for (let k = 1; k <= calls; k++) ns[k] = ns[k - 1]! + (r() < 0.6 ? 0 : Math.floor(r() * 1000));
  return new Clock(Float64Array.from(ns, (_, k) => k), ns, ns[calls]!);
}

describe('a clock', () => {
  it('gives the time of each call, and the first call of each time', () => {
    const clock = new Clock([0, 1, 2, 3, 4], [0, 0, 100, 100, 300], 300);
    expect([0, 1, 1.5, 3, 3.5, 4].map((call) => clock.timeAt(call))).toEqual([0, 0, 50, 100, 200, 300]);
    expect([0, 50, 100, 300].map((ns) => clock.callAt(ns))).toEqual([0, 1.5, 2, 4]);
  });
  it('shows the exact highest bytes whatever the window: no call falls between columns', () => {
    const calls = 500;
    const clock = someClock(calls);
    const r = random(9);
    const curve = new Curve(Uint32Array.from({ length: calls }, (_, k) => k), Float64Array.from({ length: calls }, () => Math.floor(r() * 1e6)), calls);
    for (let k = 0; k < 100; k++) {
      const from = Math.floor(r() * (calls - 2));
      const to = from + 2 + Math.floor(r() * (calls - from - 2));
      for (const across of [{ from, to }, { from, to, clock }]) {
        const edges = edgesOf(across, 37);
        expect([...edges].every((edge, e) => e === 0 || edge >= edges[e - 1]!)).toBe(true);
        expect(Math.max(...curve.windows(edges).most)).toBe(curve.highest(from, to));
      }
    }
  });
  it('finds places again', () => {
    const across = { from: 0, to: 4, clock: new Clock([0, 1, 2, 3, 4], [0, 10, 20, 80, 100], 100) };
    for (const call of [0, 0.5, 1, 2, 3.25, 4]) expect(callOf(across, shareOf(across, call))).toBeCloseTo(call, 6);
  });
  it('comes from a page, from the curve of a plain report, or not at all', () => {
    const plain = report([object(0, 8, 0, 3)], 4);
    expect(clockOf(plain, 4)).toBeNull();
    expect(clockOf({ ...plain, device_time_ns: 900, timeline: [{ device: 0, call: [0, 3], bytes: [8, 0], time_ns: [0, 600] }] }, 4)!.timeAt(3.5)).toBe(750);
    const clock: ClockColumns = { stretch: 2, end_ns: 50, ns: [0, 40] };
    expect(clockOf({ ...plain, clock }, 4)!.timeAt(1)).toBe(20);
    expect(new Program({ ...plain, clock }).clock!.end).toBe(50);
  });
  it('speaks of durations as a person does', () => {
    expect([0, 12, 1500, 2_340_000, 61e9].map(duration)).toEqual(['0 ns', '12 ns', '1.5 µs', '2.34 ms', '61 s']);
  });
});

describe('phases', () => {
  const phases = { count: 3, total_count: 3, begin: [0, 2, 6], length: [10, 3, 2], row: [0, 1, 1], name: [0, 1, 1], names: ['step', 'forward'], iterations: [0] };
  it('are found under the pointer', () => {
    const box = { from: 0, to: 10, width: 164, left: 64, phases };
    expect(phaseRows(phases)).toBe(2);
    expect(phaseAt(box, 64 + 35, 5)).toBe(0);
    expect(phaseAt(box, 64 + 35, 20)).toBe(1);
    expect(phaseAt(box, 64 + 55, 20)).toBe(-1);
    expect(phaseAt(box, 64 + 65, 20)).toBe(2);
  });
});

describe('heat', () => {
  const inside = { id: 0, launches: 9, sampled: false, parts: 4, row_first: [3, 8], row_last: [3, 20], row_launches: [1, 8], counts: [1, 2, 3, 4, 5, 6, 7, 8], touched: [1, 2, 3, 0] };
  it('tells the part and the launches under the pointer', () => {
    expect(cellAt(inside, kHeatLeft + 400, kHeatLeft + 250, 4)).toEqual({ part: 2, row: -1 });
    expect(cellAt(inside, kHeatLeft + 400, kHeatLeft + 50, 22)).toEqual({ part: 0, row: 0 });
    expect(cellAt(inside, kHeatLeft + 400, 5, 22)).toBeNull();
    expect(bytesOf(inside, 1000, 3)).toEqual([750, 1000]);
    expect(rowText(inside, 1)).toBe('8 launches, calls 8 to 20');
  });
});
