// SPDX-License-Identifier: Apache-2.0
// The calls by topological level and stream: what had to wait for what.
import { useMemo } from 'preact/hooks';
import type { Program } from '../model/program';
import type { CallColumns } from '../model/report';
import { count, plain } from '../model/words';
import { Canvas } from '../render/canvas';
import { paintCallAxis } from '../render/curve';
import { ink } from '../render/ink';
import { go, program, route, selected } from '../store';
import { Absent } from './parts';

const kLane = 34;
const kLeft = 96;

export function OrderView() {
  const p = program.value!;
  const calls = p.report.calls;
  if (!calls || calls.kind.length === 0)
    return (
      <Absent title="API order">
        This report does not list its {count(p.calls)} calls. Pages that drgpum writes do, up to 500,000 calls: drgpum view TRACE.
      </Absent>
    );
  return <Lanes p={p} calls={calls} />;
}

interface Layout {
  x: Int32Array; // level or ordinal
  lane: Int32Array;
  lanes: string[];
  width: number;
  byPlace: Map<string, number>; // "lane:x" to a call
}

function layoutOf(calls: CallColumns, byLevel: boolean): Layout {
  const n = calls.kind.length;
  const streams = new Map<number, number>();
  for (let i = 0; i < n; i++) streams.set(calls.stream[i]!, 0);
  const ordered = [...streams.keys()].sort((a, b) => a - b);
  ordered.forEach((s, k) => streams.set(s, k));
  const x = new Int32Array(n);
  const lane = new Int32Array(n);
  const byPlace = new Map<string, number>();
  let width = 1;
  for (let i = 0; i < n; i++) {
    x[i] = byLevel ? calls.level[i]! : calls.first + i;
    lane[i] = streams.get(calls.stream[i]!)!;
    width = Math.max(width, x[i]! + 1);
    byPlace.set(`${lane[i]}:${x[i]}`, i);
  }
  return { x, lane, lanes: ordered.map((s) => (s < 0 ? 'host' : `stream ${s}`)), width, byPlace };
}

