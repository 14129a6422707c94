// SPDX-License-Identifier: Apache-2.0
// Small parts that several views share.
import type { ComponentChildren } from 'preact';
import { go, route } from '../store';

let typing = 0;
export function QueryBox() {
  return (
    <label class="query">
      <span>Filter</span>
      <input
        id="query"
        type="search"
        value={route.value.query}
        placeholder="main.cu size>1MiB pattern:EA live:peak"
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
