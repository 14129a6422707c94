// SPDX-License-Identifier: Apache-2.0
// Beside the page: fetches and unpacks reports, and works out what drawing needs, so that the page answers meanwhile.
import { readContainer } from '../model/columns';
import { stepsOf } from '../model/curve';
import { rowsOf, tileOf, type Lives } from '../model/lanes';
import { holders, livesOf } from '../model/lives';
import type { ObjectColumns, Programs, Report } from '../model/report';
import type { Ask, Source, Steps } from './messages';

const post = (answer: unknown, gone: Transferable[] = []): void => (self as unknown as Worker).postMessage(answer, gone);
let programs: Report[] = [];
const lives = new Map<number, Lives>();
// What most reports are never asked for is worked out when it is.
function livesIn(program: number): Lives {
  let own = lives.get(program);
  if (!own) {
    const report = programs[program]!;
    lives.set(program, (own = livesOf(report.objects as ObjectColumns, report.api_count ?? 1)));
  }
  return own;
}

function fromBase64(line: string): Uint8Array {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (native) return native(line);
  const binary = atob(line);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
async function inflate(packed: BlobPart, format: CompressionFormat): Promise<Uint8Array> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
async function fetched(url: string): Promise<Uint8Array> {
  const response = await fetch(url, { credentials: 'same-origin' });
  if (!response.ok) throw new Error(response.status === 401 ? 'The server no longer knows this page. Open the address that drgpum view printed.' : `The server answered ${response.status}.`);
  return inflate(await response.arrayBuffer(), 'deflate-raw');
}
function joined(pieces: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

async function piecesOf(source: Source, progress: (done: number, all: number) => void): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  if (source.kind === 'urls') {
    // Some ahead, in order.
    const ahead: Promise<Uint8Array>[] = [];
    for (let k = 0; k < source.urls.length; k++) {
      while (ahead.length < 4 && k + ahead.length < source.urls.length) ahead.push(fetched(source.urls[k + ahead.length]!));
      pieces.push(await ahead.shift()!);
      progress(k + 1, source.urls.length);
    }
  } else if (source.kind === 'inline') {
    const lines = source.base64.split(/\s+/).filter((line) => line !== '');
    for (let k = 0; k < lines.length; k++) {
      pieces.push(await inflate(fromBase64(lines[k]!) as BlobPart, 'deflate-raw'));
      lines[k] = '';
      progress(k + 1, lines.length);
    }
  }
  return pieces;
}

async function load(source: Source, progress: (done: number, all: number) => void): Promise<unknown> {
  if (source.kind === 'blob') return JSON.parse(new TextDecoder().decode(source.gzip ? await inflate(source.blob, 'gzip') : await source.blob.arrayBuffer()));
  const head = readContainer(joined(await piecesOf(source, progress))) as Report | Programs;
  programs = 'programs' in head ? head.programs : [head];
  lives.clear();
  return head;
}

// Every step of live bytes.
function steps(program: number, device: number): Steps {
  const columns = programs[program]!.objects as ObjectColumns;
  const own = livesIn(program);
  const counts = holders(columns, programs[program]!.level);
  return stepsOf(own.begin, own.end, own.size, (i) => counts[i] === 1 && columns.device[i] === device);
}

// The curve of each group of call paths, of objects that hold memory of a device.
function sites(program: number, device: number, groups: Int32Array, count: number): Steps[] {
  const columns = programs[program]!.objects as ObjectColumns;
  const own = livesIn(program);
  const counts = holders(columns, programs[program]!.level);
  const curves = [];
  for (let g = 0; g < count; g++)
    curves.push(stepsOf(own.begin, own.end, own.size, (i) => counts[i] === 1 && columns.device[i] === device && groups[columns.path[i]!] === g));
  return curves;
}

async function answer(ask: Ask): Promise<unknown> {
  switch (ask.ask) {
    case 'load':
      return load(ask.source, (done, all) => post({ id: ask.id, progress: [done, all] }));
    case 'rows': {
      const own = livesIn(ask.program);
      const rows = rowsOf(own, ask.sort, ask.shown, () => 0);
      const tile = ask.sort === 'packed' ? tileOf(own, rows, programs[ask.program]!.api_count ?? 1) : null;
      return tile ? { ...rows, tile } : rows;
    }
    case 'steps':
      return steps(ask.program, ask.device);
    case 'sites':
      return sites(ask.program, ask.device, ask.groups, ask.count);
    case 'page':
      return readContainer(await fetched(ask.url));
  }
}

// Handed over, not copied: nothing here needs them again.
const buffersOf = (value: unknown): ArrayBuffer[] => [value as Steps | Steps[]].flat().flatMap((s) => [s.at.buffer as ArrayBuffer, s.bytes.buffer as ArrayBuffer]);

self.onmessage = (event: MessageEvent<Ask>): void => {
  answer(event.data).then(
    (value) => post({ id: event.data.id, value }, event.data.ask === 'steps' || event.data.ask === 'sites' ? buffersOf(value) : []),
    (error: unknown) => post({ id: event.data.id, failed: error instanceof Error ? error.message : String(error) }),
  );
};
