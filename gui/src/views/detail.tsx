// SPDX-License-Identifier: Apache-2.0
// Everything about the selected object, beside any view.
import { useMemo } from 'preact/hooks';
import { chooseEditor, editor, editorLink, kEditors } from '../model/editor';
import type { Program } from '../model/program';
import type { Frame } from '../model/report';
import { markdownOf } from '../model/exports';
import { bytes, count, exactBytes, kStateWords, pattern, place, plain } from '../model/words';
import { announcement, go, program, route, select, selected } from '../store';
import { Badge, FixCurve } from './findings';

export function Detail() {
  const p = program.value;
  const i = selected.value;
  if (!p || i < 0) return null;
  const findings = p.findingsOf.get(i) ?? [];
  const chosen = route.value.finding ?? findings[0] ?? null;
  return (
    <aside class="detail" aria-label="Selected object">
      <div class="bar">
        <h2><code class="name">{p.name(i)}</code></h2>
        <button class="close" aria-label="Close" onClick={() => go({ object: null, finding: null })}>×</button>
      </div>
      <p><b title={exactBytes(p.size[i]!)}>{exactBytes(p.size[i]!)}</b> · {plain(p.kinds[p.kind[i]!] ?? '')} memory on device {p.device[i]}</p>
      <p class="place">{p.siteText(i)}</p>
      {findings.map((at) => <FindingDetail key={at} p={p} at={at} open={at === chosen} />)}
      {findings.length === 0 && <p class="dim">No finding about it.</p>}
      <h3>Its life</h3>
      <dl class="life">
        <dt>Allocated</dt><dd>{p.describeCall(p.begin[i]!)}</dd>
        <dt>First use</dt><dd>{p.first[i]! < 0 ? 'never' : p.describeCall(p.first[i]!)}</dd>
        <dt>Last use</dt><dd>{p.last[i]! < 0 ? 'never' : p.describeCall(p.last[i]!)}</dd>
        {(p.requested?.[i] ?? -1) >= 0 && <><dt>Given back</dt><dd>{p.describeCall(p.requested![i]!)}; its memory waits for streams {p.freed[i] ? `until call ${count(p.end[i]!)}` : 'and never comes free'}</dd></>}
        <dt>Freed</dt><dd>{p.freed[i] ? p.describeCall(p.end[i]!) : 'never'}</dd>
        {p.stateAtPeak.has(i) && <><dt>At the peak</dt><dd>{kStateWords[p.stateAtPeak.get(i)!] ?? ''}</dd></>}
        {p.parent[i]! >= 0 && <><dt>Inside</dt><dd><button class="link" onClick={() => select(p.parent[i]!)}>{p.name(p.parent[i]!)}</button></dd></>}
        {p.address && p.addressBase > 0n && p.address[i]! >= 0 && <><dt>Address</dt><dd><code>0x{(p.addressBase + BigInt(Math.round(p.address[i]!))).toString(16)}</code></dd></>}
      </dl>
      <h3>Allocated from</h3>
      <CallPath p={p} frames={p.path(i)} />
      <Source p={p} frame={p.site(i)} />
      <AccessLines p={p} i={i} />
    </aside>
  );
}

function FindingDetail({ p, at, open }: { p: Program; at: number; open: boolean }) {
  const f = p.report.findings[at]!;
  const e = f.evidence;
  const host = e.host === undefined ? -1 : p.place(e.host);
  return (
    <details class="findingdetail" open={open}>
      <summary><Badge f={f} /> {pattern(f.pattern).name}, {f.certainty}</summary>
      <p class="advice">{plain(f.advice, 600)}</p>
      <dl class="facts">
        <div><dt>Alone off the peak</dt><dd>{bytes(f.peak_saving_bytes)}</dd></div>
        <div><dt>Lost without it</dt><dd>{bytes(f.joint_saving_bytes)}</dd></div>
        <div><dt>Idle at the peak</dt><dd>{bytes(f.idle_at_peak_bytes)}</dd></div>
        <div><dt>Wasted</dt><dd>{bytes(f.wasted_bytes)}</dd></div>
        {f.distance !== null && <div><dt>Launches between</dt><dd>{count(f.distance)}</dd></div>}
      </dl>
      {host >= 0 && <p>It could use the memory of <button class="link" onClick={() => select(host)}>{p.name(host)}</button>.</p>}
      {f.superseded_by !== null && <p>Finding {f.superseded_by + 1} is about the same memory and comes first.</p>}
      {e.missing.length > 0 && <p class="dim">Not proven: {e.missing.map((m) => plain(m)).join('; ')}.</p>}
      {e.must_move_count > 0 && (
        <p class="dim">To move along: {e.must_move.slice(0, 5).map((c) => p.describeCall(c.index)).join('; ') || `${e.must_move_count} calls`}{e.must_move_count > 5 ? ` and ${count(e.must_move_count - 5)} more` : ''}.</p>
      )}
      <FixCurve p={p} f={f} height={90} />
      <button onClick={() => void navigator.clipboard?.writeText(markdownOf(p, at)).then(() => (announcement.value = 'Copied as Markdown'), () => (announcement.value = 'The browser does not allow copying here'))}>Copy as Markdown (M)</button>
    </details>
  );
}

