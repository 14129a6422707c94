// SPDX-License-Identifier: Apache-2.0
import type { Plugin } from 'vite';
export function notices(): Plugin;
