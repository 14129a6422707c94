// SPDX-License-Identifier: Apache-2.0
// What the page asks its worker, and what comes back.
import type { SortKey } from '../model/lanes';

export type Source =
  | { kind: 'inline'; base64: string } // pieces of a container, one on each line
  | { kind: 'urls'; urls: string[] }
  | { kind: 'blob'; blob: Blob; gzip: boolean }; // JSON

export type Ask =
  | { ask: 'load'; id: number; source: Source }
  | { ask: 'rows'; id: number; program: number; sort: SortKey; shown: Uint32Array }
  | { ask: 'steps'; id: number; program: number; device: number } // of the whole curve
  | { ask: 'sites'; id: number; program: number; device: number; groups: Int32Array; count: number } // by path: its group
  | { ask: 'page'; id: number; url: string };

export interface Rows {
  from: Uint32Array; // row r shows items[from[r]] to items[from[r + 1]], by rising begin and not overlapping
  items: Uint32Array;
  tile?: Tile;
}
// For rows too low to draw objects: how much of each stretch of calls a row's objects are in use, and held unused.
export interface Tile {
  stretches: number; // a row's values
  used: Uint8Array; // 255: all of the stretch
  idle: Uint8Array;
  coarser: Tile | null; // of half as many stretches
}
export interface Steps {
  at: Uint32Array;
  bytes: Float64Array;
}

export type Answer =
  | { id: number; progress: [number, number] } // bytes or pieces: done, of
  | { id: number; failed: string }
  | { id: number; value: unknown };
