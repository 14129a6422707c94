// SPDX-License-Identifier: Apache-2.0
// What the runs in a browser share: Debian's Chromium, pages that report every error and request, axe, waiting.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
export const kSkipped = 77; // the exit status that ctest shows as skipped
export const kViews = ['findings', 'memory', 'objects', 'stacks', 'order', 'addresses', 'inside', 'plan', 'diff', 'ranks', 'quality'];

// Each failure is printed once, and counted.
export const failures = {
  length: 0,
  seen: new Set(),
  push(what) {
    this.length++;
    if (!this.seen.has(what)) console.log(`FAILED ${what}`);
    this.seen.add(what);
  },
};
export const check = (right, what) => right || failures.push(what);

export function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(kSkipped);
}

export async function startBrowser() {
  const known = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const executablePath = process.env.DRGPUM_CHROMIUM ?? known.find((p) => fs.existsSync(p));
  if (!executablePath) skip('no Chromium here (apt-get install chromium, or set DRGPUM_CHROMIUM)');
  let playwright;
  try {
    playwright = await import('playwright-core');
  } catch {
    skip('the npm package playwright-core is not installed (npm ci in gui/)');
  }
  return playwright.chromium.launch({ executablePath, args: ['--no-sandbox', '--enable-precise-memory-info'], timeout: 180_000 });
}

// A page that may ask for nothing but what `allowed` matches.
export async function newPage(browser, { colorScheme = 'light', allowed = /^(file|blob|data|about):/, width = 1440, height = 900 } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  page.on('console', (m) => (m.type() === 'error' || m.type() === 'warning') && failures.push(`console: ${m.text().slice(0, 300)}`));
  page.on('pageerror', (e) => failures.push(`page error: ${e.message.slice(0, 300)}`));
  page.on('dialog', (d) => { failures.push(`dialog: ${d.message()}`); void d.dismiss(); });
  page.on('request', (r) => allowed.test(r.url()) || failures.push(`request: ${r.url().slice(0, 200)}`));
  return page;
}

export async function visit(page, url) {
  await page.goto('about:blank');
  await page.goto(url);
  await page.waitForSelector('html[data-ready=yes]', { timeout: 120_000 });
}

let axe;
// `rules`: only these; the same page in other colours differs in its contrast alone.
export async function axeClean(page, where, rules = null) {
  axe ??= fs.readFileSync(path.join(here, '../node_modules/axe-core/axe.min.js'), 'utf8');
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const found = await page.evaluate((only) => window.axe.run(document, { resultTypes: ['violations'], ...(only ? { runOnly: { type: 'rule', values: only } } : {}) }), rules);
  for (const v of found.violations) failures.push(`axe, ${where}: ${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(' | ')}`);
}

export async function until(test) {
  for (let k = 0; k < 400; k++) {
    if (await test()) return true;
    await new Promise((r) => setTimeout(r, 50));
  }
  return false;
}

export async function finish(browser, folder) {
  await browser.close();
  console.log(failures.length === 0 ? `passed; screenshots in ${folder}` : `${failures.length} failures`);
  process.exit(failures.length === 0 ? 0 : 1);
}
