// SPDX-License-Identifier: Apache-2.0
// The report as it comes from drgpum (proto/report.schema.json), and the columns that a page carries instead of
// `objects` where there are many.

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
  objects: { id: number; state: 'used' | 'idle' | 'unused' | 'leaked' }[];
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
  swaps?: { object: number; out_start_ns: number; out_end_ns: number; in_start_ns: number; in_end_ns: number; stall_ns: number }[];
}
// Of `count` objects, in places of the tables below; -1 for none. `id` and `begin` hold differences from one object to
// the next, `end` and `first_access` from its begin, `last_access` from its first access.
export interface ObjectColumns {
  count: number;
  total_count?: number; // before thinning
  id: number[];
  size_bytes: number[];
  parent: number[]; // places in these columns
  kind: number[];
  device: number[];
  name: number[];
  path: number[];
  begin: number[];
  end: number[];
  freed: number[]; // 1: by a call
  first_access: number[];
  last_access: number[];
  address?: (number | string)[];
  kinds: string[];
  names: string[];
  paths: number[][]; // places in `frames`
  sites?: number[]; // by path: the frame of the line that allocates, a place in `frames`
  frames: [string, string, number][]; // function, file, line
}
export interface CallColumns {
  first: number; // index of the first call told
  kind: number[];
  name: number[];
  stream: number[]; // -1: none
  site: number[]; // place in object columns' frames; -1 none
  kernel: number[];
  level: number[]; // length of the longest path to the call
  edge_from?: number[]; // data: an earlier use of an object, to a later one
  edge_to?: number[]; // rising
  kinds: string[];
  names: string[];
  kernels: string[];
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
  savings: { peak_after_all_fixes_bytes: number; smartpool: SmartPool | null; autoswap: AutoSwap | null };
  suppressed?: { pattern: string; site: string; reason: string; count: number }[];
  calls?: CallColumns;
  sources?: Record<string, { first: number; lines: string[] }[]>;
}
export interface Programs {
  version: number;
  worst?: number;
  differing_sites?: { site: string; bytes: number[] }[];
  programs: Report[];
}
// What `drgpum plan --format json` writes.
export interface Plan {
  objects: { id: number; offset: number; size: number; lower: number; upper: number }[];
  footprint_bytes: number;
  load_bytes: number;
  lower_bound_bytes: number;
  optimal: boolean;
  fits?: boolean;
  baselines?: Record<string, unknown>;
  autoswap?: AutoSwap | null;
}
