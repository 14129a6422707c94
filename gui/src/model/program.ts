// SPDX-License-Identifier: Apache-2.0
// One program's report with its objects in typed arrays: what every view reads.
import { Curve, curveOf } from './curve';
import type { Api, Finding, Frame, ObjectColumns, Report, ReportObject } from './report';
import { place, plain } from './words';

export const kNone = -1;
const kNotDevice = new Set(['pinned', 'imported']);

export class Program {
  readonly count: number;
  readonly totalObjects: number; // before thinning
  readonly calls: number;
  readonly id: Uint32Array;
  readonly size: Float64Array;
  readonly begin: Uint32Array; // alive in calls [begin, end)
  readonly end: Uint32Array;
  readonly freed: Uint8Array;
  readonly first: Int32Array; // calls; kNone: never accessed
  readonly last: Int32Array;
  readonly parent: Int32Array;
  readonly device: Uint16Array;
  readonly kind: Uint8Array;
  readonly kinds: string[] = [];
  readonly address: BigUint64Array | null = null;
  private readonly nameAt: Uint32Array;
  private readonly names: string[] = [];
  private readonly pathAt: Int32Array;
  private readonly paths: Frame[][] = [];
  private readonly sites: Frame[] = []; // by path; where the report says them
  private readonly knownCalls = new Map<number, Api>();
  private readonly placeOf = new Map<number, number>();
  private readonly hasChildren: Uint8Array;
  private curves = new Map<number, Curve>();
  readonly findingsOf = new Map<number, number[]>(); // by object's place
  readonly stateAtPeak = new Map<number, string>(); // by object's place, of the highest peak

  constructor(readonly report: Report) {
    const objects = report.objects;
    const n = Array.isArray(objects) ? objects.length : objects.count;
    this.count = n;
    this.totalObjects = Array.isArray(objects) ? n : objects.total_count ?? n;
    this.id = new Uint32Array(n);
    this.size = new Float64Array(n);
    this.begin = new Uint32Array(n);
    this.end = new Uint32Array(n);
    this.freed = new Uint8Array(n);
    this.first = new Int32Array(n).fill(kNone);
    this.last = new Int32Array(n).fill(kNone);
    this.parent = new Int32Array(n).fill(kNone);
    this.device = new Uint16Array(n);
    this.kind = new Uint8Array(n);
    this.nameAt = new Uint32Array(n);
    this.pathAt = new Int32Array(n).fill(kNone);
    this.hasChildren = new Uint8Array(n);
    let calls = report.api_count ?? 0;
    if (Array.isArray(objects)) {
      this.calls = calls = Math.max(calls, highestCall(objects) + 1);
      this.takeList(objects);
    } else {
      this.calls = Math.max(calls, 1);
      this.takeColumns(objects);
      if (objects.address) this.address = BigUint64Array.from(objects.address, (a) => BigInt(a));
    }
    for (let i = 0; i < n; i++) if (this.parent[i]! >= 0) this.hasChildren[this.parent[i]!] = 1;
    report.findings.forEach((f, at) => {
      this.noteCall(f.evidence.from);
      this.noteCall(f.evidence.to);
      const o = this.place(f.object);
      if (o !== kNone) this.findingsOf.set(o, [...(this.findingsOf.get(o) ?? []), at]);
    });
    for (const peak of report.peaks) this.noteCall(peak.api);
    for (const live of report.peaks[0]?.objects ?? []) this.stateAtPeak.set(this.place(live.id), live.state);
  }

  private takeList(objects: ReportObject[]): void {
    const nameIds = new Map<string, number>();
    const kindIds = new Map<string, number>();
    const pathIds = new Map<string, number>();
    const numbered = (ids: Map<string, number>, list: string[], text: string): number => {
      let at = ids.get(text);
      if (at === undefined) ids.set(text, (at = list.push(text) - 1));
      return at;
    };
    objects.forEach((o, i) => this.placeOf.set((this.id[i] = o.id), i));
    objects.forEach((o, i) => {
      this.size[i] = o.size_bytes;
      this.begin[i] = o.alloc?.index ?? 0;
      this.end[i] = o.free?.index ?? this.calls;
      this.freed[i] = o.free ? 1 : 0;
      this.first[i] = o.first_access?.index ?? kNone;
      this.last[i] = o.last_access?.index ?? kNone;
      this.parent[i] = o.parent === null ? kNone : this.placeOf.get(o.parent) ?? kNone;
      this.device[i] = o.device ?? 0;
      this.kind[i] = numbered(kindIds, this.kinds, o.kind);
      this.nameAt[i] = numbered(nameIds, this.names, o.name);
      const path = o.call_path.length > 0 ? o.call_path : o.alloc && o.alloc.file !== '' ? [o.alloc] : [];
      const key = JSON.stringify(path);
      let at = pathIds.get(key);
      if (at === undefined) pathIds.set(key, (at = this.paths.push(path) - 1));
      this.pathAt[i] = at;
      for (const call of [o.alloc, o.free, o.first_access, o.last_access]) this.noteCall(call);
    });
  }

  private takeColumns(c: ObjectColumns): void {
    const frames = c.frames.map(([fn, file, line]) => ({ function: fn, file, line }));
    for (const path of c.paths) this.paths.push(path.map((f) => frames[f]!));
    for (const frame of c.sites ?? []) this.sites.push(frames[frame]!);
    this.kinds.push(...c.kinds);
    for (const name of c.names) this.names.push(name);
    let begin = 0;
    let id = 0;
    for (let i = 0; i < c.count; i++) {
      this.id[i] = id += c.id[i]!;
      this.size[i] = c.size_bytes[i]!;
      this.begin[i] = begin += c.begin[i]!;
      this.end[i] = begin + c.end[i]!;
      this.freed[i] = c.freed[i]!;
      this.first[i] = c.first_access[i]! < 0 ? kNone : begin + c.first_access[i]!;
      this.last[i] = c.last_access[i]! < 0 ? kNone : this.first[i]! + c.last_access[i]!;
      this.parent[i] = c.parent[i] ?? kNone;
      this.device[i] = c.device[i] ?? 0;
      this.kind[i] = c.kind[i]!;
      this.nameAt[i] = c.name[i]!;
      this.pathAt[i] = c.path[i]!;
    }
  }

