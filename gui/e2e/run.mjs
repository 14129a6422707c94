// SPDX-License-Identifier: Apache-2.0
// Opens every view of several reports in Debian's Chromium, from file:// and without a network: no request, no error on
// the console, no dialog, nothing that axe finds in light and dark, one interaction each, every key, back and forward.
//     node e2e/run.mjs [PAGE] [FOLDER]    PAGE: dist/index.html, FOLDER: for screenshots
// Ends with 77 (skipped) where there is no Chromium.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { columned, hostile, hostileColumned, planOf, ranks, training, twoDevices } from '../fixtures/make.mjs';
import { axeClean, check, failures, finish, kViews, newPage as openPage, startBrowser, until, visit as open } from './browser.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const application = fs.readFileSync(process.argv[2] ?? path.join(here, '../dist/index.html'), 'utf8');
const folder = process.argv[3] ?? path.join(here, '../screenshots');
const browser = await startBrowser();
fs.mkdirSync(folder, { recursive: true });

const kPlace = '<script type="application/json" id="drgpum-report"></script>';
const newPage = (colorScheme = 'light') => openPage(browser, { colorScheme });
const visit = (page, file, hash) => open(page, `${pathToFileURL(file)}#${hash}`);

// As drgpum packs large reports, with nothing but a head.
function piecesOf(json) {
  const head = Buffer.from(json);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  const bytes = Buffer.concat([length, head]);
  return Array.from({ length: Math.ceil(bytes.length / 1e6) }, (_, k) => deflateRawSync(bytes.subarray(k * 1e6, (k + 1) * 1e6)).toString('base64'));
}
function writePage(name, report) {
  const json = JSON.stringify(report);
  const data = json.length < 262144
    ? `<script type="application/json" id="drgpum-report">${json.replaceAll('<', '\\u003c')}</script>`
    : `<script type="application/octet-stream" id="drgpum-report">${piecesOf(json).join('\n')}</script>`;
  const file = path.join(folder, `${name}.html`);
  fs.writeFileSync(file, application.replace(kPlace, () => data));
  return file;
}

// One interaction in each view, and what it has to bring about.
const shows = (p, text) => until(() => p.getByText(text).first().isVisible());
const url = (p, pattern) => until(() => pattern.test(p.url()));
const detail = (p) => until(() => p.locator('.detail').isVisible());
const kActs = {
  findings: async (p) => { await p.locator('button.finding').first().click(); return detail(p); },
  memory: async (p) => { await p.locator('main canvas').first().click({ position: { x: 400, y: 100 } }); return url(p, /at=\d+/); },
  objects: async (p) => { await p.locator('.labels [role=row]').nth(1).click(); return detail(p); },
  stacks: async (p) => { await p.locator('.flame button').nth(2).click(); return shows(p, 'Show all'); },
  order: async (p) => { await p.keyboard.press('ArrowRight'); await p.keyboard.press('ArrowRight'); return url(p, /at=1\b/); },
  addresses: async (p) => { await p.locator('canvas.map').click({ position: { x: 700, y: 380 } }); return url(p, /at=\d+/); },
  inside: async (p) => {
    await p.locator('.inside canvas').first().hover({ position: { x: 300, y: 60 } });
    if (!(await shows(p, 'accesses, call'))) return false;
    await p.locator('main button.link').first().click();
    return detail(p);
  },
  plan: async (p) => { await p.locator('main canvas').nth(1).click({ position: { x: 600, y: 170 } }); return (await p.locator('.meter').count()) > 2 && detail(p); },
  diff: async (p) => shows(p, 'Drop a second report'),
  ranks: async (p) => shows(p, 'This report is about one program'),
  quality: async (p) => shows(p, 'unsampled-launches'),
};

const report = training();
const trained = writePage('training', columned(report));
for (const scheme of ['light', 'dark']) {
  const page = await newPage(scheme);
  for (const view of kViews) {
    await visit(page, trained, `view=${view}`);
    await page.waitForTimeout(80);
    await page.screenshot({ path: path.join(folder, `${view}-${scheme}.png`) });
    await axeClean(page, `${view} ${scheme}`);
    if (scheme === 'light') check(await kActs[view](page), `${view}: the interaction does what it should (${page.url().slice(-80)})`);
  }
  await page.context().close();
}