function CallPath({ p, frames }: { p: Program; frames: Frame[] }) {
  if (frames.length === 0)
    return <p class="dim">No call path{p.report.coverage.length > 0 ? '; Capture quality says what is missing' : ': the program has no line table, or the report was written without paths'}.</p>;
  return (
    <ol class="callpath">
      {frames.slice(0, 60).map((frame, k) => (
        <li key={k}><code>{plain(frame.function, 120) || '?'}</code> <EditorLink frame={frame} /></li>
      ))}
    </ol>
  );
}

// file:line as a link into the editor that was chosen; relative paths have none.
function EditorLink({ frame }: { frame: Frame }) {
  const text = place(frame.file, frame.line);
  const link = editorLink(frame.file, frame.line);
  return link ? <a href={link} title={plain(frame.file)}>{text}</a> : <span class="dim">{text}</span>;
}

function AccessLines({ p, i }: { p: Program; i: number }) {
  const lines = p.accessLines(i);
  if (lines.length === 0) return null;
  return (
    <>
      <h3>Device code that touches it</h3>
      <table>
        <thead><tr><th>Line</th><th>In</th><th>Reads</th><th>Writes</th></tr></thead>
        <tbody>
          {lines.slice(0, 12).map((l, k) => (
            <tr key={k}><td><EditorLink frame={l} /></td><td><code>{plain(l.function || l.kernel, 60)}</code></td><td class="number">{count(l.reads)}</td><td class="number">{count(l.writes)}</td></tr>
          ))}
        </tbody>
      </table>
      {lines.length > 12 && <p class="dim">And {count(lines.length - 12)} more lines.</p>}
    </>
  );
}

function Source({ p, frame }: { p: Program; frame: Frame | null }) {
  const sums = useMemo(() => (frame && frame.file !== '' ? p.linesOf(frame.file) : null), [p, frame?.file]);
  if (!frame || frame.file === '' || !sums) return null;
  const parts = p.report.sources && Object.hasOwn(p.report.sources, frame.file) ? p.report.sources[frame.file]! : [];
  const part = parts.find((s) => s.first <= frame.line && frame.line < s.first + s.lines.length);
  const link = editorLink(frame.file, frame.line);
  return (
    <>
      <h3>Source</h3>
      <div class="bar source-bar">
        {link ? <a href={link}>Open {place(frame.file, frame.line)}</a> : <span class="dim">{plain(frame.file, 120)}</span>}
        <label class="dim">in <select value={editor.value} onChange={(e) => chooseEditor(e.currentTarget.value)}>{Object.keys(kEditors).map((name) => <option key={name}>{name}</option>)}</select></label>
      </div>
      {part ? (
        <pre class="source" tabIndex={0} aria-label={`Lines of ${plain(frame.file)}`}>
          {part.lines.map((text, k) => {
            const sum = sums.get(part.first + k);
            return (
              <span key={k} class={part.first + k === frame.line ? 'here' : ''}>
                <b title={sum ? `allocates ${exactBytes(sum.allocated)} in all, ${exactBytes(sum.peak)} of it alive at the peak` : undefined}>{sum ? bytes(sum.peak || sum.allocated) : ''}</b>
                <u>{[...new Set(sum?.findings.map((f) => pattern(p.report.findings[f]!.pattern).code))].slice(0, 3).join(' ')}</u>
                <i>{part.first + k}</i>{plain(text, 400) || ' '}{'\n'}
              </span>
            );
          })}
        </pre>
      ) : (
        <p class="dim">This report does not carry the lines of {plain(frame.file, 120)}. --source-root DIR or --path-map A=B say where they are.</p>
      )}
    </>
  );
}