  private noteCall(call: Api | null): void {
    if (call) this.knownCalls.set(call.index, call);
  }

  place(id: number): number {
    if (this.placeOf.size === 0) for (let i = 0; i < this.count; i++) this.placeOf.set(this.id[i]!, i);
    return this.placeOf.get(id) ?? kNone;
  }
  rawName(i: number): string {
    return this.names[this.nameAt[i]!] ?? '';
  }
  name(i: number): string {
    if (i < 0) return 'unknown object';
    const name = this.rawName(i);
    return name === '' ? `object ${this.id[i]}` : plain(name, 80);
  }
  path(i: number): Frame[] {
    return i < 0 || this.pathAt[i]! < 0 ? [] : this.paths[this.pathAt[i]!] ?? [];
  }
  pathKey(i: number): number {
    return this.pathAt[i]!;
  }
  get pathCount(): number {
    return this.paths.length;
  }
  // The line that allocates it.
  site(i: number): Frame | null {
    const site = this.sites[this.pathAt[i] ?? -1];
    if (site) return site;
    const call = this.knownCalls.get(this.begin[i] ?? -1);
    if (call && call.kind === 'alloc' && call.file !== '') return call;
    return this.path(i)[0] ?? null;
  }
  siteText(i: number): string {
    const site = i < 0 ? null : this.site(i);
    return site ? place(site.file, site.line) : 'unknown line';
  }
  call(index: number): Api | null {
    const known = this.knownCalls.get(index);
    const c = this.report.calls;
    if (known || !c || index < c.first || index >= c.first + c.kind.length) return known ?? null;
    const at = index - c.first;
    const objects = this.report.objects;
    const frame = Array.isArray(objects) ? undefined : objects.frames[c.site[at]!];
    const call: Api = {
      index,
      kind: c.kinds[c.kind[at]!] ?? '',
      name: c.names[c.name[at]!] ?? '',
      stream: c.stream[at]! < 0 ? null : c.stream[at]!,
      function: frame?.[0] ?? '',
      file: frame?.[1] ?? '',
      line: frame?.[2] ?? 0,
    };
    const kernel = c.kernels[c.kernel[at]!];
    if (kernel !== undefined) call.kernel = kernel;
    return call;
  }
  sourceLine(file: string, line: number): string | null {
    const sources = this.report.sources;
    const parts = sources && Object.hasOwn(sources, file) ? sources[file]! : [];
    for (const part of parts) if (part.first <= line && line < part.first + part.lines.length) return part.lines[line - part.first]!;
    return null;
  }
  // "call 6, shrink(float const*, float*, int) at naive.cu:40"
  describeCall(index: number): string {
    const call = this.call(index);
    if (!call) return `call ${index}`;
    const what = plain(call.kernel ?? call.name, 90);
    return `call ${index}, ${what}${call.file === '' ? '' : ` at ${place(call.file, call.line)}`}`;
  }
  holdsMemory(i: number): boolean {
    if (kNotDevice.has(this.kinds[this.kind[i]!] ?? '')) return false;
    return this.report.level === 'tensor' ? this.hasChildren[i] === 0 : this.parent[i]! < 0;
  }
  curve(device: number): Curve {
    let curve = this.curves.get(device);
    if (!curve) {
      curve = curveOf(this.begin, this.end, this.size, this.calls, (i) => this.device[i] === device && this.holdsMemory(i));
      this.curves.set(device, curve);
    }
    return curve;
  }
  pinnedCurve(): Curve {
    const pinned = this.kinds.indexOf('pinned');
    return curveOf(this.begin, this.end, this.size, this.calls, (i) => this.kind[i] === pinned);
  }
  get devices(): number[] {
    return [...new Set(this.device)].sort((a, b) => a - b);
  }
  // Places of what is alive at a call, largest first.
  liveAt(call: number, device: number): number[] {
    const live: number[] = [];
    for (let i = 0; i < this.count; i++)
      if (this.begin[i]! <= call && call < this.end[i]! && this.device[i] === device && this.size[i]! > 0 && this.holdsMemory(i)) live.push(i);
    return live.sort((a, b) => this.size[b]! - this.size[a]! || a - b);
  }
  get title(): string {
    const argv = this.report.program.argv;
    return argv.length > 0 ? plain(argv.join(' '), 120) : 'unnamed program';
  }
  get peakBytes(): number {
    return this.report.peaks[0]?.bytes ?? 0;
  }
  wasted(i: number): number {
    let most = 0;
    for (const f of this.findingsOf.get(i) ?? []) most = Math.max(most, this.report.findings[f]!.wasted_bytes);
    return most;
  }
}

function highestCall(objects: ReportObject[]): number {
  let highest = 0;
  for (const o of objects)
    for (const call of [o.alloc, o.free, o.first_access, o.last_access]) if (call && call.index > highest) highest = call.index;
  return highest;
}

// Bytes that one fix takes off the peak; where it takes none, what it frees at the peak together with others.
export function weight(f: Finding): number {
  return Math.max(f.joint_saving_bytes, f.peak_saving_bytes);
}
