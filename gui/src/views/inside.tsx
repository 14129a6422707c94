// SPDX-License-Identifier: Apache-2.0
// What launches touch inside of objects: from access maps where the page carries them, and what findings tell.
import { useMemo, useState } from 'preact/hooks';
import type { Program } from '../model/program';
import type { Finding, InsideColumns } from '../model/report';
import { bytes, count, exactBytes, pattern, percent, place, plain, plural } from '../model/words';
import { Canvas } from '../render/canvas';
import { bytesOf, cellAt, heatHeight, kTouches, paintHeat, rowText } from '../render/heat';
import { hatch, ink } from '../render/ink';
import { program, select, selected } from '../store';
import { Badge } from './findings';
import { Absent } from './parts';

const kInside = new Set(['overallocation', 'non_uniform_access_frequency', 'structured_access']);
const kShown = 20;
const kLines = 6;

interface Entry {
  i: number; // object's place
  findings: number[];
  inside: InsideColumns | null;
}

// Objects of findings first, as these are ranked; then those whose maps are there.
function entriesOf(p: Program): Entry[] {
  const entries = new Map<number, Entry>();
  const entry = (i: number): Entry => {
    let known = entries.get(i);
    if (!known) entries.set(i, (known = { i, findings: [], inside: null }));
    return known;
  };
  p.report.findings.forEach((f, at) => { if (kInside.has(f.pattern)) entry(p.place(f.object)).findings.push(at); });
  for (const inside of p.report.inside ?? []) entry(p.place(inside.id)).inside = inside;
  return [...entries.values()].filter((e) => e.i >= 0);
}

export function InsideView() {
  const p = program.value!;
  const all = useMemo(() => entriesOf(p), [p]);
  const chosen = all.find((e) => e.i === selected.value);
  if (all.length === 0)
    return (
      <Absent title="Inside objects">
        {p.report.mode === 'intra'
          ? 'No launch touched an object whose inside was recorded.'
          : `This recording was made in mode “${plain(p.report.mode ?? 'object')}”, which does not look inside objects. Record with: drgpum run --mode intra`}
      </Absent>
    );
  return (
    <div>
      <div class="bar">
        <h2>Inside objects</h2>
        <span class="dim">{plural(all.length, 'object')} whose inside launches were seen to access</span>
        {chosen && all.length > 1 && <button onClick={() => select(-1)}>Show all {count(all.length)}</button>}
      </div>
      <ul class="legend">
        <li><span class="swatch used" /> read</li>
        <li><span class="swatch written" /> written</li>
        <li><span class="swatch both" /> read and written</li>
        <li><span class="swatch never" /> never touched</li>
        <li>half height: only some of its bytes</li>
        <li><span class="swatch heat" /> few to many accesses of a launch</li>
      </ul>
      {(chosen ? [chosen] : all.slice(0, kShown)).map((e) => <Card key={e.i} p={p} entry={e} />)}
      {!chosen && all.length > kShown && <p class="dim">And {count(all.length - kShown)} more; select an object in another view to see its own.</p>}
      {selected.value >= 0 && !chosen && <p class="dim">The inside of <code>{p.name(selected.value)}</code> was not recorded.</p>}
    </div>
  );
}

function Card({ p, entry: { i, findings, inside } }: { p: Program; entry: Entry }) {
  const size = p.size[i]!;
  const known = findings.map((at) => p.report.findings[at]!);
  const unaccessed = known.find((f) => (f.evidence.unaccessed ?? []).length > 0)?.evidence;
  return (
    <section class="card inside">
      <h3>
        <button class="link" onClick={() => select(i, findings[0] ?? null)}><code>{p.name(i)}</code></button> {bytes(size)}, {p.siteText(i)}
        {inside && <span class="dim"> · {plural(inside.launches, 'launch').replace('launchs', 'launches')}{inside.sampled ? ', some of their blocks' : ''}</span>}
      </h3>
      {known.map((f, k) => <p key={k} class="told"><Badge f={f} /> {words(f, size)}</p>)}
      {inside ? <Heat p={p} inside={inside} size={size} findings={known} /> : known[0] && <Canvas height={54} label={words(known[0], size)} paint={({ g, width, height }) => paintStrip(g, width, height, known[0]!, size)} />}
      {unaccessed && (
        <details>
          <summary>Ranges that no kernel touches</summary>
          <ul>{unaccessed.unaccessed!.map(([a, b]) => <li key={a}>bytes {count(a)} to {count(b)}: {exactBytes(b - a)}</li>)}</ul>
          {(unaccessed.unaccessed_runs ?? 0) > unaccessed.unaccessed!.length && <p class="dim">The report lists the largest {unaccessed.unaccessed!.length} of {count(unaccessed.unaccessed_runs!)}.</p>}
        </details>
      )}
      <Lines p={p} i={i} />
    </section>
  );
}

