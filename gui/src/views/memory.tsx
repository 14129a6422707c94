// SPDX-License-Identifier: Apache-2.0
// Live bytes over the program's calls, its peaks, and what is alive at the cursor.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Curve } from '../model/curve';
import { siteCurves, type SiteCurve } from '../model/sites';
import type { PhaseColumns } from '../model/report';
import { bytes, count, exactBytes, kStateWords, percent, plain, plural } from '../model/words';
import type { Program } from '../model/program';
import { Canvas } from '../render/canvas';
import { callAt, paintCurve } from '../render/curve';
import { kMostParts, partColour } from '../render/ink';
import { Pressure } from './pressure';
import { paintPhases, phaseAt, phaseRows, shownRows, kBand } from '../render/phases';
import { calls, clock, device as shownDevice, go, pan, program, route, select, selected, showCalls, zoom } from '../store';
import { AcrossChoice, DeviceChoice, WindowText } from './parts';

const kListed = 200;
const kLeft = 64;

export function MemoryView() {
  const p = program.value!;
  const device = shownDevice.value;
  const curve = useCurve(p, device);
  const [from, to] = calls.value;
  const { at } = route.value;
  const peakAt = useMemo(() => curve.peakCall(), [curve]);
  const highest = curve.highest(from, to);
  const { phases } = p.report;
  const bands = shownRows(phases);
  const reserved = p.reserved(device);
  const capacity = p.capacity(device);
  const [wholeDevice, setWholeDevice] = useState(false);
  const held = reserved ? reserved.highest(from, to) : 0;
  const sight = Math.max(highest, held, 1) * 1.08;
  const top = capacity > 0 && (wholeDevice || capacity <= 1.6 * sight) ? Math.max(sight, capacity * 1.04) : sight;
  const scene = (width: number) => ({ from, to, width, left: kLeft, clock: clock.value });
  const [stacked, setStacked] = useState(true);
  const parts = useSites(p, device, stacked && curve.stretch === 1);
  const shares = useMemo(() => parts.length > 0 && <Parts parts={parts} curve={curve} at={at ?? peakAt} />, [parts, curve, at, peakAt]);
  // Panning changes nothing here: without this it would be compared cell by cell each time.
  const below = useMemo(() => (
    <div class="columns">
      <div>
        <Peaks p={p} />
        {p.devices.length > 1 && <Devices p={p} />}
        {phases && phases.count > 0 && <Phases phases={phases} />}
      </div>
      <LiveThere p={p} device={device} />
    </div>
  ), [p, device, at, selected.value]);
  return (
    <div class="memory">
      <section class="card" aria-label="Live bytes">
        <div class="bar">
          <h2>Live device memory</h2>
          <DeviceChoice p={p} />
          <AcrossChoice p={p} />
          <button aria-pressed={stacked} onClick={() => setStacked(!stacked)} disabled={curve.stretch > 1}>By line</button>
          {capacity > 0 && capacity > 1.6 * sight && <button aria-pressed={wholeDevice} onClick={() => setWholeDevice(!wholeDevice)}>Up to the device's {bytes(capacity)}</button>}
          <span>highest here <b title={exactBytes(highest)}>{bytes(highest)}</b></span>
          <WindowText p={p} />
          {(from > 0 || to < p.calls) && <button onClick={() => showCalls(0, p.calls)}>Show all</button>}
        </div>
        <Canvas
          class="tall"
          label={`Live bytes from call ${Math.round(from)} to ${Math.round(to)}; highest ${bytes(highest)}. Arrow keys move the cursor.`}
          paint={({ g, width, height }) => {
            paintCurve({ g, width, height, from, to, curve, top, capacity, reserved, clock: clock.value, peakAt, cursor: at, ceiling: bands * kBand, stack: parts.map((part, k) => ({ curve: part.curve, colour: partColour(k) })) });
            if (phases) paintPhases({ g, width, height: height - 18, left: kLeft, from, to, clock: clock.value, phases, rows: bands });
          }}
          onPress={(x, y, e) => {
            const box = scene((e.currentTarget as HTMLElement).clientWidth);
            const phase = phases && y < bands * kBand ? phaseAt({ ...box, phases }, x, y) : -1;
            if (phase >= 0) return showCalls(phases!.begin[phase]!, phases!.begin[phase]! + Math.max(1, phases!.length[phase]!));
            go({ at: clamp(Math.floor(callAt(box, x)), p.calls) });
          }}
          onRange={(a, b) => {
            const box = scene(document.querySelector('.memory canvas')!.clientWidth);
            showCalls(callAt(box, a), callAt(box, b));
          }}
          onPan={(dx) => pan(-dx / 800)}
          onDouble={() => showCalls(0, p.calls)}
          onWheel={(x, _y, e) => {
            if (!e.ctrlKey && !e.metaKey) return;
            e.preventDefault();
            zoom(e.deltaY > 0 ? 1.25 : 0.8, callAt(scene((e.currentTarget as HTMLElement).clientWidth), x));
          }}
        />
        {shares}
        <p class="dim">
          {capacity > 0 ? <>The device has {bytes(capacity)}; the highest point in sight uses {percent(highest, capacity)} of it.</> : 'The device did not tell its capacity.'}
          {reserved && <> <span class="swatch reserve" /> What pools and allocations hold of the device: {bytes(held)} at most in sight.</>}
          {curve.stretch > 1 && ` Each step shows the highest value in ${count(curve.stretch)} calls, exactly.`}
          {phases && phaseRows(phases) > bands && ` The outermost ${bands} of ${phaseRows(phases)} rows of phases are drawn.`}
        </p>
      </section>
      {below}
      <Pressure report={p.report} />
      {(p.report.pinned_peak_bytes ?? 0) > 0 && <Pinned p={p} />}
    </div>
  );
}

// The exact curve, once it is there.
function useCurve(p: Program, device: number): Curve {
  const [, setLoaded] = useState(0);
  useEffect(() => void p.loadCurve(device).then((has) => has && setLoaded((n) => n + 1), () => undefined), [p, device]);
  return p.curve(device);
}

function useSites(p: Program, device: number, wanted: boolean): SiteCurve[] {
  const [parts, setParts] = useState<SiteCurve[]>([]);
  useEffect(() => {
    let isWanted = wanted;
    if (!wanted) setParts([]);
    else void siteCurves(p, device, kMostParts).then((found) => isWanted && setParts(found), () => undefined);
    return () => { isWanted = false; };
  }, [p, device, wanted]);
  return parts;
}

// What each line holds at a call; the rest is the curve less the lines.
function Parts({ parts, curve, at }: { parts: SiteCurve[]; curve: Curve; at: number }) {
  const all = curve.valueAt(at);
  const values = parts.map((part) => part.curve.valueAt(at));
  const rest = all - values.reduce((sum, v) => sum + v, 0);
  return (
    <ul class="legend parts" aria-label={`Lines at call ${at}`}>
      {parts.map((part, k) => (
        <li key={part.site}><span class={`swatch part${k}`} /> <button class="link" onClick={() => go({ view: 'objects', query: part.site })}>{part.site}</button> <b title={exactBytes(values[k]!)}>{bytes(values[k]!)}</b></li>
      ))}
      {rest > 0 && <li><span class="swatch rest" /> all other lines <b title={exactBytes(rest)}>{bytes(rest)}</b></li>}
      <li>at call {count(at)}: {exactBytes(all)} in all</li>
    </ul>
  );
}

function clamp(call: number, all: number): number {
  return Math.min(Math.max(0, call), Math.max(0, all - 1));
}

function Peaks({ p }: { p: Program }) {
  return (
    <section class="card" aria-label="Peaks">
      <h2>Peaks</h2>
      <ol class="list">
        {p.report.peaks.map((peak, k) => (
          <li key={k}>
            <button class={route.value.at === peak.api?.index ? 'current' : ''} onClick={() => go({ at: peak.api?.index ?? null, device: peak.device ?? null })}>
              <b title={exactBytes(peak.bytes)}>{bytes(peak.bytes)}</b>
              <span>{peak.api ? p.describeCall(peak.api.index) : 'before the first call'}</span>
              {p.devices.length > 1 && <span class="dim">device {peak.device ?? 0}</span>}
            </button>
          </li>
        ))}
      </ol>
      {(p.report.failed_allocations ?? []).map((f, k) => (
        <p key={k} class="bad">Failed allocation of {exactBytes(f.requested_bytes)}: error {f.error}{f.api ? `, ${p.describeCall(f.api.index)}` : ''}.</p>
      ))}
    </section>
  );
}

function Devices({ p }: { p: Program }) {
  return (
    <section class="card" aria-label="Devices">
      <h2>Devices</h2>
      <table>
        <thead><tr><th>Device</th><th>Peak</th><th>With all fixes</th></tr></thead>
        <tbody>
          {(p.report.devices ?? []).map((d) => (
            <tr key={d.id} class={d.id === shownDevice.value ? 'current' : ''}>
              <td><button class="link" onClick={() => go({ device: d.id })}>{d.id}: {p.deviceName(d.id)}</button></td>
              <td class="number" title={exactBytes(d.peak_bytes)}>{bytes(d.peak_bytes)}</td>
              <td class="number" title={exactBytes(d.peak_after_all_fixes_bytes)}>{bytes(d.peak_after_all_fixes_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const kListedPhases = 100;
// The longest ones, to go to by key.
function Phases({ phases }: { phases: PhaseColumns }) {
  const places = useMemo(() => Array.from({ length: phases.count }, (_, k) => k).sort((a, b) => phases.length[b]! - phases.length[a]! || a - b).slice(0, kListedPhases), [phases]);
  return (
    <details class="card phases">
      <summary>{plural(phases.total_count, 'phase')}{phases.iterations.length > 0 ? `, ${plural(phases.iterations.length, 'iteration')}` : ''}</summary>
      <ul class="list">
        {places.map((k) => (
          <li key={k}><button onClick={() => showCalls(phases.begin[k]!, phases.begin[k]! + Math.max(1, phases.length[k]!))}><span>{plain(phases.names[phases.name[k]!] ?? '', 80)}</span><span class="dim">calls {count(phases.begin[k]!)} to {count(phases.begin[k]! + phases.length[k]!)}</span></button></li>
        ))}
      </ul>
      {phases.total_count > places.length && <p class="dim">The {count(places.length)} longest.</p>}
    </details>
  );
}

function LiveThere({ p, device }: { p: Program; device: number }) {
  const at = route.value.at ?? p.report.peaks[0]?.api?.index ?? p.curve(device).peakCall();
  const isPeak = at === p.report.peaks[0]?.api?.index && device === p.mainDevice;
  const live = p.liveAt(at, device);
  const sum = live.reduce((all, i) => all + p.size[i]!, 0);
  const rest = live.slice(kListed).reduce((all, i) => all + p.size[i]!, 0);
  return (
    <section class="card wide" aria-label="Alive at the cursor">
      <h2>{isPeak ? 'At the peak' : 'At the cursor'}: {bytes(sum)} in {count(live.length)} objects</h2>
      <p class="dim">{p.describeCall(at)}</p>
      <table>
        <thead><tr><th>Bytes</th><th>Share</th><th>Object</th><th>Line</th><th>State</th></tr></thead>
        <tbody>
          {live.slice(0, kListed).map((i) => (
            <tr key={i} class={i === selected.value ? 'current' : ''}>
              <td class="number" title={exactBytes(p.size[i]!)}>{bytes(p.size[i]!)}</td>
              <td class="number">{percent(p.size[i]!, sum)}</td>
              <td><button class="link" onClick={() => select(i)}><code>{p.name(i)}</code></button></td>
              <td>{p.siteText(i)}</td>
              <td>{stateAt(p, i, at, isPeak)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {live.length > kListed && <p class="dim">And {count(live.length - kListed)} more of {bytes(rest)} together.</p>}
    </section>
  );
}

function stateAt(p: Program, i: number, at: number, isPeak: boolean): string {
  if (isPeak) return plain(kStateWords[p.stateAtPeak.get(i) ?? ''] ?? '');
  if (p.first[i]! < 0) return 'no access in its life';
  if (at < p.first[i]!) return `not used until call ${p.first[i]}`;
  return at > p.last[i]! ? `not used since call ${p.last[i]}` : 'between first and last use';
}

function Pinned({ p }: { p: Program }) {
  const curve = p.pinnedCurve();
  const [from, to] = calls.value;
  return (
    <section class="card" aria-label="Pinned host memory">
      <h2>Pinned host memory: {bytes(p.report.pinned_peak_bytes!)} at most</h2>
      <Canvas height={90} label="Live pinned bytes by call" paint={({ g, width, height }) => paintCurve({ g, width, height, from, to, clock: clock.value, curve, top: curve.peak * 1.1 || 1 })} />
    </section>
  );
}
