// SPDX-License-Identifier: Apache-2.0
// Small parts that several views share.
import type { ComponentChildren } from 'preact';
import { duration } from '../model/clock';
import type { Program } from '../model/program';
import { count } from '../model/words';
import { calls, clock, device, go, route } from '../store';

let typing = 0;
export function QueryBox() {
  return (
    <label class="query">
      <span>Filter</span>
      <input
        id="query"
        type="search"
        value={route.value.query}
        placeholder="main.cu size>1MiB live:peak"
        spellcheck={false}
        onInput={(e) => {
          const text = e.currentTarget.value;
          clearTimeout(typing);
          typing = window.setTimeout(() => go({ query: text }, false), 120);
        }}
      />
    </label>
  );
}

// A view whose data this report does not carry.
export function Absent({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card absent">
      <h2>{title}</h2>
      <p>{children}</p>
    </section>
  );
}

export function save(name: string, content: BlobPart, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Which device's memory is shown; nothing to choose where there is one.
export function DeviceChoice({ p }: { p: Program }) {
  if (p.devices.length < 2) return null;
  return <label>Device <select value={String(device.value)} onChange={(e) => go({ device: Number(e.currentTarget.value) })}>{p.devices.map((d) => <option key={d} value={String(d)}>{d}: {p.deviceName(d)}</option>)}</select></label>;
}
// What lies across: calls, or the device's time where the report has it.
export function AcrossChoice({ p }: { p: Program }) {
  if (!p.clock) return null;
  return <label>Across <select value={route.value.across} onChange={(e) => go({ across: e.currentTarget.value === 'time' ? 'time' : 'calls' })}><option value="calls">calls, as issued</option><option value="time">device time</option></select></label>;
}
export function WindowText({ p }: { p: Program }) {
  const [from, to] = calls.value;
  const time = clock.value;
  return <span class="dim">{time ? `${duration(time.timeAt(from))} to ${duration(time.timeAt(to))} of ${duration(time.end)}, ` : ''}calls {count(Math.round(from))} to {count(Math.round(to))} of {count(p.calls)}</span>;
}
