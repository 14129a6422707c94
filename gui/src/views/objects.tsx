// SPDX-License-Identifier: Apache-2.0
// The life of each object: when it is allocated, first used, last used and freed.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { callOf as callAcross } from '../model/clock';
import { idleGaps } from '../model/fix';
import { kSortKeys, rowsOf, type SortKey } from '../model/lanes';
import type { Program } from '../model/program';
import { shownObjects } from '../model/query';
import { bytes, count } from '../model/words';
import { Canvas } from '../render/canvas';
import { paintCallAxis } from '../render/curve';
import { ink } from '../render/ink';
import { objectAt, paintTimeline, rowCount } from '../render/timeline';
import { calls, clock, go, hovered, pan, program, route, select, selected, showCalls, zoom } from '../store';
import { ask } from '../work/client';
import type { Rows } from '../work/messages';
import { AcrossChoice, QueryBox } from './parts';

const kRowHeights = [2, 4, 8, 14, 20, 28];
const kTallest = 6_000_000; // pixels that a browser scrolls reliably
const kLabelled = 14;
const kInList = 40;

export function ObjectsView() {
  const p = program.value!;
  const { query, sort, at } = route.value;
  const shown = useMemo(() => shownObjects(p, query), [p, query]);
  const rows = useRows(p, sort, shown);
  const idle = useMemo(() => idleGaps(p), [p]);
  const [top, setTop] = useState(0); // scroll offset in pixels
  const [size, setSize] = useState(4);
  const rowHeight = kRowHeights[size]!;
  const scroller = useRef<HTMLDivElement>(null);
  const n = rowCount(rows);
  const full = n * rowHeight;
  const tall = Math.min(full, kTallest);
  const [viewHeight, setViewHeight] = useState(480);
  useEffect(() => {
    const resized = new ResizeObserver(() => setViewHeight(scroller.current?.clientHeight ?? 480));
    resized.observe(scroller.current!);
    return () => resized.disconnect();
  }, []);
  const scale = full > tall ? (full - viewHeight) / Math.max(1, tall - viewHeight) : 1;
  const firstRow = (top * scale) / rowHeight;
  const [from, to] = calls.value;
  const total = useMemo(() => { let all = 0; for (const i of shown) all += p.size[i]!; return all; }, [shown]);
  const labelled = rowHeight >= kLabelled && sort !== 'packed';
  const visible: number[] = [];
  if (labelled) for (let r = Math.floor(firstRow); r < Math.min(n, Math.ceil(firstRow + viewHeight / rowHeight)); r++) visible.push(r);
  // Where rows have no names, a list of what is in sight stands for the drawing.
  const listed: number[] = [];
  if (!labelled) for (let r = Math.floor(firstRow); r < n && listed.length < kInList && (r - firstRow) * rowHeight < viewHeight; r++) {
    const i = objectAt(p, rows, r, (from + to) / 2, (to - from) / 2);
    if (i >= 0) listed.push(i);
  }
  // Panning changes no label.
  const labels = useMemo(() => labelled && (
    <div class="labels" role="grid" aria-label="Objects" aria-rowcount={n} tabIndex={0} onKeyDown={(e) => moveInGrid(e, rows.items, scroller.current, rowHeight, scale)}>
      {visible.map((r) => {
        const i = rows.items[r]!;
        return (
          <div
            key={i}
            role="row"
            aria-rowindex={r + 1}
            aria-selected={i === selected.value}
            class={i === selected.value ? 'current' : ''}
            style={{ top: `${(r - firstRow) * rowHeight}px`, height: `${rowHeight}px` }}
            onClick={() => select(i)}
          >
            <span role="gridcell" class="name">{p.name(i)}</span>
            <span role="gridcell" class="number">{bytes(p.size[i]!)}</span>
            <span role="gridcell" class="dim">{p.siteText(i)}</span>
          </div>
        );
      })}
    </div>
  ), [p, rows, firstRow, rowHeight, viewHeight, selected.value]);
  const callOf = (x: number, width: number): number => callAcross({ from, to, clock: clock.value }, x / width);
  const canvasWidth = (): number => scroller.current?.querySelector('canvas')?.clientWidth ?? 1;
  const under = (x: number, y: number): number => objectAt(p, rows, Math.floor(firstRow + y / rowHeight), callOf(x, canvasWidth()), (3 * (to - from)) / canvasWidth());
  return (
    <div class="objects">
      <div class="bar">
        <h2>Objects</h2>
        <QueryBox />
        <label>Sort <select value={sort} onChange={(e) => go({ sort: e.currentTarget.value as SortKey })}>{kSortKeys.map((k) => <option key={k}>{k}</option>)}</select></label>
        <AcrossChoice p={p} />
        <button aria-pressed={query === 'live:peak'} onClick={() => go({ query: query === 'live:peak' ? '' : 'live:peak' })}>Live at the peak</button>
        {at !== null && <button onClick={() => go({ query: `at:${at}` })}>Live at call {count(at)}</button>}
        <span class="sizes" role="group" aria-label="Row height">
          <button aria-label="Lower rows" disabled={size === 0} onClick={() => setSize(size - 1)} data-key="[">−</button>
          <button aria-label="Higher rows" disabled={size === kRowHeights.length - 1} onClick={() => setSize(size + 1)} data-key="]">+</button>
        </span>
        <span class="dim">{count(shown.length)} of {count(p.totalObjects)} objects, {bytes(total)} in all{sort === 'packed' ? `, ${count(n)} lanes` : ''}{rows === kNoRows && shown.length > 0 ? '; sorting…' : ''}</span>
        {(from > 0 || to < p.calls) && <button onClick={() => showCalls(0, p.calls)}>Show all calls</button>}
      </div>
      <ul class="legend">
        <li><span class="swatch used" /> first to last use</li>
        <li><span class="swatch head" /> allocated, not used yet</li>
        <li><span class="swatch idlegap" /> idle in between</li>
        <li><span class="swatch tail" /> not used any more</li>
        <li><span class="swatch leak" /> never freed</li>
        {p.requested && <li><span class="swatch pending" /> given back, waits for streams</li>}
        <li><span class="swatch never" /> never used</li>
      </ul>
      <div class="timeline" ref={scroller} tabIndex={-1} onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
        <div style={{ height: `${tall}px`, width: '1px', position: 'absolute' }} />
        <div class="sticky">
          {labels}
          {!labelled && listed.length > 0 && (
            <div class="listed" role="grid" aria-label="Objects in sight" aria-rowcount={n} tabIndex={0} onKeyDown={(e) => moveInList(e, listed)}>
              {listed.map((i) => (
                <div key={i} role="row" aria-selected={i === selected.value}>
                  <span role="gridcell">{p.name(i)}</span> <span role="gridcell">{bytes(p.size[i]!)}</span> <span role="gridcell">{p.siteText(i)}</span>
                </div>
              ))}
            </div>
          )}
          <Canvas
            label={`Lifetimes of ${shown.length} objects over calls ${Math.round(from)} to ${Math.round(to)}`}
            paint={({ g, width, height }) =>
              paintTimeline({ g, width, height, from, to, clock: clock.value, program: p, rows, rowHeight, firstRow, selected: selected.value, hovered: hovered.value, idle, cursor: at })
            }
            onMove={(x, y) => (hovered.value = under(x, y))}
            onLeave={() => (hovered.value = -1)}
            onPress={(x, y) => {
              const i = under(x, y);
              go({ object: i < 0 ? null : p.id[i]!, finding: null, at: Math.min(p.calls - 1, Math.max(0, Math.floor(callOf(x, canvasWidth())))) });
            }}
            onRange={(a, b) => showCalls(callOf(a, canvasWidth()), callOf(b, canvasWidth()))}
            onPan={(dx) => pan(-dx / canvasWidth())}
            onDouble={() => showCalls(0, p.calls)}
            onWheel={(x, _y, e) => {
              if (!e.ctrlKey && !e.metaKey) return;
              e.preventDefault();
              zoom(e.deltaY > 0 ? 1.25 : 0.8, callOf(x, canvasWidth()));
            }}
          />
        </div>
      </div>
      <div class={`axis ${labelled ? 'beside' : ''}`}>
        <Canvas
          height={20}
          label="Calls"
          paint={({ g, width }) => {
            g.fillStyle = ink().paper;
            g.fillRect(0, 0, width, 20);
            paintCallAxis(g, { from, to, width, left: 0, clock: clock.value }, 0, 0);
          }}
        />
      </div>
      <p class="hint" aria-live="polite">{hovered.value >= 0 ? describe(hovered.value) : 'Drag to zoom, Shift+drag to pan, Ctrl+wheel to zoom, double-click for all. Arrow keys in the list select.'}</p>
    </div>
  );
}

