// SPDX-License-Identifier: Apache-2.0
// The report as it comes from drgpum (proto/report.schema.json), and the columns that a page carries instead of
// `objects` where there are many.

import type { Numbers } from './columns';

export interface Api {
  index: number;
  kind: string;
  name: string;
  stream: number | null;
  function: string;
  file: string;
  line: number;
  kernel?: string;
}
export interface Frame {
  function: string;
  file: string;
  line: number;
}
// A line of device code that touched an object; counts are by lanes.
export interface AccessLine {
  kernel: string;
  function: string;
  file: string;
  line: number;
  reads: number;
  writes: number;
  launches: number;
}
export interface ReportObject {
  id: number;
  name: string;
  size_bytes: number;
  parent: number | null;
  kind: string;
  device?: number;
  alloc: Api | null;
  free: Api | null;
  first_access: Api | null;
  last_access: Api | null;
  call_path: Frame[];
  access_lines?: AccessLine[];
}
export interface Evidence {
  host?: number;
  from: Api | null;
  to: Api | null;
  apis_between: number;
  count: number;
  cut_at_unrecorded_launch: boolean;
  missing: string[];
  must_move_count: number;
  must_move: Api[];
  calls: Api[];
  element_bytes?: number;
  accessed_bytes?: number;
  accessed_share?: number;
  fragmentation?: number;
  unaccessed_runs?: number;
  unaccessed?: [number, number][];
  variation?: number;
  mean_count?: number;
  counted_elements?: number;
  hot_range?: [number, number];
  parts?: number;
  smallest_part_bytes?: number;
  largest_part_bytes?: number;
  equal?: boolean;
}
export interface Finding {
  pattern: string;
  object: number;
  certainty: 'proven' | 'possible';
  distance: number | null;
  wasted_bytes: number;
  peak_saving_bytes: number;
  joint_saving_bytes: number;
  idle_at_peak_bytes: number;
  superseded_by: number | null;
  evidence: Evidence;
  advice: string;
}
export interface Peak {
  bytes: number;
  api: Api | null;
  device?: number;
  objects: { id: number; state: 'used' | 'idle' | 'unused' | 'leaked' | 'unknown' }[];
}
export interface SmartPool {
  footprint_bytes: number;
  load_bytes: number;
  lower_bound_bytes: number;
  optimal: boolean;
}
export interface AutoSwap {
  limit_bytes?: number;
  peak_bytes?: number;
  overhead_ns?: number;
  overhead_percent?: number;
  zero_stall_bound_bytes?: number;
  pinned_bytes?: number;
  pool_bytes?: number;
  iteration_ns?: number;
  unlimited_peak_bytes?: number;
  feasible?: boolean;
  curve?: { limit_bytes: number; overhead_ns: number }[];
  swaps?: { object: string; out_start_ns: number; out_end_ns: number; in_start_ns: number; in_end_ns: number; stall_ns: number }[];
}
// Of `count` objects, in places of the tables below; -1 for none. `life` and `first_access` count from an object's begin,
// `last_access` from its first access, addresses from the base.
export interface ObjectColumns {
  count: number;
  total_count?: number; // before thinning
  id: Numbers;
  size_bytes: Numbers;
  parent: Numbers; // places in these columns
  kind: Numbers;
  device: Numbers;
  name: Numbers;
  path: Numbers;
  begin: Numbers;
  life: Numbers; // calls that it is alive for
  freed: Numbers; // 1: by a call
  first_access: Numbers;
  last_access: Numbers;
  lane?: Numbers; // rows in which no two overlap
  address?: Numbers;
  address_base?: string;
  free_requested?: Numbers; // calls from begin to where the program gives it back and its memory waits for streams; -1: at once
  use_count?: Numbers; // by object: how many of the uses below are its own
  use_call?: Numbers;
  use_flags?: Numbers; // 1 reads, 2 writes, 4 by a kernel
  kinds: string[];
  names: string[];
  paths: number[][]; // places in `frames`
  sites?: number[]; // by path: the frame of the line that allocates, a place in `frames`
  frames: [string, string, number][]; // function, file, line
}
export interface CallColumns {
  first: number; // index of the first call told
  count: number;
  kind: Numbers;
  name: Numbers;
  stream: Numbers; // -1: none
  site: Numbers; // place in object columns' frames; -1 none
  kernel: Numbers;
  level: Numbers; // length of the longest path to the call
  time_ns?: Numbers; // when the device comes to it
  edge_from: Numbers;
  edge_to: Numbers; // rising
  edge_kind: Numbers; // kEdgeKinds
  critical?: Numbers; // one longest chain of calls that wait for each other
  kinds: string[];
  names: string[];
  kernels: string[];
}
export const kEdgeKinds = ['stream', 'host', 'default stream', 'event', 'synchronisation', 'graph', 'other device', 'allocation', 'read after write', 'write after read', 'write after write'];
// Too many calls for the page: an overview; `drgpum view` gives pages of them.
export interface PagedCalls {
  first: number;
  count: number;
  page_calls: number;
  page_levels: number[]; // the level that each page by level begins with
  overview: { stretches: number; levels: number; lanes: number[]; by_call: Numbers; by_level: Numbers; by_time?: Numbers };
  critical?: Numbers;
  kinds: string[];
  names: string[];
  kernels: string[];
}
export interface CallsPage extends Omit<CallColumns, 'first' | 'count' | 'kinds' | 'names' | 'kernels'> {
  call: Numbers;
}
// The exact highest and lowest live bytes in each stretch of calls, of all objects.
export interface CurveColumns {
  device: number;
  stretch: number; // calls
  highest: Numbers;
  lowest: Numbers;
  reserved?: Numbers; // highest, of what pools hold
}
// Phases of the program, by rising begin; no two of a row overlap.
export interface PhaseColumns {
  count: number;
  total_count: number;
  begin: Numbers;
  length: Numbers; // calls
  row: Numbers;
  name: Numbers;
  names: string[];
  iterations: Numbers; // the calls at which they begin
}
// When the device comes to every `stretch`th call.
export interface ClockColumns {
  stretch: number;
  end_ns: number;
  ns: Numbers;
}
// Accesses inside an object, in equal parts of it: a row for each launch, or for several that follow each other.
export interface InsideColumns {
  id: number;
  launches: number;
  sampled: boolean; // some blocks of each launch
  parts: number;
  row_first: number[]; // calls
  row_last: number[];
  row_launches: number[];
  counts: Numbers; // row by row
  touched: Numbers; // by part: 1 read, 2 written, 4 not all of its bytes
}
export interface DevicePeak {
  id: number;
  kind: string;
  name: string;
  memory_bytes: number;
  peak_bytes: number;
  peak_after_all_fixes_bytes: number;
}
export interface Report {
  version: number;
  trace?: string;
  program: { argv: string[]; exit_code: number | null; pid?: number; host?: string; rank?: string };
  device: { kind: string; name: string; memory_bytes: number; count?: number };
  complete: boolean;
  incomplete_because?: string;
  mode?: string;
  rules?: string;
  level?: string;
  api_count?: number;
  launch_count?: number;
  coverage: { kind: string; count: number; text: string }[];
  peaks: Peak[];
  lower_bound_bytes: number;
  pinned_peak_bytes?: number;
  failed_allocations?: { api: Api | null; requested_bytes: number; error: number }[];
  objects: ReportObject[] | ObjectColumns;
  findings: Finding[];
  savings: { peak_after_all_fixes_bytes: number; smartpool: SmartPool | null; autoswap: AutoSwap | null; autoswap_missing?: string };
  lines?: LineFixes[];
  pools?: { blocks: number; reserved_peak_bytes: number; allocated_peak_bytes: number; reserved_at_peak_bytes: number; allocated_at_peak_bytes: number } | null;
  memory_pressure?: MemoryPressure | null;
  suppressed?: { pattern: string; site: string; reason: string; count: number }[];
  calls?: CallColumns | PagedCalls;
  curves?: CurveColumns[];
  devices?: DevicePeak[];
  timeline?: { device: number; call: number[]; bytes: number[]; time_ns: number[] | null }[]; // at most 1,000 points each
  device_time_ns?: number;
  phases?: PhaseColumns;
  clock?: ClockColumns | null;
  inside?: InsideColumns[];
  packing?: { id: Numbers; offset: Numbers } | null; // of savings.smartpool
  access_lines?: Record<string, AccessLine[]>; // by object id, where `objects` are columns
  findings_left_out?: { pattern: string; count: number; wasted_bytes: number }[];
  sources?: Record<string, { first: number; lines: string[] }[]>;
}
export interface Programs {
  version: number;
  worst?: number;
  differing_sites?: { site: string; bytes: number[] }[];
  programs: Report[];
}
// How a caching allocator held its memory.
export interface PressureMoment {
  index: number; // of the call
  reserved_bytes: number;
  allocated_bytes: number; // pending ones too
  pending_bytes: number; // freed by the program, waiting for streams
  free_bytes: number;
  largest_hole_bytes: number;
  holes: number;
  pinned: { segment: number; size_bytes: number; block: number; blocks: number; live_bytes: number }[];
}
export interface MemoryPressure {
  iterations: number;
  devices: {
    device: number;
    allocated_peak_bytes: number;
    pending_peak_bytes: number;
    reserved_peak: PressureMoment;
    end: PressureMoment;
    streams: { stream: string; allocated_peak_bytes: number; allocated_end_bytes: number; pending_peak_bytes: number; pending_end_bytes: number; pending_frees: number }[];
    pools: { pool: string; stream: string; segments: number; reserved_bytes: number; allocated_bytes: number }[];
  }[];
  growth: { api: Api | null; iterations: number; first_bytes: number; last_bytes: number; bytes_per_iteration: number }[];
  out_of_memory: { api: Api | null; requested_bytes: number; device_free_bytes?: number; cause: string; planned_bytes?: number; moment: PressureMoment; live: { api: Api | null; bytes: number; blocks: number }[] }[];
}
// The findings whose objects one line allocates.
export interface LineFixes {
  function: string;
  file: string;
  line: number;
  finding_count: number;
  bytes_at_peak: number;
  unused_at_peak_bytes: number;
  measured: boolean; // false: too many findings for the savings to be known
  peak_saving_bytes: number;
  joint_saving_bytes: number;
}
// What `drgpum plan --format json` writes (proto/plan.schema.json). Objects of a trace are called `name#7`, or `7` where
// they have no name; those of a table as the table calls them.
export interface Plan {
  objects: { id: string; offset: number; size: number; lower: number; upper: number }[];
  footprint_bytes: number;
  load_bytes: number;
  lower_bound_bytes: number;
  optimal: boolean;
  fits?: boolean;
  baselines?: Record<string, unknown>;
  autoswap?: AutoSwap | null;
}
