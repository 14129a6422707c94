// SPDX-License-Identifier: Apache-2.0
// One program's report with its objects in typed arrays: what every view reads.
import { clockOf, type Clock } from './clock';
import { Curve, curveOf } from './curve';
import type { Numbers } from './columns';
import { holders, livesOf } from './lives';
import type { AccessLine, Api, Finding, Frame, Report, ReportObject } from './report';
import { ask } from '../work/client';
import type { Steps } from '../work/messages';
import { place, plain } from './words';

export const kNone = -1;
const kAtOnce = 30_000; // objects

export class Program {
  readonly count: number;
  readonly totalObjects: number; // before thinning
  readonly calls: number;
  readonly id: Numbers;
  readonly size: Float64Array;
  readonly begin: Uint32Array; // alive in calls [begin, end)
  readonly end: Uint32Array;
  readonly freed: Numbers;
  readonly first: Int32Array; // calls; kNone: never accessed
  readonly last: Int32Array;
  readonly parent: Numbers;
  readonly device: Numbers;
  readonly kind: Numbers;
  readonly kinds: string[] = [];
  readonly lane: Numbers | null = null;
  readonly address: Numbers | null = null; // from addressBase; below 0: not known
  readonly addressBase: bigint = 0n;
  readonly clock: Clock | null;
  readonly requested: Int32Array | null = null; // calls from which its memory only waits for streams; kNone: none
  readonly uses: { from: Uint32Array; call: Numbers; flags: Numbers } | null = null; // by object: from[i] to from[i + 1]
  readonly nameAt: Numbers;
  readonly names: string[] = [];
  readonly pathAt: Numbers;
  readonly paths: Frame[][] = [];
  private readonly holds: Uint8Array;
  private readonly sites: Frame[] = []; // by path; where the report says them
  private readonly knownCalls = new Map<number, Api>();
  private readonly placeOf = new Map<number, number>();
  private readonly idsRise: boolean;
  private curves = new Map<number, Curve>();
  private readonly reserves = new Map<number, Curve>();
  private seenDevices: number[] | null = null;
  readonly findingsOf = new Map<number, number[]>(); // by object's place
  readonly stateAtPeak = new Map<number, string>(); // by object's place, of the highest peak

