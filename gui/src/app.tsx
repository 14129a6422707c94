// SPDX-License-Identifier: Apache-2.0
// The page: a bar of views, the view, the selected object, and what to say when there is nothing to show.
import { fromFile } from './model/load';
import { count, plain } from './model/words';
import { announcement, compareWith, dropped, failure, fleet, go, helpOpen, loading, open, plan, program, programs, route, selected, theme } from './store';
import { kKeys, nextTheme } from './keys';
import notices from 'virtual:notices';
import { kViewEntries } from './views';
import { cancelAll } from './work/client';
import { Detail } from './views/detail';

export async function take(file: File): Promise<void> {
  const what = `Reading ${plain(file.name, 80)}`;
  loading.value = { what, done: 0, all: 0 };
  failure.value = null;
  try {
    const loaded = await fromFile(file, (done, all) => (loading.value = { what, done, all }));
    if (program.value && loaded.kind === 'report') dropped.value = { name: file.name, loaded };
    else open(loaded);
  } catch (error) {
    failure.value = error instanceof Error ? error.message : String(error);
  } finally {
    loading.value = null;
  }
}

export function App() {
  const p = program.value;
  const entry = kViewEntries.find((v) => v.view === route.value.view) ?? kViewEntries[0]!;
  const Show = entry.show;
  const canShow = p !== null || (plan.value !== null && entry.view === 'plan');
  return (
    <div
      class="page"
      data-theme={theme.value}
      onDragOver={(e) => e.preventDefault()}
      onDrop={(e) => {
        e.preventDefault();
        const file = e.dataTransfer?.files[0];
        if (file) void take(file);
      }}
    >
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById('main')?.focus(); }}>Skip to the view</a>
      <header>
        <h1>drgpum</h1>
        {p && <span class="what" title={p.title}><code>{p.title}</code></span>}
        {p && <span class="dim">{plain(p.report.device.name, 60)}</span>}
        {programs.value.length > 1 && (
          <label>Program{' '}
            <select value={String(route.value.rank)} onChange={(e) => go({ rank: Number(e.currentTarget.value), object: null, finding: null, from: 0, to: 0, at: null })}>
              {programs.value.map((q, k) => <option key={k} value={String(k)}>{q.report.program.rank ? `rank ${plain(q.report.program.rank)}` : plain(q.report.trace ?? `program ${k}`, 60)}</option>)}
            </select>
          </label>
        )}
        <span class="spring" />
        <label class="opener">Open…<input type="file" accept=".json,.html,.gz,application/json,text/html" onChange={(e) => { const file = e.currentTarget.files?.[0]; if (file) void take(file); e.currentTarget.value = ''; }} /></label>
        <button onClick={nextTheme}>Colours: {theme.value}</button>
        <button onClick={() => (helpOpen.value = true)} aria-haspopup="dialog">Keys (?)</button>
      </header>
      {canShow && (
        <nav aria-label="Views">
          {kViewEntries.map((v) => (
            <button key={v.view} aria-current={v.view === entry.view ? 'page' : undefined} onClick={() => go({ view: v.view })}>
              <kbd aria-hidden="true">{v.key.toUpperCase()}</kbd> {v.name}
            </button>
          ))}
        </nav>
      )}
      <Notices />
      <div class={`body ${selected.value >= 0 ? 'withdetail' : ''}`}>
        <main id="main" tabIndex={0} aria-label={entry.name} data-view={entry.view}>{canShow ? <Show /> : loading.value === null && <Welcome />}</main>
        <Detail />
      </div>
      <div class="live" role="status" aria-live="polite">{announcement.value || announce()}</div>
      {helpOpen.value && <Help />}
      {dropped.value && <OpenOrCompare />}
    </div>
  );
}

function announce(): string {
  const p = program.value;
  const i = selected.value;
  return p && i >= 0 ? `Selected ${p.name(i)}, ${p.siteText(i)}` : '';
}

