// SPDX-License-Identifier: Apache-2.0
// The same memory snapshot in PyTorch's memory_viz and here: processor time of the browser from an empty
// tab until something is seen, and for zooming from all of it to a thousandth.
//     node e2e/memory_viz.mjs --drgpum PROGRAM --viz FOLDER --out FOLDER SNAPSHOT...
// FOLDER of --viz: torch/utils/viz/MemoryViz.js and process_alloc_data.js of PyTorch, with the five imports of d3 turned to
// ./d3.js, a bundle of d3, d3-axis, d3-scale, d3-zoom and d3-brush. None of it is kept here.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { failures, finish, newPage, startBrowser, until } from './browser.mjs';

const { values: args, positionals } = parseArgs({ allowPositionals: true, options: { drgpum: { type: 'string' }, viz: { type: 'string' }, out: { type: 'string' } } });
fs.mkdirSync(args.out, { recursive: true });
const browser = await startBrowser();
const session = await browser.newBrowserCDPSession();
const cpu = async () => (await session.send('SystemInfo.getProcessInfo')).processInfo.reduce((all, p) => all + p.cpuTime, 0);
const painted = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// Processor seconds of the browser's processes that an action takes, and seconds by the clock.
async function spent(action) {
  const [before, start] = [await cpu(), performance.now()];
  await action();
  return { processor: (await cpu()) - before, clock: (performance.now() - start) / 1000 };
}
const show = ({ processor, clock }) => `${processor.toFixed(2)} s of processor, ${clock.toFixed(2)} s by the clock`;

const kEnough = 20; // processor seconds: then it is known
// Wheel steps until the window is a thousandth.
async function zoomed(page, box, steps, modifier) {
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  if (modifier) await page.keyboard.down(modifier);
  const each = [];
  for (let k = 0; k < steps && each.reduce((sum, v) => sum + v, 0) < kEnough; k++) each.push((await spent(async () => { await page.mouse.wheel(0, -100); await painted(page); })).processor);
  if (modifier) await page.keyboard.up(modifier);
  const all = each.reduce((sum, v) => sum + v, 0);
  return `${all.toFixed(2)} s of processor in ${each.length === steps ? steps : `the first ${each.length} of ${steps}`} steps, the slowest ${(1000 * Math.max(...each)).toFixed(0)} ms`;
}

async function inMemoryViz(snapshot) {
  const page = await newPage(browser, { allowed: /./ });
  const first = await spent(async () => {
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.waitForSelector('input[type=file]');
    await page.locator('input[type=file]').setInputFiles(snapshot);
    await page.waitForSelector('svg polygon', { state: 'attached', timeout: 600_000 });
    await painted(page);
  });
  console.log(`memory_viz: first view ${show(first)}; ${await page.locator('svg polygon').count()} polygons`);
  await page.screenshot({ path: path.join(args.out, `${path.basename(snapshot)}-memory_viz.png`) });
  // Beside the axis, where its zoom listens.
  const box = await page.locator('svg').first().boundingBox();
  console.log(`memory_viz: zoom ${await zoomed(page, box, 50)}`); // 2^0.2 each
  await page.screenshot({ path: path.join(args.out, `${path.basename(snapshot)}-memory_viz-zoomed.png`) });
  await page.context().close();
}

async function inDrgpum(snapshot) {
  const file = path.join(args.out, `${path.basename(snapshot)}.html`);
  const timed = 'TIMEFORMAT="%U %S"; time "$0" view "$1" -o "$2" 2>/dev/null';
  const { stderr } = spawnSync('/bin/bash', ['-c', timed, args.drgpum, snapshot, file], { encoding: 'utf8' });
  const made = stderr.trim().split(/\s+/).reduce((all, v) => all + Number(v), 0);
  const page = await newPage(browser, { allowed: /^(file|blob|data|about):/ });
  const first = await spent(async () => {
    await page.goto(`${pathToFileURL(file).href}#view=memory`);
    await page.waitForSelector('html[data-ready=yes]', { timeout: 600_000 });
    await page.waitForFunction(() => window.drgpumPaintTimes.length > 0);
    await until(() => page.locator('.parts li').first().isVisible());
    await painted(page);
  });
  console.log(`drgpum: page written in ${made.toFixed(2)} s of processor, ${(fs.statSync(file).size / 2 ** 20).toFixed(1)} MiB; first view, memory by line, ${show(first)}`);
  await page.screenshot({ path: path.join(args.out, `${path.basename(snapshot)}-drgpum.png`) });
  const box = await page.locator('canvas.tall').boundingBox();
  console.log(`drgpum: zoom ${await zoomed(page, box, 31, 'Control')}`); // 0.8 each
  await page.screenshot({ path: path.join(args.out, `${path.basename(snapshot)}-drgpum-zoomed.png`) });
  await page.context().close();
}

const kPage = '<!DOCTYPE html><html><body><script type="module" src="./MemoryViz.js"></script></body></html>';
const server = http.createServer((request, response) => {
  const name = path.basename(request.url);
  const isScript = name.endsWith('.js') && fs.existsSync(path.join(args.viz, name));
  response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
  response.end(isScript ? fs.readFileSync(path.join(args.viz, name)) : kPage);
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const { port } = server.address();
for (const snapshot of positionals) {
  console.log(`${path.basename(snapshot)}: ${(fs.statSync(snapshot).size / 2 ** 20).toFixed(1)} MiB`);
  await inMemoryViz(snapshot);
  await inDrgpum(snapshot);
}
failures.length = 0; // the other's console is its own business
server.close();
await finish(browser, args.out);
