// SPDX-License-Identifier: Apache-2.0
// What a planned pool and planned swapping would still save.
import { useMemo } from 'preact/hooks';
import { addressMap, packedBlocks, planBlocks, plannedName, plannedObject } from '../model/blocks';
import type { Program } from '../model/program';
import type { AutoSwap, Plan, SmartPool } from '../model/report';
import { bytes, count, exactBytes, percent, plain, plural } from '../model/words';
import { Canvas } from '../render/canvas';
import { ink } from '../render/ink';
import { callAt, paintTrade } from '../render/curve';
import { blockAt, paintMap, tone, valueAt, type Blocks } from '../render/map';
import { plan, program, select, selected } from '../store';
import { Absent } from './parts';

export function PlanView() {
  const drawn = plan.value;
  const pool = drawn ?? program.value?.report.savings.smartpool ?? null;
  const swap = drawn?.autoswap ?? program.value?.report.savings.autoswap ?? null;
  const missing = drawn ? undefined : program.value?.report.savings.autoswap_missing;
  if (!pool && !swap)
    return (
      <Absent title="Plan">
        This report carries no plan. Make one and drop it here: drgpum plan TRACE --format json -o plan.json
      </Absent>
    );
  return (
    <div>
      {pool && <Pool pool={pool} drawn={drawn} />}
      {swap && <Swap swap={swap} />}
      {!swap && missing && <p class="card">No swapping is planned: {plain(missing, 300)}.</p>}
    </div>
  );
}

function Pool({ pool, drawn }: { pool: SmartPool | Plan; drawn: Plan | null }) {
  const bars: [string, number, string][] = [];
  const p = program.value;
  if (p && p.peakBytes > 0) bars.push(['peak as it is', p.peakBytes, 'used']);
  for (const [name, value] of Object.entries(drawn?.baselines ?? {})) {
    const size = typeof value === 'number' ? value : typeof value === 'object' && value !== null ? Number(Object.values(value)[0]) : NaN;
    if (Number.isFinite(size)) bars.push([`${plain(name)} allocator`, size, 'idle']);
  }
  bars.push(['planned pool', pool.footprint_bytes, 'planned'], ['most bytes live at once', pool.load_bytes, 'bound'], ['no plan can need less than', pool.lower_bound_bytes, 'bound']);
  const most = Math.max(1, ...bars.map((b) => b[1]));
  return (
    <section class="card" aria-label="Planned pool">
      <h2>One planned pool: {bytes(pool.footprint_bytes)}{pool.optimal ? ', and no plan can be smaller' : ''}</h2>
      <table class="bars">
        <tbody>
          {bars.map(([name, value, kind]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number" title={exactBytes(value)}>{bytes(value)}</td>
              <td class="wide"><span class={`meter ${kind}`}><i style={{ width: `${(100 * value) / most}%` }} /></span></td>
            </tr>
          ))}
        </tbody>
      </table>
      {drawn ? <Packing drawn={drawn} /> : p && <BeforeAndAfter p={p} pool={pool} />}
    </section>
  );
}

// The same tone as elsewhere for an object of a trace.
function seed(id: string, otherwise: number): number {
  const number = plannedObject(id);
  return number < 0 ? otherwise : number;
}

// Where objects lie, and where the plan puts them: the same calls to the right, the same bytes upwards.
function BeforeAndAfter({ p, pool }: { p: Program; pool: SmartPool | Plan }) {
  const after = useMemo(() => packedBlocks(p), [p]);
  const before = useMemo(() => addressMap(p, p.mainDevice), [p]);
  if (!after) return <p class="dim">For the packing, drop what drgpum plan --format json wrote.</p>;
  const top = Math.max(1, pool.footprint_bytes, before?.top ?? 0);
  return (
    <>
      {before && before.blocks.from.length > 0 && (
        <>
          <h3>As it is: {bytes(before.top)} of addresses in {plural(before.segments.length, 'segment')}</h3>
          <Placed p={p} blocks={before.blocks} top={top} label={`Addresses of ${before.blocks.from.length} objects`} />
        </>
      )}
      <h3>Planned: {bytes(pool.footprint_bytes)}</h3>
      <Placed p={p} blocks={after} top={top} label={`Offsets of ${after.from.length} objects in the planned pool`} line={{ at: pool.lower_bound_bytes, label: `no plan needs less than ${bytes(pool.lower_bound_bytes)}` }} />
      <p class="dim">Calls to the right, bytes upwards; what was freed makes room for what comes later. drgpum plan searches longer and knows swapping.</p>
    </>
  );
}

function Placed({ p, blocks, top, label, line }: { p: Program; blocks: Blocks; top: number; label: string; line?: { at: number; label: string } }) {
  return (
    <Canvas
      height={210}
      label={label}
      paint={({ g, width, height }) =>
        paintMap({ g, width, height, from: 0, to: p.calls, top, blocks, selected: selected.value, colour: (k) => tone(p.id[blocks.object[k]!] ?? k), label: (k) => `${p.name(blocks.object[k]!)} ${bytes(p.size[blocks.object[k]!] ?? 0)}`, line: line ?? null })
      }
      onPress={(x, y, e) => {
        const box = e.currentTarget as HTMLElement;
        const i = blockAt(blocks, callAt({ from: 0, to: p.calls, width: box.clientWidth }, x), valueAt({ height: box.clientHeight, top }, y));
        if (i >= 0) select(i);
      }}
    />
  );
}

