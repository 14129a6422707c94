// SPDX-License-Identifier: Apache-2.0
// The calls by topological level and stream: what had to wait for what.
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { extentOf, knowsTime, lanesOf, pagePoints, pagesIn, placeIn, pointsOf, type By, type Points } from '../model/calls';
import { duration } from '../model/clock';
import type { Program } from '../model/program';
import { kEdgeKinds, type CallColumns, type PagedCalls } from '../model/report';
import { count, plain } from '../model/words';
import { Canvas } from '../render/canvas';
import { kLanesLeft, laneHeight, paintLanes, valueIn } from '../render/lanes';
import { go, orderExtent, pan, program, route, selected, showAll, showCalls, showOrder, zoom } from '../store';
import { Absent } from './parts';

const kDataEdges = kEdgeKinds.indexOf('read after write');
const kMostEdges = 100;
const kLongestChain = 200_000;

export function OrderView() {
  const p = program.value!;
  const { calls } = p.report;
  if (!calls || calls.count === 0) return <Absent title="API order">This report does not list its {count(p.calls)} calls. Pages that drgpum writes do: drgpum view TRACE.</Absent>;
  if (calls.kinds.length === 0) return <Absent title="API order">This program makes no call.</Absent>;
  return <Lanes p={p} calls={calls} />;
}

function usePoints(p: Program, calls: CallColumns | PagedCalls, by: By, lanes: number[], from: number, to: number): Points[] | null {
  const all = useMemo(() => ('overview' in calls ? null : [pointsOf(calls, lanes)]), [calls]);
  const [, setArrived] = useState(0);
  if (!('overview' in calls)) return all;
  const byLevel = by === 'level';
  // By time, pages are in the order of issue; the clock never falls behind it.
  const [first, last] = by === 'time' && p.clock ? [p.clock.callAt(from), p.clock.callAt(to) + calls.page_calls] : [from, to];
  const pages = location.protocol === 'file:' || p.number === null ? null : pagesIn(calls, byLevel, first, last);
  if (!pages) return null;
  const points = pages.map((page) => pagePoints(p.number!, calls, byLevel, page, () => setArrived((n) => n + 1)));
  return points.every((q) => q !== null) ? (points as Points[]) : null;
}

function Lanes({ p, calls }: { p: Program; calls: CallColumns | PagedCalls }) {
  const by: By = route.value.metric === 'ordinal' ? 'ordinal' : route.value.metric === 'time' && p.clock && knowsTime(calls) ? 'time' : 'level';
  const lanes = useMemo(() => lanesOf(calls), [calls]);
  const extent = useMemo(() => extentOf(calls, by, p.clock?.end ?? 0), [calls, by]);
  useLayoutEffect(() => {
    orderExtent.value = extent;
    return () => { orderExtent.value = 0; };
  }, [extent]);
  const [low, high] = by === 'ordinal' ? [route.value.from, route.value.to] : [route.value.low, route.value.high];
  const from = Math.min(low, extent - 1);
  const to = high > from ? Math.min(high, extent) : extent;
  const show = by === 'ordinal' ? showCalls : showOrder;
  const at = route.value.at ?? p.report.peaks[0]?.api?.index ?? null;
  const points = usePoints(p, calls, by, lanes, from, to);
  const [showsChain, setShowsChain] = useState(false);
  const chain = useMemo(() => new Set(Array.from({ length: Math.min(calls.critical?.length ?? 0, kLongestChain) }, (_, k) => calls.critical![k]!)), [calls]);
  const edges = useMemo(() => edgesOf(points ?? [], at), [points, at]);
  const lane = laneHeight(lanes.length);
  const height = lanes.length * lane + 22;
  const i = selected.value;
  const marked = new Set(i < 0 ? [] : [p.begin[i]!, p.end[i]!, p.first[i]!, p.last[i]!]);
  const valueAt = (x: number, width: number): number => from + ((x - kLanesLeft) / (width - kLanesLeft)) * (to - from);
  const width = (): number => document.querySelector('.order canvas')!.clientWidth;
  return (
    <div class="order">
      <div class="bar">
        <h2>API order</h2>
        <label>Across <select value={by} onChange={(e) => go({ metric: e.currentTarget.value === 'level' ? 'peak' : e.currentTarget.value, low: 0, high: 0 })}><option value="level">topological level</option><option value="ordinal">order of issue</option>{p.clock && knowsTime(calls) && <option value="time">device time</option>}</select></label>
        <button aria-pressed={showsChain} onClick={() => setShowsChain(!showsChain)}>Critical path</button>
        <span class="dim">{count(calls.count)} calls in {count(lanes.length)} {lanes.length === 1 ? 'lane' : 'lanes'}; {by === 'time' ? `over ${duration(extent - 1)} of the device, each where it begins` : by === 'level' ? `${count(extent)} levels; the longest chain of calls that wait for each other has ${count(calls.critical?.length ?? extent)}` : 'in the order of issue'}</span>
        {(from > 0 || to < extent) && <button onClick={showAll}>Show all</button>}
      </div>
      <ul class="legend">
        {['alloc', 'free', 'launch', 'memcpy', 'memset', 'other'].map((kind) => <li key={kind}><span class={`swatch call-${kind}`} /> {kind}</li>)}
        <li>of the call at the cursor: — guaranteed order, - - data</li>
      </ul>
      <div class="lanes">
        <Canvas
          height={height}
          label={`${calls.count} calls by ${by === 'ordinal' ? 'order' : by} and stream`}
          paint={({ g, width: w }) =>
            paintLanes({
              g, width: w, height, from, to, extent, by, lanes, lane, kinds: calls.kinds, points: points ?? [], marked, cursor: at, edges, critical: showsChain ? chain : null,
              overview: points === null && 'overview' in calls ? calls.overview : null,
            })
          }
          onPress={(x, y) => {
            const call = callAt(points ?? [], valueAt(x, width()), (to - from) / Math.max(1, width() - kLanesLeft), Math.floor(y / lane), by);
            if (call !== null) go({ at: call });
          }}
          onRange={(a, b) => show(Math.floor(valueAt(a, width())), Math.ceil(valueAt(b, width())))}
          onPan={(dx) => pan(-dx / Math.max(1, width() - kLanesLeft))}
          onDouble={showAll}
          onWheel={(x, _y, e) => {
            if (!e.ctrlKey && !e.metaKey) return;
            e.preventDefault();
            zoom(e.deltaY > 0 ? 1.25 : 0.8, valueAt(x, width()));
          }}
        />
      </div>
      {points === null && <p class="dim">{location.protocol === 'file:' ? `A file carries an overview of so many calls; drgpum view shows each of them.` : 'An overview: colours show which kinds of calls lie there. Zoom in to see single calls.'}</p>}
      <section class="card" aria-label="The call at the cursor">
        {at === null ? <p>Click a call to see what it waits for and what waits for it.</p> : <AtCursor p={p} at={at} points={points ?? []} edges={edges} />}
      </section>
    </div>
  );
}

