// SPDX-License-Identifier: Apache-2.0
// One self-contained HTML file: no request leaves the page.
import { defineConfig } from 'vitest/config';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { notices } from './notices.mjs';

export default defineConfig({
  plugins: [notices(), viteSingleFile()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { target: 'es2023', outDir: 'dist', emptyOutDir: true },
  worker: { format: 'iife' },
  test: { testTimeout: 120_000 },
});
