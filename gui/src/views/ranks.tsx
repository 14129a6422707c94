// SPDX-License-Identifier: Apache-2.0
// Several programs side by side: the ranks of one run.
import { bytes, count, exactBytes, percent, plain } from '../model/words';
import { fleet, go, programs, route } from '../store';
import { Absent } from './parts';

export function RanksView() {
  const all = programs.value;
  if (all.length < 2) return <Absent title="Ranks">This report is about one program. Several traces give one row each: drgpum view rank0.drgp rank1.drgp …</Absent>;
  const highest = Math.max(1, ...all.map((p) => p.peakBytes));
  const sites = fleet.value?.differing_sites ?? [];
  return (
    <div>
      <section class="card">
        <h2>{count(all.length)} programs</h2>
        <table>
          <thead><tr><th>Program</th><th>Peak</th><th><span class="dim">of the highest</span></th><th>With all fixes</th><th>Findings</th><th>Recording</th></tr></thead>
          <tbody>
            {all.map((p, k) => (
              <tr key={k} class={k === route.value.rank ? 'current' : ''}>
                <td><button class="link" onClick={() => go({ rank: k, view: 'findings', object: null, finding: null, from: 0, to: 0, at: null })}>{p.report.program.rank ? `rank ${plain(p.report.program.rank)}` : plain(p.report.trace ?? `program ${k}`, 80)}</button></td>
                <td class="number" title={exactBytes(p.peakBytes)}>{bytes(p.peakBytes)}</td>
                <td><span class="meter" title={percent(p.peakBytes, highest)}><i style={{ width: `${(100 * p.peakBytes) / highest}%` }} /></span></td>
                <td class="number">{bytes(p.report.savings.peak_after_all_fixes_bytes)}</td>
                <td class="number">{count(p.report.findings.length)}</td>
                <td>{p.report.complete ? 'complete' : 'ends early'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {sites.length > 0 && (
        <section class="card">
          <h2>Lines where they differ</h2>
          <table>
            <thead><tr><th>Line</th>{all.map((p, k) => <th key={k}>{p.report.program.rank ? `rank ${plain(p.report.program.rank)}` : `program ${k}`}</th>)}</tr></thead>
            <tbody>{sites.slice(0, 100).map((s) => <tr key={s.site}><td>{plain(s.site)}</td>{s.bytes.map((b, k) => <td key={k} class="number">{bytes(b)}</td>)}</tr>)}</tbody>
          </table>
        </section>
      )}
    </div>
  );
}