function Packing({ drawn }: { drawn: Plan }) {
  const p = program.value;
  const blocks = useMemo(() => planBlocks(drawn, p), [drawn, p]);
  const from = blocks.from.reduce((a, b) => Math.min(a, b), Infinity);
  const to = blocks.to.reduce((a, b) => Math.max(a, b), from + 1);
  const top = Math.max(1, drawn.footprint_bytes);
  const box = (): HTMLElement => document.querySelector<HTMLElement>('.packing')!;
  return (
    <>
      <h3>Offsets over time: {count(drawn.objects.length)} objects</h3>
      <Canvas
        class="map packing"
        label={`Packing of ${drawn.objects.length} objects into ${bytes(drawn.footprint_bytes)}`}
        paint={({ g, width, height }) =>
          paintMap({
            g, width, height, from, to, top, blocks, selected: selected.value, colour: (k) => tone(seed(drawn.objects[k]!.id, k)),
            label: (k) => `${plannedName(drawn.objects[k]!.id, p)} ${bytes(drawn.objects[k]!.size)}`,
            line: { at: drawn.lower_bound_bytes, label: `lower bound ${bytes(drawn.lower_bound_bytes)}` },
          })
        }
        onPress={(x, y) => {
          const i = blockAt(blocks, callAt({ from, to, width: box().clientWidth }, x), valueAt({ height: box().clientHeight, top }, y));
          if (i >= 0) select(i);
        }}
      />
      <p class="dim">Offsets upwards, the plan's time to the right.</p>
    </>
  );
}

function Swap({ swap }: { swap: AutoSwap }) {
  const swaps = swap.swaps ?? [];
  const p = program.value;
  const begin = swaps.reduce((least, s) => Math.min(least, s.out_start_ns), Infinity);
  const end = swaps.reduce((most, s) => Math.max(most, s.in_end_ns), begin + 1);
  return (
    <section class="card" aria-label="Planned swapping">
      <h2>Planned swapping: {bytes(swap.peak_bytes ?? 0)} at the peak</h2>
      {swap.feasible === false && <p class="bad">The limit cannot be kept.</p>}
      <dl class="facts">
        {swap.unlimited_peak_bytes !== undefined && <div><dt>Peak without swapping</dt><dd>{bytes(swap.unlimited_peak_bytes)}</dd></div>}
        {swap.limit_bytes !== undefined && <div><dt>Limit kept</dt><dd>{bytes(swap.limit_bytes)}</dd></div>}
        {swap.overhead_percent !== undefined && <div><dt>Overhead</dt><dd>{swap.overhead_percent.toFixed(2)} %</dd></div>}
        {swap.zero_stall_bound_bytes !== undefined && <div><dt>Least without stalls</dt><dd>{bytes(swap.zero_stall_bound_bytes)}</dd></div>}
        {swap.pinned_bytes !== undefined && <div><dt>Pinned host memory</dt><dd>{bytes(swap.pinned_bytes)}</dd></div>}
        {swap.swaps && <div><dt>Swaps</dt><dd>{count(swaps.length)}</dd></div>}
      </dl>
      {(swap.curve ?? []).length > 1 && (
        <>
          <h3>Overhead against the peak that swapping keeps</h3>
          <Canvas
            height={170}
            label={`Overhead of ${swap.curve!.length} limits`}
            paint={({ g, width, height }) =>
              paintTrade({ g, width, height, points: swap.curve!, whole: swap.unlimited_peak_bytes ?? Math.max(...swap.curve!.map((q) => q.limit_bytes)), iteration: swap.iteration_ns ?? 0, chosen: swap.limit_bytes !== undefined && swap.overhead_ns !== undefined ? { limit_bytes: swap.limit_bytes, overhead_ns: swap.overhead_ns } : null, bound: swap.zero_stall_bound_bytes ?? null })
            }
          />
          <p class="dim">Left is less memory, down is less time. Red: this plan. Dashed: no plan without stalls has a lower peak.</p>
        </>
      )}
      {swaps.length > 0 && (
        <>
          <h3>Copies: out to host memory, back in, and what waits for them</h3>
          <Canvas
            height={90}
            label={`Copy lanes of ${swaps.length} swaps`}
            paint={({ g, width, height }) => {
              const c = ink();
              g.fillStyle = c.paper;
              g.fillRect(0, 0, width, height);
              g.font = '11px system-ui, sans-serif';
              g.textBaseline = 'middle';
              g.textAlign = 'left';
              const left = 64;
              const x = (ns: number): number => left + ((ns - begin) / (end - begin)) * (width - left);
              const lane = (y: number, label: string, colour: string, span: (s: (typeof swaps)[number]) => [number, number]): void => {
                g.fillStyle = c.dim;
                g.fillText(label, 0, y + 10);
                g.fillStyle = colour;
                for (const s of swaps) {
                  const [a, b] = span(s);
                  if (b > a) g.fillRect(x(a), y, Math.max(1, x(b) - x(a)), 20);
                }
              };
              lane(4, 'out', c.used, (s) => [s.out_start_ns, s.out_end_ns]);
              lane(32, 'in', c.save, (s) => [s.in_start_ns, s.in_end_ns]);
              lane(60, 'stall', c.leaked, (s) => [s.in_end_ns - s.stall_ns, s.in_end_ns]);
            }}
          />
          <table>
            <thead><tr><th>Object</th><th>Out at ns</th><th>Back at ns</th><th>Stall ns</th></tr></thead>
            <tbody>{swaps.slice(0, 200).map((s, k) => <tr key={k}><td><code>{plannedName(s.object, p)}</code></td><td class="number">{count(s.out_start_ns)}</td><td class="number">{count(s.in_end_ns)}</td><td class="number">{count(s.stall_ns)}{s.stall_ns > 0 ? ` (${percent(s.stall_ns, end - begin)})` : ''}</td></tr>)}</tbody>
          </table>
        </>
      )}
    </section>
  );
}
