// SPDX-License-Identifier: Apache-2.0
// What to do, first things first: findings by the line to change.
import { useMemo } from 'preact/hooks';
import { groupFindings, type Group } from '../model/groups';
import { removedBy } from '../model/fix';
import { shownObjects } from '../model/query';
import { largestSites } from '../model/sites';
import { weight, type Program } from '../model/program';
import type { Finding, Frame } from '../model/report';
import { bytes, count, exactBytes, kStateWords, pattern, percent, plain, plural } from '../model/words';
import { Canvas } from '../render/canvas';
import { paintCurve } from '../render/curve';
import { go, program, route, select } from '../store';
import { QueryBox } from './parts';

const kShownAtOnce = 200;

function lowersPeak(f: Finding): boolean {
  return weight(f) > 0 || f.idle_at_peak_bytes > 0;
}

export function FindingsView() {
  const p = program.value!;
  const { query } = route.value;
  const shown = query === '' ? null : new Set(shownObjects(p, query));
  const matches = (f: number): boolean => shown === null || shown.has(p.place(p.report.findings[f]!.object));
  const groups = groupFindings(p, (f) => matches(f) && lowersPeak(p.report.findings[f]!));
  const others = groupFindings(p, (f) => matches(f) && !lowersPeak(p.report.findings[f]!));
  const otherCount = others.reduce((all, group) => all + group.findings.length, 0);
  const first = (groups[0] ?? others[0])?.findings[0];
  return (
    <div class="findings">
      <PeakBar p={p} />
      {first !== undefined && <FirstFinding p={p} at={first} />}
      {p.report.findings.length === 0 && <NothingFound p={p} />}
      {p.report.findings.length > 1 && (
        <section aria-label="All findings">
          <div class="bar">
            <h2>All findings, by line</h2>
            <QueryBox />
          </div>
          <ol class="groups">
            {groups.slice(0, kShownAtOnce).map((group) => (
              <GroupItem key={group.key} p={p} group={group} />
            ))}
          </ol>
          {groups.length > kShownAtOnce && <p class="dim">{count(groups.length - kShownAtOnce)} more lines; narrow them with the filter.</p>}
          {groups.length + others.length === 0 && <p>No finding matches the filter.</p>}
          {(p.report.findings_left_out ?? []).length > 0 && (
            <p class="dim">This page lists the first {count(p.report.findings.length)} findings; {p.report.findings_left_out!.map((sum) => `${count(sum.count)} × ${pattern(sum.pattern).name.toLowerCase()} (${bytes(sum.wasted_bytes)} wasted)`).join(', ')} rank below them. drgpum report --format json lists all.</p>
          )}
          {otherCount > 0 && (
            <details open={groups.length === 0}>
              <summary>{plural(otherCount, 'finding')} that change no peak</summary>
              <ol class="groups">
                {others.slice(0, kShownAtOnce).map((group) => <GroupItem key={group.key} p={p} group={group} />)}
              </ol>
            </details>
          )}
        </section>
      )}
      {p.report.findings.length > 0 && groups.length <= kFew && query === '' && <Holders p={p} />}
    </div>
  );
}
const kFew = 6; // lines that leave room on the screen

function NothingFound({ p }: { p: Program }) {
  const states = p.report.peaks[0]?.objects ?? [];
  const knowsUse = states.some((live) => live.state !== 'unknown') || states.length === 0;
  return (
    <>
      <section class="card">
        <h2>{knowsUse ? 'No finding' : 'What use is made of it was not recorded'}</h2>
        {knowsUse ? (
          <p>
            drgpum sees no allocation here that is early, late, unused, leaked, idle, reusable or larger than needed
            {p.report.coverage.length > 0 ? ', in what was recorded: see Capture quality.' : '.'}
          </p>
        ) : (
          <p>So nothing is judged early, late or unused. Below is who holds the peak; <button class="link" onClick={() => go({ view: 'memory' })}>Memory</button> shows it over time, with what the allocator reserves, and <button class="link" onClick={() => go({ view: 'plan' })}>Plan</button> what one planned pool would need.</p>
        )}
      </section>
      {!knowsUse && <Holders p={p} />}
    </>
  );
}

