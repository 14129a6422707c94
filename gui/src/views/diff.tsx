// SPDX-License-Identifier: Apache-2.0
// Two runs compared: the curves over each other, and the lines that hold more or less.
import { useMemo } from 'preact/hooks';
import { changesBySite } from '../model/diff';
import { bytes, count, exactBytes, percent, plain } from '../model/words';
import { Canvas } from '../render/canvas';
import { paintCurve } from '../render/curve';
import { baseline, baselineName, program, programs } from '../store';
import { Absent } from './parts';

export function DiffView() {
  const now = program.value!;
  const before = baseline.value;
  if (!before)
    return (
      <Absent title="Diff">
        Drop a second report onto the page, or use Open…, and choose “Compare with it”.
        {programs.value.length > 1 && (
          <span class="row"> Or compare with{' '}
            {programs.value.map((p, k) => p === now ? null : <button key={k} onClick={() => { baseline.value = p; baselineName.value = `program ${k}`; }}>{p.report.program.rank ? `rank ${plain(p.report.program.rank)}` : `program ${k}`}</button>)}
          </span>
        )}
      </Absent>
    );
  return <Compared key={baselineName.value} />;
}

function Compared() {
  const now = program.value!;
  const before = baseline.value!;
  const changes = useMemo(() => changesBySite(before, now), [before, now]);
  const changed = changes.filter((c) => c.peak[0] !== c.peak[1] || c.allocated[0] !== c.allocated[1] || c.objects[0] !== c.objects[1]);
  const a = before.curve(before.report.peaks[0]?.device ?? 0);
  const b = now.curve(now.report.peaks[0]?.device ?? 0);
  const delta = now.peakBytes - before.peakBytes;
  const signed = (n: number): string => (n > 0 ? `+${bytes(n)}` : n < 0 ? bytes(n) : '±0');
  return (
    <div>
      <div class="figures">
        <div>before <strong title={exactBytes(before.peakBytes)}>{bytes(before.peakBytes)}</strong></div>
        <div>now <strong title={exactBytes(now.peakBytes)}>{bytes(now.peakBytes)}</strong></div>
        <div><strong class={delta > 0 ? 'bad' : 'good'}>{signed(delta)}</strong> {before.peakBytes > 0 && delta !== 0 ? `(${delta > 0 ? '+' : '−'}${percent(Math.abs(delta), before.peakBytes)})` : ''} peak</div>
        <div class="dim">compared with {plain(baselineName.value, 80)}</div>
        <div class="right"><button onClick={() => { const other = baseline.value!; const at = programs.value.indexOf(now); const all = [...programs.value]; all[at] = other; baseline.value = now; programs.value = all; }}>Swap sides</button> <button onClick={() => (baseline.value = null)}>Stop comparing</button></div>
      </div>
      <section class="card" aria-label="Curves">
        <ul class="legend">
          <li><span class="swatch now" /> now: {count(now.calls)} calls, at most {bytes(b.peak)}</li>
          <li><span class="swatch before" /> before: {count(before.calls)} calls, at most {bytes(a.peak)}</li>
        </ul>
        <Canvas
          height={220}
          label={`Live bytes of both runs, each over its own calls: before at most ${bytes(a.peak)}, now at most ${bytes(b.peak)}`}
          paint={({ g, width, height }) => paintCurve({ g, width, height, from: 0, to: b.end, curve: b, compare: a, top: Math.max(a.peak, b.peak) * 1.06 || 1, peakAt: b.peakCall() })}
        />
      </section>
      <section class="card" aria-label="Lines that changed">
        <h2>{changed.length === 0 ? 'No line allocates differently' : 'Lines that changed'}</h2>
        {changed.length > 0 && (
          <table>
            <thead><tr><th>Line</th><th>At the peak</th><th>before</th><th>now</th><th>Allocated in all</th><th>Objects</th><th>Change</th></tr></thead>
            <tbody>
              {changed.slice(0, 300).map((c) => (
                <tr key={c.site}>
                  <td>{c.site}</td>
                  <td class={`number ${c.peak[1] > c.peak[0] ? 'bad' : 'good'}`}>{signed(c.peak[1] - c.peak[0])}</td>
                  <td class="number">{bytes(c.peak[0])}</td>
                  <td class="number">{bytes(c.peak[1])}</td>
                  <td class="number">{signed(c.allocated[1] - c.allocated[0])}</td>
                  <td class="number">{count(c.objects[0])} → {count(c.objects[1])}</td>
                  <td>{c.objects[0] === 0 ? 'new' : c.objects[1] === 0 ? 'gone' : ''}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
    </div>
  );
}
