// SPDX-License-Identifier: Apache-2.0
// The application's one state: what is open, what is selected, what is on the screen.
import { computed, signal } from '@preact/signals';
import { callOf, shareOf, type Clock } from './model/clock';
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

// The device whose memory is shown.
export const device = computed<number>(() => {
  const p = program.value;
  const asked = route.value.device;
  return p ? (asked !== null && p.devices.includes(asked) ? asked : p.mainDevice) : 0;
});
// The clock that drawings go by; null: the order of issue.
const kByTime: View[] = ['memory', 'objects'];
export const clock = computed<Clock | null>(() => (route.value.across === 'time' && kByTime.includes(view.value) ? program.value?.clock ?? null : null));

// API order by level or time has a window of its own, in [0, extent); null where calls are across the screen.
export const orderExtent = signal(0);
const ownWindow = computed<[number, number] | null>(() => {
  const { view: shown, metric, low, high } = route.value;
  const extent = orderExtent.value;
  if (shown !== 'order' || metric === 'ordinal' || extent === 0) return null;
  return high > low && low < extent ? [low, Math.min(high, extent)] : [0, extent];
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
function showSoon(change: Partial<Route>): void {
  route.value = { ...route.value, ...change };
  clearTimeout(pendingWindow);
  pendingWindow = window.setTimeout(() => history.replaceState(null, '', routeText(route.value)), 200);
}
// [from, to) moved and narrowed into [0, all); null: that is all.
function within(from: number, to: number, all: number): [number, number] | null {
  const width = Math.min(all, Math.max(1, to - from));
  const a = Math.min(Math.max(0, from), all - width);
  return width >= all ? null : [a, a + width];
}
export function showCalls(from: number, to: number): void {
  const window = within(from, to, Math.max(1, program.value?.calls ?? 1)) ?? [0, 0];
  showSoon({ from: window[0], to: window[1] });
}
export function showOrder(low: number, high: number): void {
  const window = within(low, high, Math.max(1, orderExtent.value)) ?? [0, 0];
  showSoon({ low: window[0], high: window[1] });
}
export function showAll(): void {
  if (ownWindow.value) showSoon({ low: 0, high: 0 });
  else showSoon({ from: 0, to: 0 });
}

// Calls by a share of what is across the screen, from its left edge.
function showShares(left: number, right: number): void {
  const [from, to] = ownWindow.value ?? calls.value;
  if (ownWindow.value) return showOrder(from + left * (to - from), from + right * (to - from));
  const ticking = clock.value;
  if (!ticking) return showCalls(from + left * (to - from), from + right * (to - from));
  const [a, b] = [ticking.timeAt(from), ticking.timeAt(to)];
  const all = ticking.timeAt(program.value!.calls);
  const width = Math.min(all, (right - left) * (b - a));
  const start = Math.min(Math.max(0, a + left * (b - a)), all - width);
  showCalls(ticking.callAt(start), width >= all ? program.value!.calls : ticking.callAt(start + width));
}
// `around`: what stays where it is; a call, or a level or time of API order.
export function zoom(factor: number, around?: number): void {
  const own = ownWindow.value;
  const [a, b] = own ?? calls.value;
  if (own) {
    const share = around === undefined ? 0.5 : (around - a) / (b - a);
    return showShares(share - share * factor, share + (1 - share) * factor);
  }
  const middle = around ?? route.value.at ?? (clock.value ? callOf({ from: a, to: b, clock: clock.value }, 0.5) : (a + b) / 2);
  const share = shareOf({ from: a, to: b, clock: clock.value }, Math.min(Math.max(middle, a), b));
  showShares(share - share * factor, share + (1 - share) * factor);
}
export function pan(share: number): void {
  showShares(share, 1 + share);
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
