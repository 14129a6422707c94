// SPDX-License-Identifier: Apache-2.0
// Starts the application in #app, with the report in the page where there is one.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { App } from './app';
import { listen } from './keys';
import { embeddedText, understand } from './model/load';
import { paintTimes } from './render/canvas';
import { failure, loading, open, theme } from './store';
import './style.css';

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.value;
});

async function start(): Promise<void> {
  loading.value = 'Reading the report';
  render(<App />, document.getElementById('app')!);
  listen();
  try {
    const text = await embeddedText(document);
    if (text !== null) open(understand(text), location.hash !== '');
    document.getElementById('drgpum-report')?.remove();
  } catch (error) {
    failure.value = error instanceof Error ? error.message : String(error);
  } finally {
    loading.value = null;
    document.documentElement.dataset['ready'] = 'yes';
  }
}
Object.assign(window, { drgpumPaintTimes: paintTimes });
void start();