// The first screen says line, variable, bytes and fix without scrolling, and the peak is exact.
{
  const page = await newPage();
  await visit(page, trained, '');
  const first = page.locator('section.first');
  const box = await first.boundingBox();
  check(box !== null && box.y + box.height < 900, 'the first finding is on the first screen');
  const text = (await first.innerText()).replace(/\s+/g, ' ');
  for (const part of ['train.cu:44', 'workspace', '512 MiB', 'Allocate workspace just before']) check(text.includes(part), `the first finding names ${part}`);
  check((await page.locator('.figures strong').first().getAttribute('title'))?.includes(report.peaks[0].bytes.toLocaleString('en-US')) === true, 'the peak is exact');

  await visit(page, trained, 'view=memory');
  for (const words of ['Out of memory', 'no hole that is large enough', 'The caching allocator', 'Grows from iteration to iteration']) check(await shows(page, words), `the allocator's part says “${words}”`);
  await page.locator('section[aria-label="Out of memory"] button', { hasText: 'What is alive then' }).click();
  check(await url(page, /at=\d+/), 'and leads to that call');
  await page.screenshot({ path: path.join(folder, 'allocator.png'), fullPage: false });
  await visit(page, trained, '');

  // Keys: those that `?` lists, each with its effect.
  const hash = () => new URL(page.url()).hash;
  const tried = new Set();
  const press = page.keyboard.press.bind(page.keyboard);
  page.keyboard.press = (key) => { tried.add(key); return press(key); };
  await page.keyboard.press('?');
  check(await until(async () => (await page.locator('dialog kbd').count()) > 25), 'the list of keys opens');
  await axeClean(page, 'list of keys');
  const listed = await page.locator('dialog kbd').allInnerTexts();
  await page.keyboard.press('Escape');
  check(await until(async () => (await page.locator('dialog').count()) === 0), 'Escape closes the list');
  const effect = async (key, what, test) => {
    const before = hash();
    await page.keyboard.press(key);
    check(await until(() => test(before)), `${key}: ${what} (${hash()})`);
  };
  const changes = (b) => hash() !== b;
  for (const [key, view] of [['2', 'memory'], ['1', 'findings'], ['3', 'objects'], ['4', 'stacks'], ['5', 'order'], ['6', 'addresses'], ['7', 'inside'], ['8', 'plan'], ['9', 'diff'], ['r', 'ranks'], ['c', 'quality']]) await effect(key, `shows ${view}`, () => hash().includes(`view=${view}`));
  await page.goBack();
  check(await until(() => hash().includes('view=ranks')), 'back');
  await page.goForward();
  check(await until(() => hash().includes('view=quality')), 'forward');
  await effect('3', 'shows objects', () => hash().includes('view=objects'));
  await effect('n', 'next finding', () => hash().includes('finding=0'));
  await effect('n', 'next finding', () => hash().includes('finding=1'));
  await effect('N', 'previous finding', () => hash().includes('finding=0'));
  await effect('.', 'next object', (b) => changes(b) && hash().includes('object='));
  await effect(',', 'previous object', changes);
  // On a busy machine the view may still be drawing the object when the key comes: one more, then.
  await page.keyboard.press('w');
  await until(() => /from=\d+&to=\d+/.test(hash()));
  await effect('w', 'zooms in', () => /from=\d+&to=\d+/.test(hash()));
  await effect('d', 'pans', changes);
  await effect('a', 'pans back', changes);
  await effect('s', 'zooms out', changes);
  await effect('0', 'shows all', () => !/from=|to=/.test(hash()));
  for (let k = 0; k < 4; k++) await effect('n', 'next finding', (b) => changes(b) && hash().includes('finding='));
  await effect('f', 'zooms to it', () => /to=\d+/.test(hash()));
  await effect('ArrowRight', 'moves the cursor', () => /at=\d+/.test(hash()));
  await effect('ArrowRight', 'moves the cursor', changes);
  await effect('ArrowLeft', 'moves it back', changes);
  await effect('x', 'shows device time', () => hash().includes('across=time'));
  await effect('w', 'zooms in by time', () => /to=\d+/.test(hash()));
  await effect('x', 'shows calls again', () => !hash().includes('across'));
  const rowHeight = () => page.locator('.labels [role=row]').first().evaluate((e) => e.clientHeight);
  const height = await rowHeight();
  await page.keyboard.press(']');
  check(await until(async () => (await rowHeight()) > height), '] makes rows higher');
  await page.keyboard.press('[');
  check(await until(async () => (await rowHeight()) === height), '[ makes them lower');
  await page.keyboard.press('/');
  check(await page.locator('#query').evaluate((e) => e === document.activeElement), '/ goes to the filter');
  await page.keyboard.type('weights');
  check(await shows(page, '12 of 170 objects'), 'the filter filters');
  await page.keyboard.press('Escape');
  for (const key of ['e', 'g']) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press(key)]);
    check(/^drgpum-.*\.(csv|png)$/.test(download.suggestedFilename()), `${key} saves`);
  }
  await page.keyboard.press('t');
  check(await until(async () => (await page.locator('html').getAttribute('data-theme')) === 'light'), 't changes colours');
  const [svg] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('v')]);
  check(svg.suggestedFilename().endsWith('.svg'), 'v saves');
  await effect('p', 'shows the peak', () => hash().includes('view=memory') && hash().includes('at='));
  await effect('n', 'next finding', (b) => changes(b));
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.keyboard.press('m');
  check(await until(async () => (await page.evaluate(() => navigator.clipboard.readText()).catch(() => '')).includes('train.cu')), 'm copies the finding');
  await effect('Escape', 'selects nothing', () => !hash().includes('object='));
  const kShown = { '←': 'ArrowLeft', '→': 'ArrowRight', Esc: 'Escape', 'Shift+N': 'N' };
  for (const key of listed) check(tried.has(kShown[key] ?? key.toLowerCase()), `the listed key ${key} is tried`);

  // A second report: compared; a plan: drawn; wrong files: said so.
  const give = (name, content) => page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(content) });
  await give('other.json', JSON.stringify(training(12, 6, 1.25)));
  await page.getByRole('button', { name: 'Compare with it' }).click();
  check(await shows(page, 'Lines that changed'), 'two reports are compared');
  await axeClean(page, 'diff of two');
  await page.screenshot({ path: path.join(folder, 'diff-of-two.png') });
  await give('plan.json', JSON.stringify(planOf(report)));
  await page.waitForSelector('canvas.packing');
  await page.waitForTimeout(150);
  await page.screenshot({ path: path.join(folder, 'plan-drawn.png') });
  for (const [name, content, words] of [['x.json', 'nonsense', 'not JSON'], ['x.drgp', 'DRGP\0\0\0\0', 'drgpum view x.drgp'], ['x.pickle', '\x80\x04K\x01.', 'drgpum view x.pickle'], ['new.json', '{"version":2}', 'version 2']]) {
    await give(name, Buffer.from(content, 'latin1'));
    check(await until(() => page.getByRole('alert').filter({ hasText: words }).isVisible()), `${name}: says “${words}”`);
  }
  await page.context().close();
}

