// SPDX-License-Identifier: Apache-2.0
// Live bytes over the program's calls, its peaks, and what is alive at the cursor.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Curve } from '../model/curve';
import { siteCurves, type SiteCurve } from '../model/sites';
import { bytes, count, exactBytes, kStateWords, percent, plain } from '../model/words';
import type { Program } from '../model/program';
import { Canvas } from '../render/canvas';
import { callAt, paintCurve } from '../render/curve';
import { kMostParts, partColour } from '../render/ink';
import { Pressure } from './pressure';
import { calls, go, pan, program, route, select, selected, showCalls, zoom } from '../store';

const kListed = 200;

export function MemoryView() {
  const p = program.value!;
  const devices = useMemo(() => p.devices, [p]);
  const [device, setDevice] = useState(p.report.peaks[0]?.device ?? devices[0] ?? 0);
  const curve = p.curve(device);
  const [from, to] = calls.value;
  const { at } = route.value;
  const peakAt = useMemo(() => curve.peakCall(), [curve]);
  const highest = curve.highest(from, to);
  const top = Math.max(highest, 1) * 1.08;
  const scene = (width: number) => ({ from, to, width });
  const [stacked, setStacked] = useState(true);
  const parts = useSites(p, device, stacked && curve.stretch === 1);
  const reserved = p.report.device.memory_bytes;
  const shares = useMemo(() => parts.length > 0 && <Parts parts={parts} curve={curve} at={at ?? peakAt} />, [parts, curve, at, peakAt]);
  // Panning changes nothing here: without this it would be compared cell by cell each time.
  const below = useMemo(() => (
    <div class="columns">
      <Peaks p={p} />
      <LiveThere p={p} device={device} />
    </div>
  ), [p, device, at, selected.value]);
  return (
    <div class="memory">
      <section class="card" aria-label="Live bytes">
        <div class="bar">
          <h2>Live device memory by call</h2>
          {devices.length > 1 && <label>Device <select value={String(device)} onChange={(e) => setDevice(Number(e.currentTarget.value))}>{devices.map((d) => <option key={d} value={String(d)}>{d}</option>)}</select></label>}
          <button aria-pressed={stacked} onClick={() => setStacked(!stacked)} disabled={curve.stretch > 1}>By line</button>
          <span>highest here <b title={exactBytes(highest)}>{bytes(highest)}</b></span>
          <span class="dim">calls {count(Math.round(from))} to {count(Math.round(to))} of {count(p.calls)}; the order in which the program made them</span>
          {(from > 0 || to < p.calls) && <button onClick={() => showCalls(0, p.calls)}>Show all</button>}
        </div>
        <Canvas
          class="tall"
          label={`Live bytes from call ${Math.round(from)} to ${Math.round(to)}; highest ${bytes(highest)}. Arrow keys move the cursor.`}
          paint={({ g, width, height }) =>
            paintCurve({ g, width, height, from, to, curve, top, capacity: p.report.device.memory_bytes, peakAt, cursor: at, stack: parts.map((part, k) => ({ curve: part.curve, colour: partColour(k) })) })
          }
          onPress={(x, _y, e) => go({ at: clamp(Math.floor(callAt(scene((e.currentTarget as HTMLElement).clientWidth), x)), p.calls) })}
          onRange={(a, b) => {
            const width = document.querySelector('.memory canvas')!.clientWidth;
            showCalls(callAt(scene(width), a), callAt(scene(width), b));
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
        <p class="dim">{reserved > 0 ? <>The device has {bytes(reserved)}; the highest point in sight uses {percent(highest, reserved)} of it.</> : 'The device did not tell its capacity.'}{curve.stretch > 1 && ` Each step shows the highest value in ${count(curve.stretch)} calls, exactly.`}</p>
      </section>
      {below}
      <Pressure report={p.report} />
      {(p.report.pinned_peak_bytes ?? 0) > 0 && <Pinned p={p} />}
    </div>
  );
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
        <li key={part.site}><span class="swatch" style={{ background: partColour(k) }} /> <button class="link" onClick={() => go({ view: 'objects', query: part.site })}>{part.site}</button> <b title={exactBytes(values[k]!)}>{bytes(values[k]!)}</b></li>
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
            <button class={route.value.at === peak.api?.index ? 'current' : ''} onClick={() => go({ at: peak.api?.index ?? null })}>
              <b title={exactBytes(peak.bytes)}>{bytes(peak.bytes)}</b>
              <span>{peak.api ? p.describeCall(peak.api.index) : 'before the first call'}</span>
              {(peak.device ?? 0) > 0 && <span class="dim">device {peak.device}</span>}
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

function LiveThere({ p, device }: { p: Program; device: number }) {
  const at = route.value.at ?? p.report.peaks[0]?.api?.index ?? p.curve(device).peakCall();
  const isPeak = at === p.report.peaks[0]?.api?.index;
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
      <Canvas height={90} label="Live pinned bytes by call" paint={({ g, width, height }) => paintCurve({ g, width, height, from, to, curve, top: curve.peak * 1.1 || 1 })} />
    </section>
  );
}
