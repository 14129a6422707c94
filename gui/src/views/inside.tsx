// SPDX-License-Identifier: Apache-2.0
// What kernels touch inside an object, as far as findings about it tell.
import type { Program } from '../model/program';
import type { Finding } from '../model/report';
import { bytes, count, exactBytes, pattern, percent, plain } from '../model/words';
import { Canvas } from '../render/canvas';
import { hatch, ink } from '../render/ink';
import { program, select, selected } from '../store';
import { Absent } from './parts';

const kInside = new Set(['overallocation', 'non_uniform_access_frequency', 'structured_access']);

export function InsideView() {
  const p = program.value!;
  const all = p.report.findings.map((f, at) => ({ f, at })).filter(({ f }) => kInside.has(f.pattern));
  if (all.length === 0)
    return (
      <Absent title="Inside objects">
        {p.report.mode === 'intra'
          ? 'No finding is about the inside of an object: what kernels touch is used evenly and whole.'
          : `This recording was made in mode “${plain(p.report.mode ?? 'object')}”, which does not look inside objects. Record with: drgpum run --mode intra`}
      </Absent>
    );
  const i = selected.value;
  const chosen = all.filter(({ f }) => p.place(f.object) === i);
  return (
    <div>
      <h2>Inside objects</h2>
      {(chosen.length > 0 ? chosen : all.slice(0, 20)).map(({ f, at }) => <Strip key={at} p={p} f={f} at={at} />)}
      {chosen.length > 0 && all.length > chosen.length && <button onClick={() => select(-1)}>Show all {count(all.length)}</button>}
      {chosen.length === 0 && all.length > 20 && <p class="dim">And {count(all.length - 20)} more; select an object to see its own.</p>}
    </div>
  );
}

function Strip({ p, f, at }: { p: Program; f: Finding; at: number }) {
  const i = p.place(f.object);
  const size = p.size[i] ?? 0;
  const e = f.evidence;
  return (
    <section class="card">
      <h3><button class="link" onClick={() => select(i, at)}><code>{p.name(i)}</code></button> {bytes(size)}, {p.siteText(i)}: {pattern(f.pattern).name.toLowerCase()}</h3>
      <Canvas height={54} label={words(f, size)} paint={({ g, width, height }) => paintStrip(g, width, height, f, size)} />
      <p>{words(f, size)}</p>
      {(e.unaccessed ?? []).length > 0 && (
        <details>
          <summary>Ranges that no kernel touches</summary>
          <ul>{e.unaccessed!.map(([a, b]) => <li key={a}>bytes {count(a)} to {count(b)}: {exactBytes(b - a)}</li>)}</ul>
          {(e.unaccessed_runs ?? 0) > e.unaccessed!.length && <p class="dim">The report lists the largest {e.unaccessed!.length} of {count(e.unaccessed_runs!)}.</p>}
        </details>
      )}
    </section>
  );
}

function words(f: Finding, size: number): string {
  const e = f.evidence;
  if (f.pattern === 'overallocation')
    return `Kernels touch ${bytes(e.accessed_bytes ?? 0)} of it (${percent(e.accessed_bytes ?? 0, size)}); fragmentation of the rest ${(e.fragmentation ?? 0).toFixed(2)}, in ${count(e.unaccessed_runs ?? 0)} runs.`;
  if (f.pattern === 'non_uniform_access_frequency')
    return `Bytes ${count(e.hot_range?.[0] ?? 0)} to ${count(e.hot_range?.[1] ?? 0)} are accessed most; counts vary by ${((e.variation ?? 0) * 100).toFixed(0)} % of their mean ${(e.mean_count ?? 0).toFixed(1)}.`;
  return `${count(e.parts ?? 0)} parts${e.equal ? ' of the same size' : ''}, ${bytes(e.smallest_part_bytes ?? 0)} to ${bytes(e.largest_part_bytes ?? 0)}; each launch touches one.`;
}

function paintStrip(g: CanvasRenderingContext2D, width: number, height: number, f: Finding, size: number): void {
  const c = ink();
  g.fillStyle = c.paper;
  g.fillRect(0, 0, width, height);
  const x = (b: number): number => (b / Math.max(1, size)) * width;
  const band = height - 20;
  g.fillStyle = c.used;
  g.fillRect(0, 0, width, band);
  const e = f.evidence;
  for (const [a, b] of e.unaccessed ?? []) {
    g.fillStyle = hatch(g, 'cross', c.unused, c.paper);
    g.fillRect(x(a), 0, Math.max(1, x(b) - x(a)), band);
  }
  if (e.hot_range) {
    g.fillStyle = c.head;
    g.fillRect(x(e.hot_range[0]), 0, Math.max(2, x(e.hot_range[1]) - x(e.hot_range[0])), band);
  }
  if (f.pattern === 'structured_access' && e.parts && e.equal && e.parts < width / 3) {
    g.fillStyle = c.paper;
    for (let k = 1; k < e.parts; k++) g.fillRect(x((size * k) / e.parts), 0, 2, band);
  }
  g.fillStyle = c.dim;
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'bottom';
  g.textAlign = 'left';
  g.fillText('byte 0', 0, height);
  g.textAlign = 'right';
  g.fillText(count(size), width, height);
}
