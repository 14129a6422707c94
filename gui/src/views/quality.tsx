// SPDX-License-Identifier: Apache-2.0
// What the recording did not see, so that no one takes silence for proof.
import { count, plain, plural } from '../model/words';
import { program } from '../store';

export function QualityView() {
  const { report } = program.value!;
  const whole = report.complete && report.coverage.length === 0;
  return (
    <div>
      <section class="card">
        <h2>{whole ? 'The recording is complete' : report.complete ? 'The recording has gaps' : 'The recording is not complete'}</h2>
        <p>
          {plural(report.api_count ?? 0, 'call')}, {plural(report.launch_count ?? 0, 'launch').replace('launchs', 'launches')} of them, recorded in mode “{plain(report.mode ?? 'unknown')}” on {plain(report.device.name)} ({plain(report.device.kind)}); rules “{plain(report.rules ?? 'strict')}”, level “{plain(report.level ?? 'allocation')}”.
        </p>
        {!report.complete && <p class="bad">It ends early: {plain(report.incomplete_because ?? 'unknown reason')}. Findings that need the end are marked possible.</p>}
        <p>The program {report.program.exit_code === null ? 'did not tell its exit code' : `ended with code ${report.program.exit_code}`}.</p>
      </section>
      <section class="card">
        <h2>Not seen</h2>
        {report.coverage.length === 0 ? (
          <p>Nothing is known to be missing.</p>
        ) : (
          <table>
            <thead><tr><th>What</th><th>Times</th><th>Details</th></tr></thead>
            <tbody>
              {report.coverage.map((gap, k) => (
                <tr key={k}><td>{plain(gap.kind)}</td><td class="number">{count(gap.count)}</td><td>{plain(gap.text, 400)}</td></tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      {(report.suppressed ?? []).length > 0 && (
        <section class="card">
          <h2>Suppressed findings</h2>
          <table>
            <thead><tr><th>Pattern</th><th>Site</th><th>Reason</th><th>Findings</th></tr></thead>
            <tbody>
              {report.suppressed!.map((s, k) => (
                <tr key={k}><td>{plain(s.pattern)}</td><td>{plain(s.site)}</td><td>{plain(s.reason)}</td><td class="number">{count(s.count)}</td></tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </div>
  );
}
