// SPDX-License-Identifier: Apache-2.0
// Where objects lie: addresses over calls, with what is free between them.
import { useMemo } from 'preact/hooks';
import { addressMap, fragmentation, useAt, type AddressMap } from '../model/blocks';
import type { Program } from '../model/program';
import { bytes, count, exactBytes, percent } from '../model/words';
import { Canvas } from '../render/canvas';
import { callAt, paintShare } from '../render/curve';
import { blockAt, paintMap, tone, valueAt } from '../render/map';
import { calls, device as shownDevice, go, program, route, select, selected, showCalls, zoom } from '../store';
import { Absent, DeviceChoice } from './parts';

const kSamples = 160; // of the fragmentation curve

export function AddressesView() {
  const p = program.value!;
  const device = shownDevice.value;
  const map = useMemo(() => addressMap(p, device), [p, device]);
  if (!map || map.blocks.from.length === 0)
    return <Absent title="Address map">This report carries no addresses. Pages that drgpum writes do: drgpum view TRACE, or drgpum report TRACE --format html.</Absent>;
  return <Drawn p={p} map={map} />;
}

function Drawn({ p, map }: { p: Program; map: AddressMap }) {
  const [from, to] = calls.value;
  const at = route.value.at ?? p.report.peaks[0]?.api?.index ?? 0;
  const use = useAt(map, at);
  const samples = useMemo(() => fragmentation(map, from, to, kSamples), [map, from, to]);
  const worst = Math.max(0, ...samples);
  const scene = (width: number) => ({ from, to, width });
  const box = (): HTMLElement => document.querySelector<HTMLElement>('.addresses canvas')!;
  return (
    <div class="addresses">
      <div class="bar">
        <h2>Address map</h2>
        <DeviceChoice p={p} />
        <span>{count(map.segments.length)} {map.segments.length === 1 ? 'segment' : 'segments'} of {bytes(map.top)}</span>
        <span class="dim">at call {count(at)}: {bytes(use.live)} live, {bytes(use.holes)} in holes below, largest hole {bytes(use.largestHole)}, fragmentation {use.holes + use.live > 0 ? percent(use.holes, use.holes + use.live) : '0 %'}</span>
        {(from > 0 || to < p.calls) && <button onClick={() => showCalls(0, p.calls)}>Show all</button>}
      </div>
      <Canvas
        class="map"
        label={`Addresses of ${count(map.blocks.from.length)} objects over calls ${Math.round(from)} to ${Math.round(to)}`}
        paint={({ g, width, height }) =>
          paintMap({ g, width, height, from, to, top: map.top, blocks: map.blocks, selected: selected.value, colour: (k) => tone(p.id[map.blocks.object[k]!]!), label: (k) => `${p.name(map.blocks.object[k]!)} ${bytes(p.size[map.blocks.object[k]!]!)}` })
        }
        onPress={(x, y) => {
          const call = callAt(scene(box().clientWidth), x);
          const i = blockAt(map.blocks, call, valueAt({ height: box().clientHeight, top: map.top }, y));
          if (i >= 0) select(i);
          go({ at: Math.min(p.calls - 1, Math.max(0, Math.floor(call))) }, false);
        }}
        onRange={(a, b) => showCalls(callAt(scene(box().clientWidth), a), callAt(scene(box().clientWidth), b))}
        onDouble={() => showCalls(0, p.calls)}
        onWheel={(x, _y, e) => {
          if (!e.ctrlKey && !e.metaKey) return;
          e.preventDefault();
          zoom(e.deltaY > 0 ? 1.25 : 0.8, callAt(scene(box().clientWidth), x));
        }}
      />
      {map.leftOut.count > 0 && <p class="dim">Drawn are the {count(map.blocks.from.length)} largest by bytes × calls; {count(map.leftOut.count)} smaller ones with {bytes(map.leftOut.bytes)} together are not.</p>}
      <h3>Fragmentation: holes as a share of the memory up to the highest live address; {(100 * worst).toFixed(0)} % at most in sight</h3>
      <Canvas
        height={70}
        label={`Fragmentation over calls ${Math.round(from)} to ${Math.round(to)}, at most ${(100 * worst).toFixed(0)} percent`}
        paint={({ g, width, height }) => paintShare({ g, width, height, from, to, samples, cursor: at })}
        onPress={(x) => go({ at: Math.min(p.calls - 1, Math.max(0, Math.floor(callAt(scene(box().clientWidth), x)))) }, false)}
      />
      <table>
        <thead><tr><th>Segment</th><th>Bytes</th></tr></thead>
        <tbody>{map.segments.slice(0, 50).map((s) => <tr key={String(s.start)}><td><code>0x{s.start.toString(16)}</code></td><td class="number" title={exactBytes(s.bytes)}>{bytes(s.bytes)}</td></tr>)}</tbody>
      </table>
    </div>
  );
}
