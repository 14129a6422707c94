// SPDX-License-Identifier: Apache-2.0
// The application's one state: what is open, what is selected, what is on the screen.
import { computed, signal } from '@preact/signals';
import { isPrograms, type Loaded } from './model/load';
import { Program } from './model/program';
import type { Plan, Programs } from './model/report';
import { kStart, parseRoute, routeText, type Route, type View } from './model/route';

export const loading = signal<{ what: string; done: number; all: number } | null>(null); // all 0: not known
export const failure = signal<string | null>(null);
export const programs = signal<Program[]>([]);
export const fleet = signal<Programs | null>(null); // of several traces
export const baseline = signal<Program | null>(null); // what Diff compares with
export const baselineName = signal('');
export const plan = signal<Plan | null>(null);
export const dropped = signal<{ name: string; loaded: Loaded } | null>(null); // waits for: open or compare?
export const helpOpen = signal(false);
export const announcement = signal('');
export const hovered = signal(-1); // object's place
export type Theme = 'system' | 'light' | 'dark';
export const theme = signal<Theme>('system');
export const route = signal<Route>(parseRoute(location.hash));

export const program = computed<Program | null>(() => programs.value[route.value.rank] ?? programs.value[0] ?? null);
export const selected = computed<number>(() => {
  const id = route.value.object;
  return id === null || !program.value ? -1 : program.value.place(id);
});
export const view = computed<View>(() => route.value.view);
// The calls on the screen, [from, to).
export const calls = computed<[number, number]>(() => {
  const all = Math.max(1, program.value?.calls ?? 1);
  const { from, to } = route.value;
  return to > from && from < all ? [from, Math.min(to, all)] : [0, all];
});

// `step`: a place to come back to; without it the present entry of the history changes.
export function go(change: Partial<Route>, step = true): void {
  const next = { ...route.value, ...change };
  const text = routeText(next);
  if (text === routeText(route.value)) return;
  route.value = next;
  if (step) history.pushState(null, '', text);
  else history.replaceState(null, '', text);
}
window.addEventListener('popstate', () => (route.value = parseRoute(location.hash)));
window.addEventListener('hashchange', () => (route.value = parseRoute(location.hash)));

export function select(place: number, finding: number | null = null): void {
  const p = program.value;
  if (!p || place < 0) return go({ object: null, finding: null });
  go({ object: p.id[place]!, finding });
}

let pendingWindow = 0;
export function showCalls(from: number, to: number): void {
  const all = Math.max(1, program.value?.calls ?? 1);
  const width = Math.min(all, Math.max(1, to - from));
  const a = Math.min(Math.max(0, from), all - width);
  const next = width >= all ? { from: 0, to: 0 } : { from: a, to: a + width };
  route.value = { ...route.value, ...next };
  clearTimeout(pendingWindow);
  pendingWindow = window.setTimeout(() => history.replaceState(null, '', routeText(route.value)), 200);
}

export function zoom(factor: number, around?: number): void {
  const [a, b] = calls.value;
  const middle = around ?? route.value.at ?? (a + b) / 2;
  const keep = Math.min(Math.max(middle, a), b);
  showCalls(keep - (keep - a) * factor, keep + (b - keep) * factor);
}
export function pan(share: number): void {
  const [a, b] = calls.value;
  showCalls(a + (b - a) * share, b + (b - a) * share);
}

export function open(loaded: Loaded, keepPlace = false): void {
  failure.value = null;
  if (loaded.kind === 'plan') {
    plan.value = loaded.plan;
    return go({ view: 'plan' });
  }
  const { report } = loaded;
  const worst = isPrograms(report) ? report.worst ?? 0 : 0;
  programs.value = (isPrograms(report) ? report.programs : [report]).map((r, k) => new Program(r, loaded.held ? k : null));
  fleet.value = isPrograms(report) ? report : null;
  if (!keepPlace) go({ ...kStart, rank: worst });
}
export function compareWith(loaded: Loaded, name: string): void {
  if (loaded.kind === 'plan') return open(loaded);
  baseline.value = new Program(isPrograms(loaded.report) ? loaded.report.programs[0]! : loaded.report);
  baselineName.value = name;
  go({ view: 'diff' });
}