// The lines that hold the peak, largest first.
function Holders({ p }: { p: Program }) {
  const groups = useMemo(() => largestSites(p, p.report.peaks[0]?.device ?? 0, kHolders), [p]);
  const rest = p.peakBytes - groups.peak.reduce((all, v) => all + v, 0);
  return (
    <section class="card" aria-label="Who holds the peak">
      <h2>Who holds the peak</h2>
      <table>
        <thead><tr><th>Bytes</th><th>Share</th><th>Line</th><th><span class="dim">of the peak</span></th></tr></thead>
        <tbody>
          {groups.sites.map((site, k) => (
            <tr key={site}>
              <td class="number" title={exactBytes(groups.peak[k]!)}>{bytes(groups.peak[k]!)}</td>
              <td class="number">{percent(groups.peak[k]!, p.peakBytes)}</td>
              <td><button class="link" onClick={() => go({ view: 'objects', query: `live:peak ${site}` })}>{site}</button></td>
              <td class="wide"><span class="meter"><i style={{ width: `${(100 * groups.peak[k]!) / Math.max(1, p.peakBytes)}%` }} /></span></td>
            </tr>
          ))}
          {rest > 0 && <tr><td class="number" title={exactBytes(rest)}>{bytes(rest)}</td><td class="number">{percent(rest, p.peakBytes)}</td><td>all other lines</td><td /></tr>}
        </tbody>
      </table>
    </section>
  );
}
const kHolders = 12;

// The peak as one bar: what is needed there, and what is not.
function PeakBar({ p }: { p: Program }) {
  const { report } = p;
  const peak = report.peaks[0];
  if (!peak) return <p class="card">This program holds no device memory at any time.</p>;
  const sums = new Map<string, number>();
  for (const live of peak.objects) {
    const i = p.place(live.id);
    sums.set(live.state, (sums.get(live.state) ?? 0) + (i < 0 ? 0 : p.size[i]!));
  }
  const after = report.savings.peak_after_all_fixes_bytes;
  const states = ['used', 'idle', 'unused', 'leaked', 'unknown'].filter((s) => (sums.get(s) ?? 0) > 0);
  return (
    <section class="peak" aria-label="The peak">
      <div class="figures">
        <div>
          <strong title={exactBytes(peak.bytes)}>{bytes(peak.bytes)}</strong> peak
          {p.capacity(p.mainDevice) > 0 && <span class="dim"> · {percent(peak.bytes, p.capacity(p.mainDevice))} of {bytes(p.capacity(p.mainDevice))}{p.devices.length > 1 ? ` of device ${p.mainDevice}` : ''}</span>}
        </div>
        <div>
          {after < peak.bytes ? (
            <>
              <strong class="good" title={exactBytes(after)}>{bytes(after)}</strong> with all fixes
              <span class="dim"> · {percent(peak.bytes - after, peak.bytes)} less</span>
            </>
          ) : (
            <span class="dim">no fix lowers the peak</span>
          )}
        </div>
        {report.lower_bound_bytes > 0 && <div class="dim">no launch touches more than {bytes(report.lower_bound_bytes)} at once</div>}
        <div class="right">
          <button onClick={() => go({ view: 'memory', at: peak.api?.index ?? null, device: null })}>Show the peak (P)</button>
        </div>
      </div>
      <div class="stack" role="img" aria-label={states.map((s) => `${bytes(sums.get(s)!)} ${kStateWords[s]}`).join(', ')}>
        {states.map((s) => (
          <span key={s} class={`state-${s}`} style={{ flexGrow: sums.get(s)! / peak.bytes }} title={`${kStateWords[s]}: ${exactBytes(sums.get(s)!)}`} />
        ))}
        {after < peak.bytes && <i style={{ left: `${(100 * after) / peak.bytes}%` }} title={`With all fixes: ${exactBytes(after)}`} />}
      </div>
      <ul class="legend">
        {states.map((s) => (
          <li key={s}>
            <span class={`swatch state-${s}`} /> {bytes(sums.get(s)!)} {kStateWords[s]}
          </li>
        ))}
      </ul>
    </section>
  );
}

function SavingText({ f }: { f: Finding }) {
  const off = weight(f);
  if (off > 0) return <span><b class="good" title={exactBytes(off)}>−{bytes(off)}</b> off the peak</span>;
  if (f.idle_at_peak_bytes > 0) return <span><b title={exactBytes(f.idle_at_peak_bytes)}>{bytes(f.idle_at_peak_bytes)}</b> not needed at the peak</span>;
  return <span class="dim">{bytes(f.wasted_bytes)} wasted, none of it at the peak</span>;
}

function SourceLine({ p, frame, what }: { p: Program; frame: Frame | null; what: string }) {
  const text = frame ? p.sourceLine(frame.file, frame.line) : null;
  return text === null ? null : <pre class="oneline"><i>{frame!.line}</i> {plain(text.trim(), 200)} <small>{what}</small></pre>;
}
// The line beside which the fix goes, where it is not that of the allocation.
function FixLine({ p, f }: { p: Program; f: Finding }) {
  const { from, to } = f.evidence;
  if (f.pattern === 'late_deallocation' && from) return <SourceLine p={p} frame={from} what="free it after this" />;
  if (f.pattern === 'early_allocation' && to) return <SourceLine p={p} frame={to} what="allocate it before this" />;
  if (f.pattern === 'temporary_idleness' && from) return <SourceLine p={p} frame={from} what="idle from here on" />;
  return null;
}

