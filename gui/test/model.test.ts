// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from 'vitest';
import { planBlocks, plannedName, plannedObject } from '../src/model/blocks';
import { curveOf } from '../src/model/curve';
import { findingsCsv, markdownOf, objectsCsv } from '../src/model/exports';
import { groupFindings } from '../src/model/groups';
import { readContainer } from '../src/model/columns';
import { rowsOf, tileOf } from '../src/model/lanes';
import { understand } from '../src/model/load';
import { Program } from '../src/model/program';
import { shownObjects, sizeOf } from '../src/model/query';
import type { ObjectColumns } from '../src/model/report';
import { kStart, parseRoute, routeText } from '../src/model/route';
import { bytes, plain } from '../src/model/words';
import { call, finding, object, random, report } from './reports';

describe('curve', () => {
  it('has the exact highest value in every window, whatever its width', () => {
    const r = random(7);
    const n = 300;
    const calls = 500;
    const begin = Uint32Array.from({ length: n }, () => Math.floor(r() * calls));
    const end = Uint32Array.from(begin, (b) => b + Math.floor(r() * 90));
    end.forEach((e, i) => (end[i] = Math.min(e, calls)));
    const size = Float64Array.from({ length: n }, () => Math.floor(r() * 2 ** 40));
    const live = Array.from({ length: calls + 1 }, (_, c) => size.reduce((all, s, i) => (begin[i]! <= c && c < end[i]! ? all + s : all), 0));
    const curve = curveOf(begin, end, size, calls, () => true);
    for (let c = 0; c < calls; c++) expect(curve.valueAt(c)).toBe(live[c]);
    for (let k = 0; k < 400; k++) {
      const a = Math.floor(r() * calls);
      const b = a + 1 + Math.floor(r() * (calls - a));
      expect(curve.highest(a, b)).toBe(Math.max(...live.slice(a, b)));
    }
    expect(curve.peak).toBe(Math.max(...live));
  });
  it('lets what ends at a call end before what begins there', () => {
    const curve = curveOf(Uint32Array.of(0, 5), Uint32Array.of(5, 9), Float64Array.of(100, 100), 10, () => true);
    expect(curve.peak).toBe(100);
  });
  it('knows the call of the highest value in every window', () => {
    const r = random(5);
    const begin = Uint32Array.from({ length: 400 }, () => Math.floor(r() * 900));
    const curve = curveOf(begin, begin.map((b) => b + 1 + Math.floor(r() * 60)), Float64Array.from(begin, () => 1 + Math.floor(r() * 50)), 1000, () => true);
    for (let k = 0; k < 100; k++) {
      const a = Math.floor(r() * 990);
      const b = a + 1 + Math.floor(r() * (1000 - a));
      const at = curve.highestAt(a, b);
      expect(at >= a && at < b).toBe(true);
      expect(curve.valueAt(at)).toBe(curve.highest(a, b));
      const most = curve.highest(a, b);
      let earlier = -1;
      for (let c = a; c < at && earlier < 0; c++) if (curve.valueAt(c) >= most) earlier = c;
      expect(earlier).toBe(-1);
    }
  });
  it('is zero where nothing is alive', () => {
    expect(curveOf(new Uint32Array(0), new Uint32Array(0), new Float64Array(0), 3, () => true).peak).toBe(0);
  });
});

describe('rows', () => {
  const r = random(11);
  const objects = Array.from({ length: 200 }, (_, i) => {
    const begin = Math.floor(r() * 300);
    return object(i, Math.floor(r() * 1000), begin, begin + 1 + Math.floor(r() * 40));
  });
  const p = new Program(report(objects, 400));
  const all = shownObjects(p, '');
  it('show every object once, in each order', () => {
    for (const sort of ['size', 'start', 'lifetime', 'bytes × lifetime', 'waste', 'packed'] as const)
      expect([...rowsOf(p, sort, all, (i) => p.wasted(i)).items].sort((a, b) => a - b)).toEqual([...all]);
  });
  it('pack without overlap into as many rows as are ever alive at once', () => {
    const rows = rowsOf(p, 'packed', all, () => 0);
    let alive = 0;
    for (let c = 0; c < 400; c++) alive = Math.max(alive, objects.filter((_, i) => p.begin[i]! <= c && c < p.end[i]!).length);
    expect(rows.from.length - 1).toBe(alive);
    for (let row = 0; row + 1 < rows.from.length; row++)
      for (let k = rows.from[row]! + 1; k < rows.from[row + 1]!; k++) expect(p.begin[rows.items[k]!]!).toBeGreaterThanOrEqual(p.end[rows.items[k - 1]!]!);
  });
  it('come largest first when sorted by size', () => {
    const sizes = [...rowsOf(p, 'size', all, () => 0).items].map((i) => p.size[i]!);
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
  });
});

