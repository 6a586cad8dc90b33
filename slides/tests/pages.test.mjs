// SPDX-License-Identifier: Apache-2.0
// All pages that the kit makes, in a browser: on a phone, on paper, in the dark, and in both languages.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';
import { asRoot, chromiumPath } from '../build/render.mjs';
import { kit } from '../build/problem.mjs';
import { scratch } from './fixtures.mjs';

const build = process.env.ODORI_BUILD ?? join(kit, 'build');

function run(program, args, env = {}) {
  const done = spawnSync(join(build, program), args, { encoding: 'utf8', env: { ...process.env, ...env } });
  assert.equal(done.status, 0, `${program} should be built, and end well: ${done.stderr ?? done.error}\n${done.stdout}`);
}

/** A page of each kind: [its name, its file, its width on paper in pixels]. */
function pages(folder) {
  const a4 = 1039, upright = 688;  // less the margins
  run('tests/report_test', ['--gtest_filter=Page.ExamplesForABrowser'], { ODORI_PAGES: folder });
  run('tests/class_report_write', [folder, '60']);
  const event = (name, rank, ts, dur) => ({ name, ph: 'X', pid: rank, tid: 0, ts, dur, args: { bytes: 4096 } });
  for (const rank of [0, 1])
    writeFileSync(join(folder, `trace.${rank}.json`), JSON.stringify([0, 1, 2].flatMap((k) => [event('forward', rank, 1000 * k, 400 + 100 * rank),
      event('allreduce', rank, 1000 * k + 500 + 100 * rank, 200), event('iteration', rank, 1000 * k, 1000)])));
  run('bin/odori_timeline', [folder, '--lang', 'en']);
  return [['the class', 'report.html', a4], ['a student', 'students/3/report.html', upright], ['the comparison', 'comparison.html', a4],
    ['the costs', 'costs.html', a4], ['a figure', 'figure.html', a4], ['the timeline', 'timeline.html', a4]].map(([name, file, width]) => ({ name, url: pathToFileURL(join(folder, file)).href, width }));
}

/** What sticks out of the page, unless it lies in a part that can be moved sideways. */
const sticksOut = (width) => [...document.querySelectorAll('body *')]
  .filter((one) => one.getBoundingClientRect().right > width + 1 && !one.closest('.scroll, pre'))
  .map((one) => `<${one.localName} class="${one.className}"> ${one.innerText?.slice(0, 40)}`);
const cutOnPaper = (width) => [...document.querySelectorAll('main *')]
  .filter((one) => one.getBoundingClientRect().right > width + 1).map((one) => `<${one.localName}> ${one.innerText?.slice(0, 40)}`);
const brightness = (selector, what) => {
  const [r, g, b] = getComputedStyle(document.querySelector(selector))[what].match(/[\d.]+/g).map(Number);
  return (r + g + b) / 765;
};

test('Pages fit a phone and paper, are dark in the dark, and speak one language at a time', { timeout: 300000 }, async (t) => {
  const browser = await puppeteer.launch({ executablePath: chromiumPath(), args: asRoot ? ['--no-sandbox'] : [] });
  t.after(() => browser.close());
  for (const { name, url, width } of pages(scratch(t))) {
    const page = await browser.newPage();
    page.on('pageerror', (error) => assert.fail(`${name}: ${error.message}`));
    await page.setViewport({ width: 390, height: 844 });
    await page.goto(url);
    assert.deepEqual(await page.evaluate(sticksOut, 390), [], `${name} on a phone`);
    assert.ok(await page.evaluate('document.documentElement.scrollWidth') <= 390, `${name} on a phone isn't moved sideways as a whole`);

    if (name === 'the costs') {
      const reasons = await page.$$eval('.reason div', (parts) => parts.map((part) => part.getBoundingClientRect().right));
      assert.ok(reasons.length && Math.max(...reasons) <= 390, `${name} on a phone: why a way was not measured can be read without moving the table`);
    }
    const moved = await page.$$eval('.scroll', (parts) => parts.filter((part) => part.scrollWidth > part.clientWidth).map((part) => {
      const first = part.querySelector('tbody tr > :first-child'), before = first.getBoundingClientRect().left;
      part.scrollLeft = 60;
      return [part.scrollLeft, first.getBoundingClientRect().left - before];
    }));
    for (const [by, first] of moved) assert.ok(by > 0 && first === 0, `${name}: a table that is moved sideways keeps its first column`);

    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    for (const part of ['body', 'section']) assert.ok(await page.evaluate(brightness, part, 'backgroundColor') < 0.25, `${name}: ${part} in the dark`);
    assert.ok(await page.evaluate(brightness, 'section', 'color') > 0.75, `${name}: text in the dark`);
    await page.evaluate('dispatchEvent(new Event("beforeprint"))');
    assert.equal(await page.evaluate('css("--paper")'), '#fff', `${name}: what is drawn for paper, in the dark`);
    await page.evaluate('dispatchEvent(new Event("afterprint"))');

    if (name !== 'a figure') {
      const words = () => page.$eval('body', (body) => body.innerText);
      const english = await words();
      await page.click('#language');
      const japanese = await words();
      assert.ok(english !== japanese && /[ぁ-ん]/.test(japanese), `${name} in Japanese`);
      assert.doesNotMatch(english.replaceAll('日本語', '').replaceAll('踊り', ''), name === 'the class' ? /学習|得点/ : /[ぁ-ん]/, `${name} in English`);
      assert.doesNotMatch(japanese, /ranks on \d|オールリデュース|通信方式/, `${name}: one word for one thing in Japanese`);
      for (const text of [english, japanese]) assert.doesNotMatch(text, /undefined|NaN|\[object/, name);
    }

    await page.setViewport({ width, height: 720 });
    await page.emulateMediaType('print');
    assert.deepEqual(await page.evaluate(cutOnPaper, width), [], `${name} on paper`);
    await page.close();
  }
});