function Lanes({ p, calls }: { p: Program; calls: CallColumns }) {
  const byLevel = route.value.metric !== 'ordinal';
  const layout = useMemo(() => layoutOf(calls, byLevel), [calls, byLevel]);
  const from = Math.min(route.value.from, layout.width - 1);
  const to = route.value.to > from ? Math.min(route.value.to, layout.width) : layout.width;
  const at = route.value.at;
  const height = layout.lanes.length * kLane + 22;
  const scene = (width: number) => ({ from, to, width, left: kLeft });
  const i = selected.value;
  const edges = useMemo(() => edgesOf(calls, at), [calls, at]);
  return (
    <div class="order">
      <div class="bar">
        <h2>API order</h2>
        <label>Across <select value={byLevel ? 'level' : 'ordinal'} onChange={(e) => go({ metric: e.currentTarget.value === 'level' ? 'peak' : 'ordinal', from: 0, to: 0 })}><option value="level">topological level</option><option value="ordinal">order of issue</option></select></label>
        <span class="dim">{count(calls.kind.length)} calls in {count(layout.lanes.length)} lanes; {count(layout.width)} {byLevel ? 'levels: the longest chain of calls that wait for each other' : 'places'}</span>
      </div>
      <ul class="legend">
        {['alloc', 'free', 'launch', 'memcpy', 'memset', 'synchronize'].map((kind) => <li key={kind}><span class={`swatch call-${kind}`} /> {kind}</li>)}
      </ul>
      <div class="lanes">
        <Canvas
          height={height}
          label={`${calls.kind.length} calls by ${byLevel ? 'level' : 'order'} and stream`}
          paint={({ g, width }) => {
            const c = ink();
            g.fillStyle = c.paper;
            g.fillRect(0, 0, width, height);
            const s = scene(width);
            const px = (v: number): number => kLeft + ((v - from) / (to - from)) * (width - kLeft);
            const cell = (width - kLeft) / (to - from);
            g.font = '11px system-ui, sans-serif';
            g.textBaseline = 'middle';
            g.textAlign = 'left';
            layout.lanes.forEach((name, k) => {
              g.fillStyle = c.dim;
              g.fillText(name, 4, k * kLane + kLane / 2);
              g.fillStyle = c.line;
              g.fillRect(kLeft, k * kLane + kLane - 1, width - kLeft, 1);
            });
            const colours = calls.kinds.map((kind) => ({ alloc: c.save, free: c.tail, launch: c.used, memcpy: c.head, memset: c.idle })[kind] ?? c.dim);
            const mine = i < 0 ? null : new Set([p.begin[i], p.end[i], p.first[i], p.last[i]]);
            const drawn = new Int32Array(layout.lanes.length).fill(-1);
            for (let k = 0; k < calls.kind.length; k++) {
              const v = layout.x[k]!;
              if (v < from - 1 || v > to) continue;
              const x = px(v);
              const lane = layout.lane[k]!;
              const isMine = mine?.has(calls.first + k) === true;
              if (cell < 1 && !isMine && drawn[lane] === (x | 0)) continue;
              drawn[lane] = x | 0;
              g.fillStyle = colours[calls.kind[k]!]!;
              const w = Math.max(1, Math.min(cell - 1, 40));
              g.fillRect(x, lane * kLane + 6, w, kLane - 13);
              if (isMine || at === calls.first + k) {
                g.strokeStyle = c.select;
                g.lineWidth = 2;
                g.strokeRect(x - 1, lane * kLane + 5, w + 2, kLane - 11);
              }
            }
            g.lineWidth = 1.5;
            for (const [a, b] of edges) {
              g.strokeStyle = c.select;
              g.beginPath();
              const half = Math.min(cell, 40) / 2;
              const x0 = px(layout.x[a]!) + half;
              const x1 = px(layout.x[b]!) + half;
              const y0 = layout.lane[a]! * kLane + kLane / 2;
              const y1 = layout.lane[b]! * kLane + kLane / 2;
              g.moveTo(x0, y0);
              g.bezierCurveTo((x0 + x1) / 2, y0 - 20, (x0 + x1) / 2, y1 - 20, x1, y1);
              g.stroke();
            }
            if (byLevel) {
              g.fillStyle = c.line;
              g.fillRect(kLeft, height - 20, width, 1);
              g.fillStyle = c.dim;
              g.fillText(`level ${Math.round(from)}`, kLeft, height - 10);
              g.textAlign = 'right';
              g.fillText(`level ${Math.round(to)}`, width - 4, height - 10);
            } else paintCallAxis(g, s, height - 20, kLeft);
          }}
          onPress={(x, y, e) => {
            const width = (e.currentTarget as HTMLElement).clientWidth;
            const v = Math.floor(from + ((x - kLeft) / (width - kLeft)) * (to - from));
            const call = layout.byPlace.get(`${Math.floor(y / kLane)}:${v}`);
            if (call !== undefined) go({ at: calls.first + call });
          }}
          onRange={(a, b) => {
            const width = document.querySelector('.order canvas')!.clientWidth;
            const v = (x: number): number => from + ((x - kLeft) / (width - kLeft)) * (to - from);
            go({ from: Math.max(0, Math.floor(v(a))), to: Math.ceil(v(b)) });
          }}
          onDouble={() => go({ from: 0, to: 0 })}
        />
      </div>
      <section class="card" aria-label="The call at the cursor">
        {at === null ? <p>Click a call, or move with ← and →, to see it and the uses that it depends on.</p> : (
          <>
            <p><b>{plain(p.describeCall(at), 300)}</b></p>
            <p class="dim">{p.call(at)?.stream === null ? 'host' : `stream ${p.call(at)?.stream}`}, level {calls.level[at - calls.first] ?? '?'}; shares data with {count(edges.length)} other calls{edges.length === 100 ? ' or more' : ''}.</p>
          </>
        )}
      </section>
    </div>
  );
}

// Data edges to and from the call at the cursor, as places in the columns.
function edgesOf(calls: CallColumns, at: number | null): [number, number][] {
  const from = calls.edge_from ?? [];
  const to = calls.edge_to ?? [];
  const edges: [number, number][] = [];
  if (at === null) return edges;
  for (let k = 0; k < from.length && edges.length < 100; k++) if (from[k] === at || to[k] === at) edges.push([from[k]! - calls.first, to[k]! - calls.first]);
  return edges;
}