function AtCursor({ p, at, points, edges }: { p: Program; at: number; points: Points[]; edges: Edge[] }) {
  const here = points.find((q) => placeIn(q, at) >= 0);
  const stream = p.call(at)?.stream;
  const before = edges.filter((e) => e.to === at);
  const after = edges.filter((e) => e.from === at);
  const list = (title: string, some: Edge[], other: (e: Edge) => number) =>
    some.length > 0 && (
      <div>
        <h3>{title}</h3>
        <ul class="list">
          {some.slice(0, 12).map((e) => (
            <li key={`${e.from}-${e.to}-${e.kind}`}><button onClick={() => go({ at: other(e) })}><span>{plain(p.describeCall(other(e)), 200)}</span><span class="dim">{kEdgeKinds[e.kind]}</span></button></li>
          ))}
        </ul>
        {some.length > 12 && <p class="dim">And {count(some.length - 12)} more.</p>}
      </div>
    );
  return (
    <>
      <p>{route.value.at === null && <span class="dim">The peak: </span>}<b>{plain(p.describeCall(at), 300)}</b> <span class="dim">{stream === null || stream === undefined ? 'host' : `stream ${stream}`}{here ? `, level ${count(here.level[placeIn(here, at)]!)}${here.time ? `, ${duration(here.time[placeIn(here, at)]!)} after the first work` : ''}` : ''}</span></p>
      <p class="dim">← and → move from call to call; a click chooses one.</p>
      <div class="columns even">
        {list('It waits for', before, (e) => e.from)}
        {list('These wait for it', after, (e) => e.to)}
      </div>
    </>
  );
}

// The call in a lane nearest to a place: of levels and calls the one that is there, of times within a few pixels.
function callAt(all: Points[], value: number, perPixel: number, lane: number, by: By): number | null {
  let best: number | null = null;
  let nearest = by === 'time' ? 5 * perPixel : 0.5;
  const wanted = by === 'time' ? value : Math.floor(value);
  for (const points of all)
    for (let k = 0; k < points.call.length; k++) {
      const away = Math.abs(valueIn(points, k, by) - wanted);
      if (points.lane[k] !== lane || away >= nearest) continue;
      best = points.call[k]!;
      nearest = away;
    }
  return best;
}

interface Edge {
  from: number;
  to: number;
  kind: number;
  guaranteed: boolean;
}
function edgesOf(all: Points[], at: number | null): Edge[] {
  const found: Edge[] = [];
  if (at === null) return found;
  for (const { edges } of all)
    for (let k = 0; k < edges.from.length && found.length < kMostEdges; k++)
      if (edges.from[k] === at || edges.to[k] === at) found.push({ from: edges.from[k]!, to: edges.to[k]!, kind: edges.kind[k]!, guaranteed: edges.kind[k]! < kDataEdges });
  return found;
}