describe('a tile', () => {
  it('holds each stretch of each row as its objects fill it', () => {
    const objects = Array.from({ length: 400 }, (_, i) => object(i, 8, 10 * i, 10 * i + 8, { first_access: call(10 * i + 2), last_access: call(10 * i + 4) }));
    const p = new Program(report(objects, 4096));
    const rows = rowsOf(p, 'packed', shownObjects(p, ''), () => 0);
    expect(rows.from.length - 1).toBe(1);
    const tile = tileOf(p, rows, 4096)!;
    const sum = (values: Uint8Array): number => values.reduce((all, v) => all + v, 0) / 255 / (tile.stretches / 4096);
    expect(sum(tile.used)).toBeCloseTo(400 * 3, -1);
    expect(sum(tile.idle)).toBeCloseTo(400 * 5, -1);
  });
});

describe('a container', () => {
  it('gives back its head with columns in their places, and says when it is damaged', () => {
    const columns = [0, 5, 3, 300, -1, 2 ** 40, 7];
    const bytes: number[] = [];
    columns.forEach((v, i) => {
      const d = v - (columns[i - 1] ?? 0);
      let z = d < 0 ? -2 * d - 1 : 2 * d;
      for (; z > 127; z = Math.floor(z / 128)) bytes.push((z % 128) + 128);
      bytes.push(z);
    });
    const head = new TextEncoder().encode(JSON.stringify({ a: { b: { at: 0, bytes: bytes.length, count: columns.length } }, c: [1, 'x'] }));
    const container = new Uint8Array([head.length & 255, head.length >> 8, 0, 0, ...head, ...bytes]);
    const value = readContainer(container) as { a: { b: ArrayLike<number> }; c: unknown[] };
    expect(Array.from(value.a.b)).toEqual(columns);
    expect(value.c).toEqual([1, 'x']);
    expect(() => readContainer(container.slice(0, 10))).toThrow(/ends early/);
    expect(() => readContainer(container.slice(0, container.length - 3))).toThrow(/damaged/);
  });
});

describe('a program', () => {
  it('reads objects from columns as from a list', () => {
    const objects = [object(4, 100, 1, 6, { first_access: call(3), last_access: call(5) }), object(9, 50, 2, null, { name: 'x' })];
    const columns: ObjectColumns = {
      count: 2, id: [4, 9], size_bytes: [100, 50], parent: [-1, -1], kind: [0, 0], device: [0, 0], name: [0, 1], path: [0, 1], begin: [1, 2], life: [5, 6],
      freed: [1, 0], first_access: [2, -1], last_access: [2, -1], kinds: ['device'], names: ['o4', 'x'], paths: [[0], [1]],
      frames: [['main', '/src/app.cu', 2], ['main', '/src/app.cu', 3]],
    };
    const list = new Program(report(objects, 8));
    const columned = new Program({ ...report([], 8), objects: columns });
    for (const p of [list, columned]) {
      expect([...p.begin]).toEqual([1, 2]);
      expect([...p.end]).toEqual([6, 8]);
      expect([...p.first]).toEqual([3, -1]);
      expect([...p.last]).toEqual([5, -1]);
      expect([p.name(0), p.name(1)]).toEqual(['o4', 'x']);
      expect([p.siteText(0), p.siteText(1)]).toEqual(['app.cu:2', 'app.cu:3']);
      expect(p.curve(0).peak).toBe(150);
    }
  });
  it('counts no pinned memory and no part of a pool as device memory', () => {
    const p = new Program(report([object(0, 100, 0, 5), object(1, 60, 1, 4, { parent: 0, kind: 'sub' }), object(2, 1000, 1, 4, { kind: 'pinned' })], 6));
    expect(p.curve(0).peak).toBe(100);
    expect(p.pinnedCurve().peak).toBe(1000);
  });
  it('survives findings about objects that it does not list', () => {
    const p = new Program(report([object(0, 1, 0, 1)], 2, [finding(77)]));
    expect(groupFindings(p, () => true).map((g) => g.title)).toEqual(['unknown object']);
  });
});

describe('findings', () => {
  it('are grouped by the line that allocates, in rank order', () => {
    const site = { call_path: [{ function: 'f', file: '/a/b.cu', line: 9 }], alloc: null };
    const p = new Program(report([object(0, 10, 0, 5, site), object(1, 10, 1, 5), object(2, 10, 2, 5, site)], 6, [finding(2), finding(1), finding(0)]));
    expect(groupFindings(p, () => true).map((g) => [g.title, g.findings, g.objects])).toEqual([['b.cu:9', [0, 2], 2], ['app.cu:2', [1], 1]]);
  });
  it('leave as Markdown without markup from names, and as CSV without formulas', () => {
    const p = new Program(report([object(0, 2048, 0, 5, { name: '=cmd|"x"' })], 6, [finding(0, { joint_saving_bytes: 2048, advice: '<img src=x>' })]));
    expect(markdownOf(p, 0)).toContain('&lt;img src=x&gt;');
    expect(markdownOf(p, 0)).toContain('2 KiB (2,048 bytes)');
    expect(objectsCsv(p, shownObjects(p, '')).split('\r\n')[1]).toBe('0,"\'=cmd|""x""",2048,device,0,app.cu:1,0,,,5');
    expect(findingsCsv(p)).toContain('1,early_allocation,0,');
  });
});