function Notices() {
  const p = program.value;
  const { report } = p ?? {};
  // Where the page has it from lifetimes; of many objects from drgpum itself.
  const exact = p && !p.isLarge && p.report.peaks[0] ? p.curve(p.mainDevice).peak : p?.peakBytes ?? 0;
  return (
    <section aria-label="Notices">
      {loading.value !== null && <Loading />}
      {failure.value !== null && <p class="notice bad" role="alert">{plain(failure.value, 600)} <button onClick={() => (failure.value = null)}>Close</button></p>}
      {report && !report.complete && <p class="notice warn">This recording ends early: {plain(report.incomplete_because || 'unknown reason')}. What is shown is right as far as it goes.</p>}
      {report && report.coverage.length > 0 && <p class="notice warn">Not everything was seen. <button class="link" onClick={() => go({ view: 'quality' })}>Capture quality</button> says what.</p>}
      {report?.failed_allocations && report.failed_allocations.length > 0 && <p class="notice bad">An allocation failed. <button class="link" onClick={() => go({ view: 'memory', at: report.failed_allocations![0]!.api?.index ?? null })}>What was live then</button></p>}
      {p?.isThinned && <p class="notice warn">This page carries {count(p.count)} of {count(p.totalObjects)} objects: those that findings and the peak name, then the largest by bytes × calls. The curve and the peak count all of them.</p>}
      {p && p.count === p.totalObjects && exact !== p.peakBytes && p.peakBytes > 0 && <p class="notice warn">The curve is drawn from lifetimes in this report and its highest point is {count(exact)} bytes; the recorded peak is {count(p.peakBytes)} bytes.</p>}
    </section>
  );
}

function Loading() {
  const { what, done, all } = loading.value!;
  return (
    <div class="notice bar" role="status">
      <span>{what}…</span>
      {all > 1 && <progress aria-label={what} value={done} max={all} />}
      <button onClick={cancelAll}>Cancel</button>
    </div>
  );
}

function Welcome() {
  return (
    <section class="card welcome">
      <h2>Open a report</h2>
      <p>Drop a file here, or use Open. This page reads what these commands write; nothing leaves your machine.</p>
      <pre tabIndex={0} aria-label="Commands">{`drgpum report app.drgp --format json -o report.json
drgpum report app.drgp --format html -o report.html
drgpum plan app.drgp --format json -o plan.json`}</pre>
    </section>
  );
}

function Help() {
  return (
    <dialog open class="help" aria-label="Keys">
      <div class="bar"><h2>Keys</h2><button autoFocus onClick={() => (helpOpen.value = false)}>Close (Esc)</button></div>
      <table>
        <tbody>{kKeys.map((k) => <tr key={k.shown}><th scope="row"><kbd>{k.shown}</kbd></th><td>{k.does}</td></tr>)}</tbody>
      </table>
      <p class="dim">In drawings: drag zooms, Shift+drag pans, Ctrl+wheel zooms, double-click shows all. Browser back and forward go through what you looked at.</p>
      <details>
        <summary>Third-party notices</summary>
        {notices.map((n) => <div key={n.name}><h3>{n.name} {n.version}, {n.licence}</h3><pre tabIndex={0} aria-label={`Licence of ${n.name}`}>{n.text}</pre></div>)}
      </details>
    </dialog>
  );
}

function OpenOrCompare() {
  const { name, loaded } = dropped.value!;
  const then = (action: () => void) => () => {
    dropped.value = null;
    action();
  };
  return (
    <dialog open class="ask" aria-label="Open or compare">
      <h2>{plain(name, 80)}</h2>
      <p>There is a report open already.</p>
      <button autoFocus onClick={then(() => compareWith(loaded, name))}>Compare with it</button>
      <button onClick={then(() => open(loaded))}>Open it instead</button>
      <button onClick={then(() => undefined)}>Cancel</button>
      {fleet.value && <p class="dim">Compared with the program shown.</p>}
    </dialog>
  );
}
