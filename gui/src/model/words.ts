// SPDX-License-Identifier: Apache-2.0
// Bytes, counts and names as a person reads them.

const kUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytes(n: number): string {
  const sign = n < 0 ? '−' : '';
  let value = Math.abs(n);
  let unit = 0;
  while (value >= 1024 && unit < kUnits.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const text = value.toFixed(digits).replace(/\.0+$/, '');
  return `${sign}${text} ${kUnits[unit]}`;
}
// "128 MiB (134,217,728 bytes)"
export function exactBytes(n: number): string {
  return Math.abs(n) < 1024 ? bytes(n) : `${bytes(n)} (${count(n)} bytes)`;
}
// With commas. By hand: a locale's formatter costs more than a painting.
export function count(n: number): string {
  const whole = String(Math.abs(n));
  const point = whole.indexOf('.');
  const digits = point < 0 ? whole : whole.slice(0, point);
  if (digits.length < 4 || digits.includes('e')) return String(n);
  return (n < 0 ? '-' : '') + digits.replace(/\B(?=(\d{3})+$)/g, ',') + (point < 0 ? '' : whole.slice(point));
}
export function plural(n: number, word: string): string {
  return `${count(n)} ${word}${n === 1 ? '' : 's'}`;
}
export function percent(part: number, whole: number): string {
  if (whole <= 0) return '0 %';
  const p = (100 * part) / whole;
  return `${p > 0 && p < 1 ? '<1' : p.toFixed(0)} %`;
}
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
// Names come from programs: what would hide or reorder text is shown as what it is, and length is bounded.
export function plain(text: string, limit = 300): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}… (${count(text.length)} characters)` : text;
  return cut.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
export function place(file: string, line: number): string {
  return file === '' ? 'unknown line' : line > 0 ? `${plain(baseName(file), 120)}:${line}` : plain(baseName(file), 120);
}

export interface PatternWords {
  code: string;
  name: string;
  meaning: string;
}
const kPatterns: Record<string, PatternWords> = {
  early_allocation: { code: 'EA', name: 'Allocated too early', meaning: 'It holds memory while launches run that do not need it, before its first use.' },
  late_deallocation: { code: 'LD', name: 'Freed too late', meaning: 'It holds memory while launches run that do not need it, after its last use.' },
  redundant_allocation: { code: 'RA', name: 'Could reuse memory', meaning: 'Another object of about this size is done before this one starts.' },
  unused_allocation: { code: 'UA', name: 'Never used', meaning: 'No kernel accesses it and no copy reads it.' },
  memory_leak: { code: 'ML', name: 'Never freed', meaning: 'It is still allocated when the program ends.' },
  temporary_idleness: { code: 'TI', name: 'Idle in between', meaning: 'Launches run between two of its uses that do not need it.' },
  dead_write: { code: 'DW', name: 'Written for nothing', meaning: 'What a copy or set writes is overwritten or freed before anything reads it.' },
  overallocation: { code: 'OA', name: 'Larger than used', meaning: 'Kernels access only part of it.' },
  non_uniform_access_frequency: { code: 'NU', name: 'Accessed unevenly', meaning: 'A part of it is accessed much more often than the rest.' },
  structured_access: { code: 'SA', name: 'Used part by part', meaning: 'Each launch uses its own part; one part at a time would do.' },
};
export function pattern(name: string): PatternWords {
  return kPatterns[name] ?? { code: '??', name: plain(name.replaceAll('_', ' ')), meaning: '' };
}
export const kStateWords: Record<string, string> = {
  used: 'in use at the peak',
  idle: 'idle at the peak',
  unused: 'never used',
  leaked: 'never freed',
  unknown: 'use not recorded',
};
