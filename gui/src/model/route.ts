// SPDX-License-Identifier: Apache-2.0
// What is on the screen, as the URL's fragment says it: a link shows the same again.
import { kSortKeys, type SortKey } from './lanes';

export const kViews = ['findings', 'memory', 'objects', 'plan', 'order', 'stacks', 'inside', 'addresses', 'diff', 'ranks', 'quality'] as const;
export type View = (typeof kViews)[number];

export interface Route {
  view: View;
  rank: number; // place in `programs`
  object: number | null; // its id
  finding: number | null; // its place
  from: number; // window of calls [from, to); to 0: all
  to: number;
  low: number; // window [low, high) of API order, in its levels or ns; high 0: all
  high: number;
  at: number | null; // cursor, a call
  sort: SortKey;
  query: string;
  metric: string;
  device: number | null; // its number; null: that of the highest peak
  across: Axis;
}
export const kAxes = ['calls', 'time'] as const;
export type Axis = (typeof kAxes)[number]; // order of issue, or the device's time
export const kStart: Route = { view: 'findings', rank: 0, object: null, finding: null, from: 0, to: 0, low: 0, high: 0, at: null, sort: 'size', query: '', metric: 'peak', device: null, across: 'calls' };

export function parseRoute(hash: string): Route {
  const q = new URLSearchParams(hash.replace(/^#/, ''));
  const whole = (key: string): number | null => {
    const text = q.get(key);
    return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
  };
  const one = <T extends string>(all: readonly T[], key: string, or: T): T => all.find((v) => v === q.get(key)) ?? or;
  return {
    view: one(kViews, 'view', kStart.view),
    rank: whole('rank') ?? 0,
    object: whole('object'),
    finding: whole('finding'),
    from: whole('from') ?? 0,
    to: whole('to') ?? 0,
    low: whole('low') ?? 0,
    high: whole('high') ?? 0,
    at: whole('at'),
    sort: one(kSortKeys, 'sort', kStart.sort),
    query: (q.get('q') ?? '').slice(0, 500),
    metric: (q.get('metric') ?? kStart.metric).slice(0, 20),
    device: whole('device'),
    across: one(kAxes, 'across', kStart.across),
  };
}

export function routeText(r: Route): string {
  const q = new URLSearchParams({ view: r.view });
  const add = (key: string, value: number | null | string, none: number | null | string): void => {
    if (value !== none) q.set(key, String(value));
  };
  add('rank', r.rank, 0);
  add('object', r.object, null);
  add('finding', r.finding, null);
  add('from', Math.round(r.from), 0);
  add('to', Math.round(r.to), 0);
  add('low', Math.round(r.low), 0);
  add('high', Math.round(r.high), 0);
  add('at', r.at, null);
  add('sort', r.sort, kStart.sort);
  add('q', r.query, '');
  add('metric', r.metric, kStart.metric);
  add('device', r.device, null);
  add('across', r.across, kStart.across);
  return `#${q.toString()}`;
}
