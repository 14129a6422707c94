// SPDX-License-Identifier: Apache-2.0
// Takes a report or a plan from the page, a file or the server, and says plainly what is wrong with it.
import type { Plan, Programs, Report } from './report';

export const kVersion = 1;
export type Loaded = { kind: 'report'; report: Report | Programs } | { kind: 'plan'; plan: Plan };

export function isPrograms(report: Report | Programs): report is Programs {
  return 'programs' in report;
}

async function inflate(packed: BlobPart, format: CompressionFormat): Promise<string> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream(format));
  return new Response(stream).text();
}

export async function fromBase64Deflate(text: string): Promise<string> {
  const binary = atob(text.trim());
  const packed = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) packed[i] = binary.charCodeAt(i);
  return inflate(packed, 'deflate-raw');
}

// The report inside a page that drgpum wrote; null when this is the bare application.
export async function embeddedText(document: Document): Promise<string | null> {
  const element = document.getElementById('drgpum-report');
  const text = element?.textContent ?? '';
  if (text.trim() === '') return null;
  return element!.getAttribute('type') === 'application/json' ? text : fromBase64Deflate(text);
}

export function understand(text: string): Loaded {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('This is not JSON. The page opens what `drgpum report --format json`, `drgpum report --format html` and `drgpum plan --format json` write.');
  }
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
  return { kind: 'report', report: it as unknown as Report | Programs };
}

const kTraceMagic = 'DRGP';

export async function fromFile(file: File): Promise<Loaded> {
  const head = new Uint8Array(await file.slice(0, 8).arrayBuffer());
  const magic = String.fromCharCode(...head.slice(0, 4));
  if (magic.toUpperCase().startsWith(kTraceMagic)) throw new Error(`${file.name} is a trace. Open it with: drgpum view ${file.name}`);
  if (head[0] === 0x80 || (head[0] === 0x50 && head[1] === 0x4b)) throw new Error(`${file.name} looks like a Python snapshot. Import it first: drgpum import ${file.name}`);
  const text = head[0] === 0x1f && head[1] === 0x8b ? await inflate(file, 'gzip') : await file.text();
  if (text.trimStart().startsWith('<')) {
    const page = new DOMParser().parseFromString(text, 'text/html');
    const inside = await embeddedText(page);
    if (inside === null) throw new Error(`${file.name} is an HTML page without a drgpum report in it.`);
    return understand(inside);
  }
  return understand(text);
}