function FirstFinding({ p, at }: { p: Program; at: number }) {
  const f = p.report.findings[at]!;
  const i = p.place(f.object);
  return (
    <section class="card first" aria-label="First thing to change">
      <div>
        <p class="kicker">Change this first</p>
        <h2>
          <button class="link place" onClick={() => select(i, at)}>{p.siteText(i)}</button> <code class="name">{p.name(i)}</code>
        </h2>
        <p class="advice">{plain(f.advice, 600)}</p>
        <SourceLine p={p} frame={i < 0 ? null : p.site(i)} what="allocated here" />
        <FixLine p={p} f={f} />
        <dl class="facts">
          <div><dt>Takes off the peak</dt><dd class="good big" title={exactBytes(weight(f))}>{bytes(weight(f))}</dd></div>
          <div><dt>Idle at the peak</dt><dd title={exactBytes(f.idle_at_peak_bytes)}>{bytes(f.idle_at_peak_bytes)}</dd></div>
          <div><dt>Size</dt><dd title={exactBytes(p.size[i] ?? 0)}>{bytes(p.size[i] ?? 0)}</dd></div>
          <div><dt>Why</dt><dd><Badge f={f} /> {pattern(f.pattern).name}</dd></div>
          <div><dt>How sure</dt><dd>{f.certainty}</dd></div>
        </dl>
        {f.evidence.missing.length > 0 && <p class="dim">Not proven: {f.evidence.missing.map((m) => plain(m)).join('; ')}.</p>}
      </div>
      <FixCurve p={p} f={f} height={150} />
    </section>
  );
}

export function FixCurve({ p, f, height }: { p: Program; f: Finding; height: number }) {
  const i = p.place(f.object);
  if (i < 0) return null;
  const curve = p.curve(p.device[i]!);
  const top = curve.peak * 1.05 || 1;
  const removed = removedBy(p, f);
  return (
    <figure class="fixcurve">
      <Canvas
        height={height}
        label={`Live bytes over calls${removed ? `, and without ${bytes(removed.bytes)} in calls ${removed.from} to ${removed.to}` : ''}`}
        paint={({ g, width, height: h }) => paintCurve({ g, width, height: h, from: 0, to: p.calls, curve, top, removed, peakAt: curve.peakCall() })}
      />
      <figcaption class="dim">Live bytes by call{removed ? '; dashed: without what this fix frees' : ''}.</figcaption>
    </figure>
  );
}

export function Badge({ f }: { f: Finding }) {
  const words = pattern(f.pattern);
  return <abbr class={`badge ${f.certainty}`} title={`${words.name}: ${words.meaning}`}>{words.code}</abbr>;
}

// What all fixes of the line take off together, where the report says.
function LineSaving({ p, group }: { p: Program; group: Group }) {
  const line = group.site && p.report.lines?.find((l) => l.file === group.site!.file && l.line === group.site!.line);
  if (!line || !line.measured || line.peak_saving_bytes === 0) return null;
  return <span> · all of them <b class="good" title={exactBytes(line.peak_saving_bytes)}>−{bytes(line.peak_saving_bytes)}</b> off the peak</span>;
}

function GroupItem({ p, group }: { p: Program; group: Group }) {
  return (
    <li>
      <div class="grouphead">
        <span class="place">{group.title}</span>
        {group.site && <span class="dim"> in {plain(group.site.function, 80) || 'unknown function'}</span>}
        <span class="dim"> · {plural(group.objects, 'object')}</span>
        {group.findings.length > 1 && <LineSaving p={p} group={group} />}
      </div>
      <ul>
        {group.findings.slice(0, 20).map((at) => {
          const f = p.report.findings[at]!;
          const i = p.place(f.object);
          const current = route.value.finding === at;
          return (
            <li key={at}>
              <button class={`finding ${current ? 'current' : ''}`} aria-pressed={current} onClick={() => select(i, at)}>
                <span class="rank">{at + 1}</span>
                <Badge f={f} />
                <code class="name">{p.name(i)}</code>
                <span class="words">{plain(f.advice, 300)}</span>
                <span class="amount">
                  <SavingText f={f} />
                  {f.superseded_by !== null && <span class="dim"> · instead of {f.superseded_by + 1}</span>}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
      {group.findings.length > 20 && <p class="dim">{plural(group.findings.length - 20, 'more finding')} on this line.</p>}
    </li>
  );
}
