// SPDX-License-Identifier: Apache-2.0
// Takes a report or a plan from the page, a file or the server, and says plainly what is wrong with it.
import { ask } from '../work/client';
import type { Source } from '../work/messages';
import type { Plan, Programs, Report } from './report';

export const kVersion = 1;
export type Loaded = { kind: 'report'; report: Report | Programs; held: boolean } | { kind: 'plan'; plan: Plan };
export type Progress = (done: number, all: number) => void;

export function isPrograms(report: Report | Programs): report is Programs {
  return 'programs' in report;
}

// What a page that drgpum wrote carries: text, or pieces for the worker; null when this is the bare application.
export function embedded(document: Document): { text: string } | { source: Source } | null {
  const element = document.getElementById('drgpum-report');
  const pieces = element?.getAttribute('data-pieces');
  if (pieces) return { source: { kind: 'urls', urls: Array.from({ length: Number(pieces) }, (_, k) => new URL(`pieces/${k}`, location.href).href) } };
  const text = element?.textContent ?? '';
  if (text.trim() === '') return null;
  return element!.getAttribute('type') === 'application/json' ? { text } : { source: { kind: 'inline', base64: text } };
}
export async function take(found: { text: string } | { source: Source }, progress?: Progress): Promise<Loaded> {
  return 'text' in found ? understand(found.text) : check(await ask<unknown>({ ask: 'load', source: found.source }, progress), true);
}

export function understand(text: string): Loaded {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('This is not JSON. The page opens what `drgpum report --format json`, `drgpum report --format html` and `drgpum plan --format json` write.');
  }
  return check(value, false);
}

// `held`: the worker keeps its columns.
export function check(value: unknown, held: boolean): Loaded {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('This JSON is not a report: its outermost value is no object.');
  const it = value as Record<string, unknown>;
  if ('footprint_bytes' in it && Array.isArray(it['objects'])) return { kind: 'plan', plan: it as unknown as Plan };
  if (typeof it['version'] !== 'number') throw new Error('This JSON is not a drgpum report: it has no `version`.');
  if (it['version'] > kVersion)
    throw new Error(`This report has version ${it['version']}; this page knows version ${kVersion}. Open it with the drgpum that wrote it.`);
  const reports = Array.isArray(it['programs']) ? (it['programs'] as Record<string, unknown>[]) : [it];
  if (reports.length === 0) throw new Error('This report holds no program.');
  for (const report of reports)
    for (const member of ['program', 'device', 'coverage', 'peaks', 'objects', 'findings', 'savings'])
      if (typeof report[member] !== 'object' || report[member] === null) throw new Error(`This report is damaged: \`${member}\` is missing.`);
  return { kind: 'report', report: it as unknown as Report | Programs, held };
}

const kTraceMagic = 'DRGP';

export async function fromFile(file: File, progress?: Progress): Promise<Loaded> {
  const head = new Uint8Array(await file.slice(0, 512).arrayBuffer());
  const magic = String.fromCharCode(...head.slice(0, 4));
  if (magic.toUpperCase().startsWith(kTraceMagic)) throw new Error(`${file.name} is a trace. Open it with: drgpum view ${file.name}`);
  if (head[0] === 0x80 || (head[0] === 0x50 && head[1] === 0x4b)) throw new Error(`${file.name} looks like a Python snapshot. Open it with: drgpum view ${file.name}`);
  if (head[0] === 0x1f && head[1] === 0x8b) return unpacked(file, true);
  const start = new TextDecoder().decode(head).trimStart();
  if (start.startsWith('<')) {
    const found = embedded(new DOMParser().parseFromString(await file.text(), 'text/html'));
    if (found === null || ('source' in found && found.source.kind === 'urls')) throw new Error(`${file.name} is an HTML page without a drgpum report in it.`);
    return take(found, progress);
  }
  return file.size > kInWorker ? unpacked(file, false) : understand(await file.text());
}
const kInWorker = 8 * 2 ** 20;

async function unpacked(file: File, gzip: boolean): Promise<Loaded> {
  try {
    return check(await ask<unknown>({ ask: 'load', source: { kind: 'blob', blob: file, gzip } }), false);
  } catch (error) {
    if (error instanceof Error && /JSON/.test(error.message)) throw new Error(`${file.name} is not JSON.`);
    throw error;
  }
}
