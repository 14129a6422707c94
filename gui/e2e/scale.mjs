// SPDX-License-Identifier: Apache-2.0
// A generated trace of many calls, with an object for every ten, in Debian's Chromium: how long to the first view, how long
// each painting takes while panning and zooming, how much memory; and that the peak shown is the exact one throughout.
//     node e2e/scale.mjs --drgpum PROGRAM --make-trace PROGRAM --out FOLDER [--calls N] [--limits] [--reuse] [--url URL]
// --limits: fails where a figure is beyond what the page promises; without it only what must hold anywhere is checked. --reuse: the
// trace and page that a run before left. --url: what a server of that trace printed.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { check, finish, newPage, startBrowser, until } from './browser.mjs';

const { values: args } = parseArgs({ options: { drgpum: { type: 'string' }, 'make-trace': { type: 'string' }, out: { type: 'string' }, calls: { type: 'string', default: '60000' }, limits: { type: 'boolean', default: false }, reuse: { type: 'boolean', default: false }, url: { type: 'string' } } });
const calls = Number(args.calls);
const browser = await startBrowser();
fs.mkdirSync(args.out, { recursive: true });
const trace = path.join(args.out, `calls-${calls}.drgp`);
const file = path.join(args.out, `calls-${calls}.html`);
const MiB = 2 ** 20;
const kLive = 500; // objects at once, so many lanes
const limit = (name, value, most, unit, more = '') => {
  console.log(`${name}: ${value.toFixed(value < 100 ? 1 : 0)} ${unit}${more}${args.limits ? ` (at most ${most})` : ''}`);
  if (args.limits) check(value <= most, `${name} is ${value.toFixed(1)} ${unit}, at most ${most}`);
};

if (!args.reuse || !fs.existsSync(trace)) execFileSync(args['make-trace'], ['--large', String(calls), trace, String(kLive)]);
if (!args.reuse || !fs.existsSync(file)) execFileSync(args.drgpum, ['view', trace, '-o', file], { stdio: ['ignore', 'ignore', 'inherit'] });

const exact = async (page) => page.evaluate(() => window.drgpumPeaks());
// For each key the processor time of the page's thread until the painting is done, so that a busy machine does not count: of
// scripts (handling the key and painting), and of all its tasks (the browser's layout and rasterising in software with them).
// `wall` is what painting alone took by the clock.
const paintings = async (page, keys) => {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const spent = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return ['ScriptDuration', 'TaskDuration'].map((name) => metrics.find((m) => m.name === name).value * 1000);
  };
  await page.evaluate(() => (window.drgpumPaintTimes.length = 0));
  const [scripts, tasks] = [[], []];
  for (const key of keys) {
    const before = await spent();
    await page.keyboard.press(key);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));
    const after = await spent();
    scripts.push(after[0] - before[0]);
    tasks.push(after[1] - before[1]);
  }
  await session.detach();
  const p95 = (all) => all.sort((a, b) => a - b)[Math.floor(all.length * 0.95)] ?? 0;
  return { p95: p95(scripts), tasks: p95(tasks), wall: p95(await page.evaluate(() => window.drgpumPaintTimes)) };
};
const kMoves = 'wwwwddaawwwwddssaassssddwwaawwwwwwddddsssssssssdwdwdwaasss'.split('');

// Processor seconds of all of the browser's processes.
const browserSession = await browser.newBrowserCDPSession();
const cpu = async () => (await browserSession.send('SystemInfo.getProcessInfo')).processInfo.reduce((all, p) => all + p.cpuTime, 0);

// Opens a page and measures until the first finding or curve is painted.
async function open(url, allowed) {
  const page = await newPage(browser, { allowed, height: 1300 });
  const responses = [];
  page.on('response', async (r) => responses.push(Number(r.headers()['content-length'] ?? 0)));
  const [start, before] = [performance.now(), await cpu()];
  await page.goto(url);
  await page.waitForSelector('html[data-ready=yes]', { timeout: 300_000 });
  await page.waitForFunction(() => window.drgpumPaintTimes.length > 0, null, { timeout: 60_000 });
  return { page, seconds: (performance.now() - start) / 1000, processor: (await cpu()) - before, largest: Math.max(0, ...responses) };
}

async function peakHolds(page, where) {
  const { shown, recorded } = await exact(page);
  check(shown === recorded && recorded > 0, `${where}: the peak shown is ${shown}, the recorded one ${recorded}`);
}

