// SPDX-License-Identifier: Apache-2.0
// Starts the application in #app, with the report in the page where there is one.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { App } from './app';
import { listen } from './keys';
import { embedded, take } from './model/load';
import { paintTimes } from './render/canvas';
import { failure, loading, open, program, theme } from './store';
import './style.css';

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.value;
});

async function start(): Promise<void> {
  loading.value = { what: 'Reading the report', done: 0, all: 0 };
  render(<App />, document.getElementById('app')!);
  listen();
  try {
    const found = embedded(document);
    document.getElementById('drgpum-report')?.remove();
    if (found) open(await take(found, (done, all) => (loading.value = { what: 'Reading the report', done, all })), location.hash !== '');
  } catch (error) {
    failure.value = error instanceof Error ? error.message : String(error);
  } finally {
    loading.value = null;
    document.documentElement.dataset['ready'] = 'yes';
  }
}
// For tests: how long paintings take, and the peak that the curve shows against the recorded one.
function peaks(): { shown: number; recorded: number } {
  const p = program.value;
  const peak = p?.report.peaks[0];
  return { shown: p && peak ? p.curve(peak.device ?? 0).highest(0, p.calls + 1) : 0, recorded: peak?.bytes ?? 0 };
}
Object.assign(window, { drgpumPaintTimes: paintTimes, drgpumPeaks: peaks });
void start();
