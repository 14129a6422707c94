// SPDX-License-Identifier: Apache-2.0
// The views, in the order of their keys.
import type { ComponentType } from 'preact';
import type { View } from '../model/route';
import { AddressesView } from './addresses';
import { DiffView } from './diff';
import { FindingsView } from './findings';
import { InsideView } from './inside';
import { MemoryView } from './memory';
import { ObjectsView } from './objects';
import { OrderView } from './order';
import { PlanView } from './plan';
import { QualityView } from './quality';
import { RanksView } from './ranks';
import { StacksView } from './stacks';

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
  { view: 'stacks', key: '4', name: 'Stacks', show: StacksView },
  { view: 'order', key: '5', name: 'API order', show: OrderView },
  { view: 'addresses', key: '6', name: 'Address map', show: AddressesView },
  { view: 'inside', key: '7', name: 'Inside object', show: InsideView },
  { view: 'plan', key: '8', name: 'Plan', show: PlanView },
  { view: 'diff', key: '9', name: 'Diff', show: DiffView },
  { view: 'ranks', key: 'r', name: 'Ranks', show: RanksView },
  { view: 'quality', key: 'c', name: 'Capture quality', show: QualityView },
];