async function measure(page, label) {
  await page.keyboard.press('2');
  await page.waitForTimeout(400);
  await until(() => page.locator('.parts li').first().isVisible());
  const memory = await paintings(page, kMoves);
  limit(`${label}, memory: key to painted, p95 of the scripts' processor time`, memory.p95, 16, 'ms', `, all tasks ${memory.tasks.toFixed(1)} ms, painting by the clock ${memory.wall.toFixed(1)} ms`);
  await page.keyboard.press('0');
  await peakHolds(page, `${label}, memory`);
  await page.keyboard.press('3');
  await until(async () => (await page.locator('.labels [role=row]').count()) > 5);
  const sorted = await paintings(page, kMoves);
  limit(`${label}, objects by size: key to painted, p95 of the scripts' processor time`, sorted.p95, 16, 'ms', `, all tasks ${sorted.tasks.toFixed(1)} ms, painting by the clock ${sorted.wall.toFixed(1)} ms`);
  await page.locator('.objects select').selectOption('packed');
  await until(() => page.getByText(/lanes$/).first().isVisible());
  await page.keyboard.press('0');
  const rowsOf = (pixels) => page.locator('.timeline').evaluate((box, high) => Math.floor(box.clientHeight / high), pixels);
  const atLeast = (rows, least) => calls >= 600_000 && check(rows >= least, `${rows} rows are in sight, not ${least}`);
  const [high, low] = [await rowsOf(14), await rowsOf(2)];
  atLeast(high, 60);
  atLeast(low, 450);
  const rows60 = await paintings(page, kMoves);
  limit(`${label}, objects in lanes, ${high} rows of 14 pixels: key to painted, p95 of the scripts' processor time`, rows60.p95, 16, 'ms', `, all tasks ${rows60.tasks.toFixed(1)} ms, painting by the clock ${rows60.wall.toFixed(1)} ms`);
  for (let k = 0; k < 3; k++) await page.keyboard.press('[');
  await page.waitForTimeout(300);
  await page.keyboard.press('0');
  const rows450 = await paintings(page, kMoves);
  limit(`${label}, objects in lanes, ${low} rows of 2 pixels: key to painted, p95 of the scripts' processor time`, rows450.p95, 50, 'ms', `, all tasks ${rows450.tasks.toFixed(1)} ms, painting by the clock ${rows450.wall.toFixed(1)} ms`);
  await page.keyboard.press('0');
  await page.waitForTimeout(200);
  await page.screenshot({ path: path.join(args.out, `scale-${label.replace(' ', '-')}-objects.png`) });
  await page.keyboard.press('5');
  await page.waitForTimeout(800);
  const order = await paintings(page, 'wwwddaasss'.split(''));
  console.log(`${label}, API order: key to painted, p95 of the scripts' processor time: ${order.p95.toFixed(1)} ms`);
  await page.screenshot({ path: path.join(args.out, `scale-${label.replace(' ', '-')}-order.png`) });
  for (const query of ['size>64KiB', 'live:peak', '']) {
    await page.evaluate((q) => (location.hash = `#view=memory&q=${encodeURIComponent(q)}`), query);
    await page.waitForTimeout(200);
    await peakHolds(page, `${label}, filter “${query}”`);
  }
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const heap = await session.send('Runtime.getHeapUsage');
  const buffers = heap.backingStorageSize ?? 0;
  limit(`${label}: JavaScript heap with its arrays`, (heap.usedSize + buffers) / MiB, 512, 'MiB');
}

console.log(`${calls} calls: trace ${(fs.statSync(trace).size / MiB).toFixed(1)} MiB`);
{
  limit('single file', fs.statSync(file).size / MiB, 16, 'MiB');
  const { page, seconds, processor } = await open(pathToFileURL(file).href, /^(file|blob|data|about):/);
  limit('single file: first view, processor time of the browser', processor, 3, 's', `, ${seconds.toFixed(1)} s by the clock`);
  await measure(page, 'single file');
  await page.context().close();
}
{
  const server = args.url ? null : spawn(args.drgpum, ['view', '--no-browser', trace], { stdio: ['ignore', 'pipe', 'ignore'] });
  const url = args.url ?? (await new Promise((resolve) => server.stdout.once('data', (text) => resolve(String(text).trim()))));
  const own = new URL(url).origin;
  const { page, seconds, processor, largest } = await open(url, new RegExp(`^(${own}/|blob:|data:|about:)`));
  limit('server: first view, processor time of the browser', processor, 3, 's', `, ${seconds.toFixed(1)} s by the clock`);
  await measure(page, 'server');
  limit('server: largest response', largest / MiB, 1, 'MiB');
  await page.context().close();
  server?.kill();
}
await finish(browser, args.out);
