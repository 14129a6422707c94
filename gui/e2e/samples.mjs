// SPDX-License-Identifier: Apache-2.0
// Profiles samples, then opens each report in Debian's Chromium, from file:// and from `drgpum view`: every view in light
// and dark, one interaction each, no error, no request but to the server, nothing that axe finds.
//     node e2e/samples.mjs --drgpum PROGRAM --programs FOLDER --out FOLDER [--only NAME,NAME]
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { axeClean, check, failures, finish, kViews, newPage, startBrowser, until, visit } from './browser.mjs';

const { values: args } = parseArgs({ options: { drgpum: { type: 'string' }, programs: { type: 'string' }, out: { type: 'string' }, only: { type: 'string' } } });
const browser = await startBrowser();
fs.mkdirSync(args.out, { recursive: true });
const names = args.only?.split(',') ?? fs.readdirSync(args.programs).filter((n) => fs.existsSync(path.join(args.programs, n, 'naive')));

// Runs one variant under drgpum and gives the paths of its trace and page.
function profile(name, variant) {
  const base = path.join(args.out, `${name}-${variant}`);
  const trace = `${base}.drgp`;
  const run = [args.drgpum, ['run', '--device', 'emulated', '--mode', 'intra', '--timing', '-q', '-f', '-o', trace, '--', path.join(args.programs, name, variant)]];
  execFileSync(...run, { stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 });
  execFileSync(args.drgpum, ['view', trace, '-o', `${base}.html`], { stdio: ['ignore', 'ignore', 'inherit'] });
  return { trace, html: `${base}.html` };
}

const hash = (page) => new URL(page.url()).hash;
const shows = (page, selector) => until(() => page.locator(selector).first().isVisible());

// One interaction in each view, and what it has to bring about, whatever the report holds.
const kActs = {
  findings: async (p) => {
    if ((await p.locator('.findings section.first').count()) === 0) return shows(p, 'text=No finding');
    await p.locator('section.first .place').click();
    return shows(p, '.detail');
  },
  memory: async (p) => { await p.locator('main canvas').first().click({ position: { x: 400, y: 60 } }); return until(() => /at=\d+/.test(hash(p))); },
  objects: async (p) => { await p.locator('.labels [role=row]').first().click(); return shows(p, '.detail'); },
  stacks: async (p) => { await p.locator('main select').first().selectOption('allocated'); return until(() => /metric=allocated/.test(hash(p))); },
  order: async (p) => { await p.keyboard.press('ArrowRight'); return until(() => /at=\d+/.test(hash(p))); },
  addresses: async (p) => { await p.locator('canvas.map').click({ position: { x: 500, y: 200 } }); return until(() => /at=\d+/.test(hash(p))); },
  inside: async (p) => { const links = p.locator('main button.link'); if ((await links.count()) === 0) return shows(p, '.absent'); await links.first().click(); return shows(p, '.detail'); },
  plan: (p) => shows(p, '.meter'),
  diff: (p) => shows(p, 'text=Drop a second report'),
  ranks: (p) => shows(p, 'text=This report is about one program'),
  quality: (p) => shows(p, 'text=Not seen'),
};

// `looks`: with screenshots, in light and dark, and axe.
async function everyView(page, label, looks) {
  for (const view of kViews) {
    await page.evaluate((v) => { location.hash = `#view=${v}`; }, view);
    await until(() => page.locator(`main[data-view=${view}]`).evaluate((main) => main.childElementCount > 0));
    if (looks) {
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      await page.screenshot({ path: path.join(args.out, `${label}-${view}-light.png`) });
      await axeClean(page, `${label}, ${view}, light`);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      await page.screenshot({ path: path.join(args.out, `${label}-${view}-dark.png`) });
      await axeClean(page, `${label}, ${view}, dark`, ['color-contrast']);
      await page.emulateMedia({ colorScheme: 'light' });
    }
    check(await kActs[view](page), `${label}, ${view}: the interaction does what it should (${hash(page)})`);
  }
  // Back through what was looked at.
  const places = [];
  for (let k = 0; k < 4; k++) {
    places.push(hash(page));
    await page.goBack();
  }
  for (const place of places.reverse()) {
    await page.goForward();
    check(await until(() => hash(page) === place), `${label}: forward comes to ${place}, not ${hash(page)}`);
  }
}

async function fromServer(trace, label) {
  const server = spawn(args.drgpum, ['view', '--no-browser', trace], { stdio: ['ignore', 'pipe', 'ignore'] });
  const url = await new Promise((resolve) => server.stdout.once('data', (text) => resolve(String(text).trim())));
  const own = new URL(url).origin;
  const page = await newPage(browser, { allowed: new RegExp(`^(${own}/|blob:|data:|about:)`) });
  await visit(page, url);
  check(!page.url().includes('t='), `${label}: the token leaves the address`);
  await everyView(page, `${label}, served`, false);
  await page.context().close();
  server.kill();
}

for (const name of names)
  for (const variant of ['naive', 'fixed'].filter((v) => fs.existsSync(path.join(args.programs, name, v)))) {
    const label = `${name}-${variant}`;
    const { trace, html } = profile(name, variant);
    const page = await newPage(browser, { allowed: /^(file|blob|data|about):/, width: 1280, height: 720 });
    await visit(page, pathToFileURL(html).href);
    if (label === 'simple_multi_copy-naive') await firstScreen(page);
    await everyView(page, label, true);
    await page.context().close();
    if (variant === 'naive') await fromServer(trace, label);
  }

// A person new to it finds the line to change without scrolling.
async function firstScreen(page) {
  const first = page.locator('section.first');
  const box = await first.boundingBox();
  check(box !== null && box.y + box.height <= 720, 'the first finding is on the first screen of 1280 × 720');
  const text = (await first.innerText()).replace(/\s+/g, ' ');
  for (const part of [/naive\.cu:\d+/, /d_\w+/, /idle at the peak/i, /[1-9][\d.]* [KMG]?i?B/, /allocate|free|drop|reuse|use/i]) check(part.test(text), `the first finding has ${part}: ${text.slice(0, 300)}`);
}

if (failures.length === 0) console.log(`${names.length} samples`);
await finish(browser, args.out);
