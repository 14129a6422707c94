// SPDX-License-Identifier: Apache-2.0
// Columns as drgpum packs them (offline/report/column_pack.h): differences, zigzagged, in groups of seven bits; and the
// container that holds a head in JSON and the columns that it names.

export interface PackedColumn {
  at: number;
  bytes: number;
  count: number;
}
export type Numbers = ArrayLike<number>;

function isPacked(value: object): value is PackedColumn {
  const keys = Object.keys(value);
  return keys.length === 3 && 'at' in value && 'bytes' in value && 'count' in value;
}

// The same memory for every column: fresh pages cost more than the numbers in them.
let scratch = new Int32Array(0);

function unpack(bytes: Uint8Array, place: PackedColumn): Numbers {
  const stop = place.at + place.bytes;
  if (stop > bytes.length || place.count > place.bytes) throw damaged();
  if (scratch.length < place.count) scratch = new Int32Array(place.count);
  const values = scratch;
  const n = place.count;
  let at = place.at;
  let value = 0;
  let low = 0;
  let high = 0;
  for (let i = 0; i < n; i++) {
    let byte = bytes[at++]!;
    let zigzag = byte & 127;
    for (let shift = 7; byte > 127; shift += 7) {
      if (shift === 28) return unpackWide(bytes, place);
      byte = bytes[at++]!;
      zigzag |= (byte & 127) << shift;
    }
    const next = value + ((zigzag >>> 1) ^ -(zigzag & 1));
    value = next | 0;
    if (value !== next) return unpackWide(bytes, place);
    values[i] = value;
    if (value > high) high = value;
    else if (value < low) low = value;
  }
  if (at > stop) throw damaged();
  const all = values.subarray(0, n);
  if (low < 0 || high > 65535) return all.slice();
  return high < 256 ? new Uint8Array(all) : new Uint16Array(all);
}

// Of numbers that need more than 32 bits.
function unpackWide(bytes: Uint8Array, place: PackedColumn): Float64Array {
  const values = new Float64Array(place.count);
  const stop = place.at + place.bytes;
  let at = place.at;
  let value = 0;
  for (let i = 0; i < values.length; i++) {
    let byte = at < stop ? bytes[at++]! : 0;
    let low = byte & 127; // up to 28 bits, whole numbers to the processor; the rest in `high`
    let high = 0;
    for (let shift = 7; byte > 127 && at < stop; shift += 7) {
      byte = bytes[at++]!;
      if (shift < 28) low |= (byte & 127) << shift;
      else high += (byte & 127) * 2 ** (shift - 28);
    }
    if (high === 0) value += (low >>> 1) ^ -(low & 1);
    else {
      const half = high * 2 ** 27 + (low >>> 1);
      value += low & 1 ? -half - 1 : half;
    }
    values[i] = value;
  }
  return values;
}
const damaged = (): Error => new Error('This page is damaged: a column reaches beyond its end.');

// Puts the columns in the place of their descriptions, anywhere in the head.
function fill(value: unknown, bytes: Uint8Array): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (typeof value[0] === 'object') value.forEach((v, k) => (value[k] = fill(v, bytes)));
    return value;
  }
  if (isPacked(value)) return unpack(bytes, value);
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record)) if (typeof record[key] === 'object') record[key] = fill(record[key], bytes);
  return value;
}

export function headOf(container: Uint8Array): string {
  if (container.length < 4) throw new Error('This page is damaged: its data ends early.');
  const length = new DataView(container.buffer, container.byteOffset).getUint32(0, true);
  if (4 + length > container.length) throw new Error('This page is damaged: its data ends early.');
  return new TextDecoder().decode(container.subarray(4, 4 + length));
}
export function readContainer(container: Uint8Array): unknown {
  const head = headOf(container);
  const length = new DataView(container.buffer, container.byteOffset).getUint32(0, true);
  return fill(JSON.parse(head), container.subarray(4 + length));
}