function Heat({ p, inside, size, findings }: { p: Program; inside: InsideColumns; size: number; findings: Finding[] }) {
  const [hint, setHint] = useState('');
  const hot = findings.find((f) => f.evidence.hot_range)?.evidence.hot_range ?? null;
  const tell = (x: number, y: number, width: number): void => {
    const cell = cellAt(inside, width, x, y);
    if (!cell) return setHint('');
    const [a, b] = bytesOf(inside, size, cell.part);
    const where = `bytes ${count(a)} to ${count(b)}`;
    if (cell.row < 0) return setHint(`${where}: ${kTouches[inside.touched[cell.part]! & 3]}${(inside.touched[cell.part]! & 4) !== 0 ? ', not all of them' : ''}`);
    const call = p.call(inside.row_first[cell.row]!);
    setHint(`${where}: ${count(inside.counts[cell.row * inside.parts + cell.part]!)} accesses, ${rowText(inside, cell.row)}${call?.kernel ? `, ${plain(call.kernel, 90)}` : ''}`);
  };
  let never = 0;
  for (let part = 0; part < inside.parts; part++) if (inside.touched[part] === 0) never++;
  return (
    <>
      <Canvas
        height={heatHeight(inside)}
        label={`Accesses inside it by ${inside.row_first.length} rows of launches; ${percent(never, inside.parts)} of it is never touched${hot ? `; half of all accesses go to bytes ${hot[0]} to ${hot[1]}` : ''}`}
        paint={({ g, width, height }) => paintHeat({ g, width, height, inside, size, hot })}
        onMove={(x, y, e) => tell(x, y, (e.currentTarget as HTMLElement).clientWidth)}
        onLeave={() => setHint('')}
      />
      <p class="hint" aria-live="polite">{hint || (hot ? 'Framed: the shortest stretch with half of all accesses of the most uneven launch. Point at a cell for its numbers.' : 'Point at a cell for its numbers.')}</p>
    </>
  );
}

// Device code that touches it, most accesses first.
function Lines({ p, i }: { p: Program; i: number }) {
  const lines = p.accessLines(i);
  if (lines.length === 0) return null;
  return (
    <table>
      <thead><tr><th>Line of device code</th><th>In</th><th>Reads</th><th>Writes</th><th>Launches</th></tr></thead>
      <tbody>
        {lines.slice(0, kLines).map((l, k) => (
          <tr key={k}><td>{place(l.file, l.line)}{source(p, l.file, l.line)}</td><td><code>{plain(l.function || l.kernel, 60)}</code></td><td class="number">{count(l.reads)}</td><td class="number">{count(l.writes)}</td><td class="number">{count(l.launches)}</td></tr>
        ))}
      </tbody>
    </table>
  );
}
function source(p: Program, file: string, line: number) {
  const text = p.sourceLine(file, line);
  return text === null ? null : <code class="dim"> {plain(text.trim(), 90)}</code>;
}

function words(f: Finding, size: number): string {
  const e = f.evidence;
  if (f.pattern === 'overallocation')
    return `${pattern(f.pattern).name}: kernels touch ${bytes(e.accessed_bytes ?? 0)} of it (${percent(e.accessed_bytes ?? 0, size)}); fragmentation of the rest ${(e.fragmentation ?? 0).toFixed(2)}, in ${plural(e.unaccessed_runs ?? 0, 'run')}.`;
  if (f.pattern === 'non_uniform_access_frequency')
    return `${pattern(f.pattern).name}: bytes ${count(e.hot_range?.[0] ?? 0)} to ${count(e.hot_range?.[1] ?? 0)} are accessed most; counts vary by ${((e.variation ?? 0) * 100).toFixed(0)} % of their mean ${(e.mean_count ?? 0).toFixed(1)}.`;
  return `${pattern(f.pattern).name}: ${plural(e.parts ?? 0, 'part')}${e.equal ? ' of the same size' : ''}, ${bytes(e.smallest_part_bytes ?? 0)}${e.equal ? '' : ` to ${bytes(e.largest_part_bytes ?? 0)}`} each; a launch touches one.`;
}

// Without maps: what the finding alone tells.
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
