// SPDX-License-Identifier: Apache-2.0
// The filter line of lists: words that must all occur in name or place, and `size>1MiB`, `pattern:EA`, `kind:pinned`,
// `at:120` (alive at a call), `live:peak`.
import type { Program } from './program';
import { pattern, place, plain } from './words';

const kScale: Record<string, number> = { '': 1, b: 1, k: 1024, kib: 1024, m: 1048576, mib: 1048576, g: 1073741824, gib: 1073741824 };

export function sizeOf(text: string): number | null {
  const match = /^([0-9.]+)\s*([a-z]*)$/i.exec(text.trim());
  const scale = match ? kScale[match[2]!.toLowerCase()] : undefined;
  return match && scale !== undefined ? Number(match[1]) * scale : null;
}

type Test = (i: number) => boolean;

export function compileQuery(p: Program, query: string): Test | null {
  const tests: Test[] = [];
  for (const word of query.trim().split(/\s+/)) {
    if (word === '') continue;
    const compare = /^size([<>])(.+)$/i.exec(word);
    const size = compare ? sizeOf(compare[2]!) : null;
    const [key, value] = word.split(':', 2) as [string, string | undefined];
    if (compare && size !== null) tests.push(compare[1] === '>' ? (i) => p.size[i]! > size : (i) => p.size[i]! < size);
    else if (key === 'pattern' && value) tests.push((i) => hasPattern(p, i, value));
    else if (key === 'kind' && value) tests.push((i) => p.kinds[p.kind[i]!] === value);
    else if (key === 'at' && value) tests.push((i) => p.begin[i]! <= Number(value) && Number(value) < p.end[i]!);
    else if (key === 'live' && value === 'peak') tests.push((i) => p.stateAtPeak.has(i));
    else if (key === 'finding' && value === 'yes') tests.push((i) => p.findingsOf.has(i));
    else tests.push(textTest(p, word.toLowerCase()));
  }
  return tests.length === 0 ? null : (i) => tests.every((t) => t(i));
}

// Names and lines repeat: each is compared once.
function textTest(p: Program, word: string): Test {
  const inName = p.names.map((name) => plain(name, 80).toLowerCase().includes(word));
  const inPath = p.paths.map((_, path) => {
    const site = p.siteOfPath(path);
    return site !== null && place(site.file, site.line).toLowerCase().includes(word);
  });
  return (i) => inName[p.nameAt[i]!]! || (p.knowsSites && p.pathAt[i]! >= 0 ? inPath[p.pathAt[i]!]! : p.siteText(i).toLowerCase().includes(word)) || (p.rawName(i) === '' && p.name(i).includes(word));
}

function hasPattern(p: Program, i: number, wanted: string): boolean {
  return (p.findingsOf.get(i) ?? []).some((f) => {
    const name = p.report.findings[f]!.pattern;
    return name === wanted || pattern(name).code.toLowerCase() === wanted.toLowerCase();
  });
}

export function shownObjects(p: Program, query: string): Uint32Array {
  const test = compileQuery(p, query);
  const all = new Uint32Array(p.count);
  let n = 0;
  for (let i = 0; i < p.count; i++) if (!test || test(i)) all[n++] = i;
  return all.slice(0, n);
}
