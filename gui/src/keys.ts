// SPDX-License-Identifier: Apache-2.0
// Every key and what it does; `?` lists this table.
import { findingsCsv, markdownOf, objectsCsv } from './model/exports';
import { shownObjects } from './model/query';
import { announcement, calls, go, helpOpen, pan, program, route, select, selected, showAll, showCalls, theme, zoom, type Theme } from './store';
import { kViewEntries } from './views';
import { svgOf } from './render/canvas';
import { save } from './views/parts';

export interface Key {
  keys: string[]; // KeyboardEvent.key
  shown: string;
  does: string;
  run: () => void;
}

export function stepFinding(by: number): void {
  const p = program.value;
  const all = p?.report.findings.length ?? 0;
  if (!p || all === 0) return;
  const now = route.value.finding;
  const next = now === null ? (by > 0 ? 0 : all - 1) : (now + by + all) % all;
  select(p.place(p.report.findings[next]!.object), next);
}
function stepObject(by: number): void {
  const p = program.value;
  if (!p || p.count === 0) return;
  const shown = shownObjects(p, route.value.query);
  if (shown.length === 0) return;
  const now = shown.indexOf(selected.value);
  select(shown[now < 0 ? 0 : (now + by + shown.length) % shown.length]!);
}
function focusSelected(): void {
  const p = program.value;
  const i = selected.value;
  if (!p || i < 0) return;
  const begin = p.begin[i]!;
  const end = p.end[i]!;
  const margin = Math.max(1, (end - begin) * 0.1);
  showCalls(begin - margin, end + margin);
}
export function nextTheme(): void {
  const order: Theme[] = ['system', 'light', 'dark'];
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length]!;
  announcement.value = `Colours: ${theme.value}`;
}
export function exportCsv(): void {
  const p = program.value;
  if (!p) return;
  if (route.value.view === 'findings') save('drgpum-findings.csv', findingsCsv(p), 'text/csv');
  else save('drgpum-objects.csv', objectsCsv(p, shownObjects(p, route.value.query)), 'text/csv');
  announcement.value = 'Saved as CSV';
}
function exportPng(): void {
  const canvas = document.querySelector<HTMLCanvasElement>('main canvas');
  canvas?.toBlob((blob) => blob && save(`drgpum-${route.value.view}.png`, blob, 'image/png'));
  announcement.value = canvas ? 'Saved as PNG' : 'This view has no drawing';
}
function exportSvg(): void {
  const canvas = document.querySelector<HTMLCanvasElement>('main canvas:not(.plain)');
  const svg = canvas && svgOf(canvas);
  if (svg) save(`drgpum-${route.value.view}.svg`, svg, 'image/svg+xml');
  announcement.value = svg ? 'Saved as SVG' : 'This view has no drawing';
}
function copyMarkdown(): void {
  const p = program.value;
  const at = route.value.finding ?? p?.findingsOf.get(selected.value)?.[0] ?? 0;
  if (!p || !p.report.findings[at]) return;
  void navigator.clipboard?.writeText(markdownOf(p, at)).then(
    () => (announcement.value = 'Copied as Markdown'),
    () => (announcement.value = 'The browser does not allow copying here'),
  );
}
function clickKey(key: string): void {
  document.querySelector<HTMLElement>(`main [data-key="${key}"]`)?.click();
}

function toggleAcross(): void {
  if (!program.value?.clock) announcement.value = 'This report has no device times';
  else go({ across: route.value.across === 'time' ? 'calls' : 'time' });
}

export const kKeys: Key[] = [
  ...kViewEntries.map((v) => ({ keys: [v.key], shown: v.key.toUpperCase(), does: `Show ${v.name}`, run: () => go({ view: v.view }) })),
  { keys: ['n'], shown: 'N', does: 'Next finding', run: () => stepFinding(1) },
  { keys: ['N'], shown: 'Shift+N', does: 'Previous finding', run: () => stepFinding(-1) },
  { keys: ['.'], shown: '.', does: 'Next object', run: () => stepObject(1) },
  { keys: [','], shown: ',', does: 'Previous object', run: () => stepObject(-1) },
  { keys: ['p'], shown: 'P', does: 'Show the peak', run: () => go({ view: 'memory', at: program.value?.report.peaks[0]?.api?.index ?? null, device: null }) },
  { keys: ['w'], shown: 'W', does: 'Zoom in', run: () => zoom(0.6) },
  { keys: ['s'], shown: 'S', does: 'Zoom out', run: () => zoom(1 / 0.6) },
  { keys: ['a'], shown: 'A', does: 'Pan left', run: () => pan(-0.2) },
  { keys: ['d'], shown: 'D', does: 'Pan right', run: () => pan(0.2) },
  { keys: ['f'], shown: 'F', does: 'Zoom to the selected object', run: focusSelected },
  { keys: ['0'], shown: '0', does: 'Show all, not zoomed', run: showAll },
  { keys: ['ArrowLeft'], shown: '←', does: 'Move the cursor a call back', run: () => moveCursor(-1) },
  { keys: ['ArrowRight'], shown: '→', does: 'Move the cursor a call on', run: () => moveCursor(1) },
  { keys: ['x'], shown: 'X', does: 'Across: calls or device time', run: toggleAcross },
  { keys: ['['], shown: '[', does: 'Lower rows (Objects)', run: () => clickKey('[') },
  { keys: [']'], shown: ']', does: 'Higher rows (Objects)', run: () => clickKey(']') },
  { keys: ['/'], shown: '/', does: 'Filter', run: () => document.getElementById('query')?.focus() },
  { keys: ['m'], shown: 'M', does: 'Copy the finding as Markdown', run: copyMarkdown },
  { keys: ['e'], shown: 'E', does: 'Save the table as CSV', run: exportCsv },
  { keys: ['g'], shown: 'G', does: 'Save the drawing as PNG', run: exportPng },
  { keys: ['v'], shown: 'V', does: 'Save the drawing as SVG', run: exportSvg },
  { keys: ['t'], shown: 'T', does: 'Colours: system, light, dark', run: nextTheme },
  { keys: ['?'], shown: '?', does: 'This list', run: () => (helpOpen.value = !helpOpen.value) },
  { keys: ['Escape'], shown: 'Esc', does: 'Close, or select nothing', run: () => (helpOpen.value ? (helpOpen.value = false) : go({ object: null, finding: null })) },
];

function moveCursor(by: number): void {
  const p = program.value;
  if (!p) return;
  const [from, to] = calls.value;
  const now = route.value.at ?? Math.round(by > 0 ? from - 1 : to);
  go({ at: Math.min(p.calls - 1, Math.max(0, now + by)) }, false);
}

export function listen(): void {
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    const typing = target.matches('input, select, textarea');
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (typing) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (event.key.startsWith('Arrow') && target.matches('[role=grid], [role=tab], pre')) return;
    const key = kKeys.find((k) => k.keys.includes(event.key));
    if (!key || !program.value) return;
    event.preventDefault();
    key.run();
  });
}