const kAtOnce = 30_000; // objects that are sorted without anyone waiting

// Rows of many objects come from the worker; until then the ones before stay.
function useRows(p: Program, sort: SortKey, shown: Uint32Array): Rows {
  const now = useMemo(() => (p.number === null || shown.length <= kAtOnce || sort === 'waste' ? rowsOf(p, sort, shown, (i) => p.wasted(i)) : null), [p, sort, shown]);
  const [later, setLater] = useState<Rows | null>(null);
  useEffect(() => {
    if (now) return;
    let isWanted = true;
    ask<Rows>({ ask: 'rows', program: p.number!, sort, shown }).then((rows) => isWanted && setLater(rows), () => undefined);
    return () => { isWanted = false; };
  }, [p, sort, shown]);
  return now ?? later ?? kNoRows;
}
const kNoRows: Rows = { from: new Uint32Array(1), items: new Uint32Array(0) };

function describe(i: number): string {
  const p = program.value!;
  const freed = p.freed[i] ? `freed at call ${count(p.end[i]!)}` : 'never freed';
  const use = p.first[i]! < 0 ? 'never used' : `used from call ${count(p.first[i]!)} to ${count(p.last[i]!)}`;
  return `${p.name(i)}, ${bytes(p.size[i]!)}, ${p.siteText(i)}: allocated at call ${count(p.begin[i]!)}, ${use}, ${pendingText(p, i)}${freed}`;
}

function pendingText(p: Program, i: number): string {
  const requested = p.requested?.[i] ?? -1;
  return requested < 0 ? '' : `given back at call ${count(requested)} and waiting for streams since, `;
}

function moveInList(e: KeyboardEvent, listed: number[]): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (step === undefined || listed.length === 0) return;
  e.preventDefault();
  const now = listed.indexOf(selected.value);
  select(listed[now < 0 ? 0 : Math.min(listed.length - 1, Math.max(0, now + step))]!);
}

function moveInGrid(e: KeyboardEvent, items: Uint32Array, scroller: HTMLDivElement | null, rowHeight: number, scale: number): void {
  const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
  const step = steps[e.key];
  if (step === undefined || !scroller) return;
  e.preventDefault();
  const now = items.indexOf(selected.value);
  const next = Math.min(items.length - 1, Math.max(0, now + step));
  if (items.length === 0) return;
  select(items[next]!);
  const y = (next * rowHeight) / scale;
  if (y < scroller.scrollTop) scroller.scrollTop = y;
  else if (y + rowHeight > scroller.scrollTop + scroller.clientHeight - 8) scroller.scrollTop = y + rowHeight - scroller.clientHeight + 8;
}