  // `number`: its place in what the worker holds; null where the worker does not.
  constructor(readonly report: Report, readonly number: number | null = null) {
    const objects = report.objects;
    const n = Array.isArray(objects) ? objects.length : objects.count;
    this.count = n;
    this.totalObjects = Array.isArray(objects) ? n : objects.total_count ?? n;
    if (Array.isArray(objects)) {
      this.calls = Math.max(report.api_count ?? 0, highestCall(objects) + 1);
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
      this.takeList(objects);
    } else {
      this.calls = Math.max(report.api_count ?? 0, 1);
      const lives = livesOf(objects, this.calls);
      Object.assign(this, { lane: lives.lane });
      this.size = lives.size;
      this.begin = lives.begin;
      this.end = lives.end;
      this.first = lives.first;
      this.last = lives.last;
      this.id = objects.id;
      this.freed = objects.freed;
      this.parent = objects.parent;
      this.device = objects.device;
      this.kind = objects.kind;
      this.nameAt = objects.name;
      this.pathAt = objects.path;
      this.kinds.push(...objects.kinds);
      for (const name of objects.names) this.names.push(name);
      const frames = objects.frames.map(([fn, file, line]) => ({ function: fn, file, line }));
      for (const path of objects.paths) this.paths.push(path.map((f) => frames[f]!));
      for (const frame of objects.sites ?? []) this.sites.push(frames[frame]!);
      if (objects.address) {
        this.address = objects.address;
        this.addressBase = BigInt(objects.address_base ?? 0);
      }
      const { free_requested } = objects;
      if (free_requested) this.requested = Int32Array.from({ length: n }, (_, i) => (free_requested[i]! < 0 ? kNone : this.begin[i]! + free_requested[i]!));
      if (objects.use_count && objects.use_call && objects.use_flags) {
        const from = new Uint32Array(n + 1);
        for (let i = 0; i < n; i++) from[i + 1] = from[i]! + objects.use_count[i]!;
        this.uses = { from, call: objects.use_call, flags: objects.use_flags };
      }
    }
    this.clock = clockOf(report, this.calls);
    let rise = true;
    for (let i = 1; i < n; i++) if (this.id[i]! <= this.id[i - 1]!) rise = false;
    this.idsRise = rise;
    this.holds = holders({ count: n, kind: this.kind, parent: this.parent, kinds: this.kinds }, report.level);
    report.findings.forEach((f, at) => {
      this.noteCall(f.evidence.from);
      this.noteCall(f.evidence.to);
      const o = this.place(f.object);
      if (o === kNone) return;
      const of = this.findingsOf.get(o);
      if (of) of.push(at);
      else this.findingsOf.set(o, [at]);
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
    const write = (column: Numbers): Record<number, number> => column as unknown as Record<number, number>;
    const [id, freed, parent, device, kind, nameAt, pathAt] = [this.id, this.freed, this.parent, this.device, this.kind, this.nameAt, this.pathAt].map(write) as [Record<number, number>, Record<number, number>, Record<number, number>, Record<number, number>, Record<number, number>, Record<number, number>, Record<number, number>];
    objects.forEach((o, i) => this.placeOf.set((id[i] = o.id), i));
    objects.forEach((o, i) => {
      this.size[i] = o.size_bytes;
      this.begin[i] = o.alloc?.index ?? 0;
      this.end[i] = o.free?.index ?? this.calls;
      freed[i] = o.free ? 1 : 0;
      this.first[i] = o.first_access?.index ?? kNone;
      this.last[i] = o.last_access?.index ?? kNone;
      parent[i] = o.parent === null ? kNone : this.placeOf.get(o.parent) ?? kNone;
      device[i] = o.device ?? 0;
      kind[i] = numbered(kindIds, this.kinds, o.kind);
      nameAt[i] = numbered(nameIds, this.names, o.name);
      const path = o.call_path.length > 0 ? o.call_path : o.alloc && o.alloc.file !== '' ? [o.alloc] : [];
      const key = JSON.stringify(path);
      let at = pathIds.get(key);
      if (at === undefined) pathIds.set(key, (at = this.paths.push(path) - 1));
      pathAt[i] = at;
      for (const call of [o.alloc, o.free, o.first_access, o.last_access]) this.noteCall(call);
    });
  }

  get knowsSites(): boolean {
    return this.sites.length > 0;
  }
  siteOfPath(path: number): Frame | null {
    return this.sites[path] ?? this.paths[path]?.[0] ?? null;
  }
  private noteCall(call: Api | null): void {
    if (call) this.knownCalls.set(call.index, call);
  }

  place(id: number): number {
    if (this.idsRise) {
      let low = 0;
      let high = this.count;
      while (low < high) {
        const mid = (low + high) >>> 1;
        if (this.id[mid]! < id) low = mid + 1;
        else high = mid;
      }
      return low < this.count && this.id[low] === id ? low : kNone;
    }
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
    if (known || !c || !('kind' in c) || index < c.first || index >= c.first + c.kind.length) return known ?? null;
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
    return this.holds[i] === 1;
  }
  get isThinned(): boolean {
    return this.count < this.totalObjects;
  }
  // Of many objects first the highest bytes of each stretch of calls, as drgpum tells them; every step once the worker has
  // worked them out (`loadCurve`).
  curve(device: number): Curve {
    let curve = this.curves.get(device);
    if (!curve) {
      const given = this.report.curves?.find((c) => c.device === device);
      if (given && (this.isThinned || this.isLarge)) curve = new Curve(Uint32Array.from({ length: given.highest.length }, (_, k) => k * given.stretch), Float64Array.from(given.highest), this.calls, given.stretch);
      else curve = curveOf(this.begin, this.end, this.size, this.calls, (i) => this.device[i] === device && this.holdsMemory(i));
      this.curves.set(device, curve);
    }
    return curve;
  }
  get isLarge(): boolean {
    return this.number !== null && this.count > kAtOnce;
  }
  // True where the curve has become exact by it.
  async loadCurve(device: number): Promise<boolean> {
    if (!this.isLarge || this.isThinned || this.curve(device).stretch === 1) return false;
    const { at, bytes } = await ask<Steps>({ ask: 'steps', program: this.number!, device });
    this.curves.set(device, new Curve(at, bytes, this.calls));
    return true;
  }
  // What pools hold of a device; null where no pool is known.
  reserved(device: number): Curve | null {
    const given = this.report.curves?.find((c) => c.device === device);
    if (!given?.reserved) return null;
    let curve = this.reserves.get(device);
    if (!curve) {
      const { reserved, stretch } = given;
      curve = new Curve(Uint32Array.from({ length: reserved.length }, (_, k) => k * stretch), Float64Array.from(reserved), this.calls, stretch);
      this.reserves.set(device, curve);
    }
    return curve;
  }
  get mainDevice(): number {
    return this.report.peaks[0]?.device ?? this.devices[0] ?? 0;
  }
  // Bytes that a device has; 0: not known.
  capacity(device: number): number {
    const known = this.report.devices?.find((d) => d.id === device);
    return known ? known.memory_bytes : this.report.device.memory_bytes;
  }
  deviceName(device: number): string {
    const known = this.report.devices?.find((d) => d.id === device);
    return known && known.name !== '' ? plain(known.name, 60) : `device ${device}`;
  }
  pinnedCurve(): Curve {
    const pinned = this.kinds.indexOf('pinned');
    return curveOf(this.begin, this.end, this.size, this.calls, (i) => this.kind[i] === pinned);
  }
  get devices(): number[] {
    if (!this.seenDevices) {
      const seen = new Set<number>();
      for (let i = 0; i < this.count; i++) seen.add(this.device[i]!);
      this.seenDevices = [...seen].sort((a, b) => a - b);
    }
    return this.seenDevices;
  }
  // Places of what is alive at a call, largest first.
  liveAt(call: number, device: number): number[] {
    const live: number[] = [];
    for (let i = 0; i < this.count; i++)
      if (this.begin[i]! <= call && call < this.end[i]! && this.holds[i] === 1 && this.device[i] === device && this.size[i]! > 0) live.push(i);
    return live.sort((a, b) => this.size[b]! - this.size[a]! || a - b);
  }
  get title(): string {
    const argv = this.report.program.argv;
    return argv.length > 0 ? plain(argv.join(' '), 120) : 'unnamed program';
  }
  get peakBytes(): number {
    return this.report.peaks[0]?.bytes ?? 0;
  }
  // Lines of device code that touch the object, most accesses first.
  accessLines(i: number): AccessLine[] {
    const { objects, access_lines: byId } = this.report;
    if (Array.isArray(objects)) return objects[i]?.access_lines ?? [];
    const id = String(this.id[i]);
    return byId && Object.hasOwn(byId, id) ? byId[id]! : [];
  }
  // What each line of a file allocates: bytes alive at the peak, bytes in all, and findings; by line number.
  linesOf(file: string): Map<number, { peak: number; allocated: number; findings: number[] }> {
    const lines = new Map<number, { peak: number; allocated: number; findings: number[] }>();
    for (let i = 0; i < this.count; i++) {
      const site = this.site(i);
      if (!site || site.file !== file) continue;
      let sum = lines.get(site.line);
      if (!sum) lines.set(site.line, (sum = { peak: 0, allocated: 0, findings: [] }));
      sum.allocated += this.size[i]!;
      if (this.stateAtPeak.has(i)) sum.peak += this.size[i]!;
      sum.findings.push(...(this.findingsOf.get(i) ?? []));
    }
    return lines;
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