// Phases, what pools hold, pending frees, levels and times of calls.
{
  const page = await newPage();
  await visit(page, trained, 'view=memory');
  await page.locator('canvas.tall').click({ position: { x: 300, y: 5 } });
  check(await url(page, /from=\d+&to=\d+/), 'a click on a phase shows it whole');
  check(await shows(page, '18 phases, 6 iterations'), 'phases and iterations are counted');
  check(await shows(page, 'What pools and allocations hold of the device'), 'the reserve is drawn and told');
  await page.keyboard.press('x');
  check(await shows(page, /ms of [\d.]+ ms, calls/), 'the window is told in time');
  await page.screenshot({ path: path.join(folder, 'memory-by-time.png') });
  await page.keyboard.press('x');
  await page.getByRole('button', { name: /Up to the device/ }).click();
  check((await page.getByRole('button', { name: /Up to the device/ }).getAttribute('aria-pressed')) === 'true', 'the axis goes up to the capacity');
  await visit(page, trained, 'view=objects&across=time');
  check(await shows(page, 'given back, waits for streams'), 'pending frees have their hatching');
  await page.screenshot({ path: path.join(folder, 'objects-by-time.png') });
  for (const by of ['time', 'ordinal', 'level']) {
    await visit(page, trained, 'view=order');
    await page.locator('main select').first().selectOption(by);
    await page.keyboard.press('w');
    check(await url(page, by === 'ordinal' ? /from=\d+&to=\d+/ : /low=\d+&high=\d+/), `API order zooms by ${by}`);
    await page.keyboard.press('0');
    check(await until(() => !/from=|high=/.test(page.url())), `and shows all again by ${by}`);
    await page.screenshot({ path: path.join(folder, `order-by-${by}.png`) });
  }
  const devices = writePage('devices', twoDevices());
  await visit(page, devices, 'view=memory');
  await page.locator('main select').first().selectOption('1');
  check(await url(page, /device=1/), 'a device is chosen');
  check(await page.locator('section[aria-label=Devices]').getByText('NVIDIA A100 (emulated) 1').isVisible(), 'and named');
  await axeClean(page, 'two devices');
  await page.screenshot({ path: path.join(folder, 'devices.png') });
  await page.context().close();
}

