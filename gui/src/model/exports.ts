// SPDX-License-Identifier: Apache-2.0
// What leaves the page: a finding as Markdown, tables as CSV.
import { weight, type Program } from './program';
import { bytes, exactBytes, pattern } from './words';

export function markdownOf(p: Program, at: number): string {
  const f = p.report.findings[at]!;
  const i = p.place(f.object);
  const code = (text: string): string => '`' + text.replaceAll('`', "'") + '`';
  const lines = [
    `### ${pattern(f.pattern).name}: ${code(p.name(i))} at ${code(p.siteText(i))}`,
    '',
    f.advice.replace(/[<>&]/g, (c) => ({ '<': '&lt;', '>': '&gt;', '&': '&amp;' })[c]!),
    '',
    `- takes ${exactBytes(weight(f))} off the peak of ${bytes(p.peakBytes)}`,
    `- size ${exactBytes(p.size[i] ?? 0)}, idle at the peak ${exactBytes(f.idle_at_peak_bytes)}`,
    `- ${f.certainty}${f.evidence.missing.length > 0 ? `: ${f.evidence.missing.join('; ')}` : ''}`,
  ];
  return lines.join('\n') + '\n';
}

// A cell that starts like a formula gets a quote in front, so that no spreadsheet runs it.
function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
function csv(rows: (string | number)[][]): string {
  return rows.map((row) => row.map(cell).join(',') + '\r\n').join('');
}

export function objectsCsv(p: Program, shown: Uint32Array): string {
  const rows: (string | number)[][] = [['id', 'name', 'bytes', 'kind', 'device', 'site', 'allocated_at_call', 'first_use', 'last_use', 'freed_at_call']];
  for (const i of shown)
    rows.push([p.id[i]!, p.rawName(i), p.size[i]!, p.kinds[p.kind[i]!] ?? '', p.device[i]!, p.siteText(i), p.begin[i]!, p.first[i]! < 0 ? '' : p.first[i]!, p.last[i]! < 0 ? '' : p.last[i]!, p.freed[i] ? p.end[i]! : '']);
  return csv(rows);
}
export function findingsCsv(p: Program): string {
  const rows: (string | number)[][] = [['rank', 'pattern', 'object', 'name', 'site', 'certainty', 'peak_saving_bytes', 'joint_saving_bytes', 'idle_at_peak_bytes', 'wasted_bytes', 'advice']];
  p.report.findings.forEach((f, at) => {
    const i = p.place(f.object);
    rows.push([at + 1, f.pattern, f.object, i < 0 ? '' : p.rawName(i), p.siteText(i), f.certainty, f.peak_saving_bytes, f.joint_saving_bytes, f.idle_at_peak_bytes, f.wasted_bytes, f.advice]);
  });
  return csv(rows);
}
