// SPDX-License-Identifier: Apache-2.0
// The views, in the order of their keys.
import type { ComponentType } from 'preact';
import type { View } from '../model/route';
import { FindingsView } from './findings';
import { MemoryView } from './memory';
import { ObjectsView } from './objects';
import { QualityView } from './quality';

export interface ViewEntry {
  view: View;
  key: string;
  name: string;
  show: ComponentType;
}
export const kViewEntries: ViewEntry[] = [
  { view: 'findings', key: '1', name: 'Findings', show: FindingsView },
  { view: 'memory', key: '2', name: 'Memory', show: MemoryView },
  { view: 'objects', key: '3', name: 'Objects', show: ObjectsView },
  { view: 'quality', key: 'c', name: 'Capture quality', show: QualityView },
];