describe('the filter', () => {
  const p = new Program(report([object(0, 10, 0, 5, { name: 'weights' }), object(1, 4 << 20, 2, 3), object(2, 5, 3, null, { kind: 'pinned' })], 6, [finding(1)]));
  const places = (query: string): number[] => [...shownObjects(p, query)];
  it('knows words, sizes, kinds, calls and patterns', () => {
    expect(places('weigh')).toEqual([0]);
    expect(places('app.cu:3')).toEqual([1]);
    expect(places('size>1MiB')).toEqual([1]);
    expect(places('size<6')).toEqual([2]);
    expect(places('kind:pinned')).toEqual([2]);
    expect(places('at:2')).toEqual([0, 1]);
    expect(places('pattern:EA')).toEqual([1]);
    expect(places('finding:yes size>100')).toEqual([1]);
    expect(places('nothing here')).toEqual([]);
  });
  it('reads sizes with units', () => {
    expect([sizeOf('3'), sizeOf('2KiB'), sizeOf('1.5g'), sizeOf('x')]).toEqual([3, 2048, 1.5 * 2 ** 30, null]);
  });
});

describe('the URL', () => {
  it('gives back what was put in', () => {
    const route = { ...kStart, view: 'objects' as const, object: 0, finding: 3, from: 10, to: 99, at: 12, sort: 'packed' as const, query: 'a&b=#"<', rank: 2 };
    expect(parseRoute(routeText(route))).toEqual(route);
  });
  it('falls back where it is nonsense', () => {
    expect(parseRoute('#view=../../etc&object=-1&from=1e9&sort=zzz&at=%00')).toEqual(kStart);
  });
});

describe('what is opened', () => {
  it('is refused in words that say what to do', () => {
    expect(() => understand('\u0080\u0004')).toThrow(/not JSON/);
    expect(() => understand('[1]')).toThrow(/outermost/);
    expect(() => understand('{}')).toThrow(/no `version`/);
    expect(() => understand('{"version":9}')).toThrow(/version 9.*version 1/);
    expect(() => understand('{"version":1}')).toThrow(/`program` is missing/);
    expect(() => understand('{"version":1,"programs":[]}')).toThrow(/no program/);
  });
  it('may be a report, several, or a plan', () => {
    const text = JSON.stringify(report([], 0));
    expect(understand(text).kind).toBe('report');
    expect(understand(`{"version":1,"programs":[${text}]}`).kind).toBe('report');
    expect(understand('{"objects":[],"footprint_bytes":1,"load_bytes":1,"lower_bound_bytes":1,"optimal":true}').kind).toBe('plan');
  });
});

describe('a plan', () => {
  it('calls objects by their names and numbers in the trace', () => {
    expect(['w#7', 'a#b#12', '7', 'b1', 'w#', '#-3', ''].map(plannedObject)).toEqual([7, 12, 7, -1, -1, -1, -1]);
  });
  it('is drawn with the names of the report beside it', () => {
    const p = new Program(report([object(4, 8, 0, 9, { name: 'w' })], 10));
    const at = (id: string) => ({ id, offset: 0, size: 8, lower: 0, upper: 9 });
    const plan = { objects: [at('w#4'), at('b1')], footprint_bytes: 8, load_bytes: 8, lower_bound_bytes: 8, optimal: true };
    expect([...planBlocks(plan, p).object]).toEqual([p.place(4), -1]);
    expect(['w#4', 'x#9', '9', 'b1'].map((id) => plannedName(id, p))).toEqual(['w', 'x#9', 'object 9', 'b1']);
  });
});

describe('words', () => {
  it('give bytes in the unit that fits', () => {
    expect([0, 1023, 1024, 1536, 10 * 1024, 1.5 * 2 ** 30, -2048].map(bytes)).toEqual(['0 B', '1023 B', '1 KiB', '1.50 KiB', '10 KiB', '1.50 GiB', '−2 KiB']);
  });
  it('show characters that would hide or turn text', () => {
    expect(plain('a\u202eb\u0000\n')).toBe('a\\u202eb\\u0000\\u000a');
    expect(plain('x'.repeat(1e6)).length).toBeLessThan(400);
  });
});