// What a person meets that is no whole report: each says what it is.
{
  const page = await newPage();
  const small = columned(training(6, 2));
  const states = {
    truncated: [{ ...small, complete: false, incomplete_because: 'the file ends within a record' }, 'This recording ends early: the file ends within a record'],
    partial: [small, 'Not everything was seen'],
    thinned: [{ ...small, objects: { ...small.objects, total_count: 1_000_000 }, curves: [{ ...small.curves[0], stretch: 1 }] }, 'This page carries'],
    nothing: [{ ...small, peaks: [], findings: [], objects: [], calls: undefined, inside: [], api_count: 0, phases: undefined, clock: null, curves: [] }, 'holds no device memory at any time'],
  };
  for (const [name, [made, words]] of Object.entries(states)) {
    const file = writePage(name, made);
    for (const view of kViews) {
      await visit(page, file, `view=${view}`);
      if (view === 'findings') check(await shows(page, words), `${name}: says “${words}”`);
    }
    await axeClean(page, name);
    await page.screenshot({ path: path.join(folder, `${name}.png`) });
  }
  await page.context().close();
}

// Loading takes long: what is done of what, and a way out. A page that asks for pieces which never come.
{
  const page = await openPage(browser, { allowed: /^(http:\/\/page\.invalid\/|blob:|data:|about:)/ });
  const pieces = piecesOf(JSON.stringify(training())).map((piece) => Buffer.from(piece, 'base64'));
  await page.route('http://page.invalid/**', (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: application.replace(kPlace, '<script type="application/octet-stream" id="drgpum-report" data-pieces="5"></script>') });
    return pathname === '/pieces/0' ? route.fulfill({ contentType: 'application/octet-stream', body: pieces[0] }) : undefined;
  });
  await page.goto('http://page.invalid/');
  check(await shows(page, 'Reading the report'), 'loading says so');
  check((await page.getByText('Drop a file here').count()) === 0, 'and asks for no file meanwhile');
  check(await until(async () => (await page.locator('progress').getAttribute('value')) === '1'), 'and how far it is');
  await axeClean(page, 'loading');
  await page.screenshot({ path: path.join(folder, 'loading.png') });
  await page.getByRole('button', { name: 'Cancel' }).click();
  check(await until(() => page.getByRole('alert').filter({ hasText: 'Cancelled' }).isVisible()), 'and can be cancelled');
  check(await shows(page, 'Drop a file here'), 'then another can be opened');
  await page.context().close();
}

// Hostile names, ranks, and the bare page.
for (const [name, made, views] of [['hostile', hostile(), kViews], ['hostile-columns', hostileColumned(), kViews], ['ranks', ranks(), ['ranks', 'findings']]]) {
  const page = await newPage();
  const file = writePage(name, made);
  for (const view of views) {
    await visit(page, file, `view=${view}&object=2`);
    await page.waitForTimeout(60);
    check((await page.locator('img, iframe, main script').count()) === 0, `${name}, ${view}: no markup from names`);
    await page.screenshot({ path: path.join(folder, `${name}-${view}.png`) });
  }
  await axeClean(page, name);
  await page.context().close();
  fs.rmSync(file);
}
{
  const page = await newPage();
  const file = path.join(folder, 'empty.html');
  fs.writeFileSync(file, application);
  await visit(page, file, '');
  check(await shows(page, 'Drop a file here'), 'the bare page says what it takes');
  await axeClean(page, 'bare page');
  await page.screenshot({ path: path.join(folder, 'empty.png') });
  await page.context().close();
}

await finish(browser, folder);
