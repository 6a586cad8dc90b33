// SPDX-License-Identifier: Apache-2.0
// The timeline page (./odori timeline) in a browser: what it draws can be moved about in, pointed at and printed.
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

const program = join(process.env.ODORI_BUILD ?? join(kit, 'build'), 'bin/odori_timeline');
const n = 5;

/** Two ranks; an all-reduce goes on during backward, another after it; in iteration 3 rank 1 comes 7 ms late. */
function streamOf(rank) {
  const events = [];
  for (let k = 0; k < n; ++k) {
    const begin = 1_000_000 + k * 50_000, late = rank && k === 2 ? 7000 : 0;
    const add = (name, at, dur, bytes) => events.push({ name, ph: 'X', pid: rank, tid: 0, ts: begin + late + at, dur, ...(bytes && { args: { bytes } }) });
    add('forward', 0, 10_000);
    add('backward', 10_000, 20_000);
    add('allreduce', 20_000, 5000, 4 << 20);
    add('allreduce', 30_000, 5000, 4 << 20);
    add('update', 36_000, 2000);
    events.push({ name: 'iteration', ph: 'X', pid: rank, tid: 0, ts: begin, dur: 49_000 });
  }
  return `[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]\n`;
}

async function openPage(t, options = []) {
  const folder = scratch(t);
  for (const rank of [0, 1]) writeFileSync(join(folder, `trace.${rank}.json`), streamOf(rank));
  const done = spawnSync(program, [folder, '--lang', 'en', ...options], { encoding: 'utf8' });
  assert.equal(done.status, 0, `${program} should be built, and draw: ${done.stderr ?? done.error}`);
  const browser = await puppeteer.launch({ executablePath: chromiumPath(), args: asRoot ? ['--no-sandbox'] : [] });
  t.after(() => browser.close());
  const page = await browser.newPage(), faults = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => { if (!/^(file|data):/.test(request.url())) faults.push(`asks for ${request.url()}`); });
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(pathToFileURL(join(folder, 'timeline.html')).href);
  return { page, faults, seen: () => page.evaluate('scale.domain()') };
}

test('Keys, buttons and the window\'s size move what is shown, and nothing fails', { timeout: 200000 }, async (t) => {
  const { page, faults, seen } = await openPage(t);
  const length = ([a, b]) => b - a, all = await seen();
  assert.ok(length(all) > 240_000, `all iterations are shown at first: ${all}`);
  await page.keyboard.press('n');
  const one = await seen();
  assert.ok(Math.abs(length(one) - 49_000 * 1.024) < 9000, `one iteration: ${one}`);
  await page.keyboard.press('n');
  assert.ok(Math.abs((await seen())[0] - one[0] - 50_000) < 2000, 'the next one');
  await page.keyboard.press('w');
  const closer = await seen();
  assert.ok(Math.abs(length(closer) * 1.5 / length(await one) - 1) < 0.2, 'closer');
  await page.setViewport({ width: 900, height: 700 });
  await page.waitForFunction('width < 900');
  assert.ok(Math.abs((await seen())[0] - closer[0]) < 100, 'another window shows the same time');
  await page.keyboard.press('d');
  assert.ok((await seen())[0] > closer[0] + 1000, 'moved');
  await page.click('[data-view=all]');
  assert.deepEqual((await seen()).map(Math.round), all.map(Math.round));
  assert.deepEqual(faults, []);
});

test('A span says what it is, how much it moved, and who came last', { timeout: 200000 }, async (t) => {
  const { page, faults } = await openPage(t);
  const canvas = await (await page.$('canvas')).boundingBox();
  const at = await page.evaluate('({ x: scale(data.rows[0].spans.filter((span) => data.names[span[0]] === "allreduce")[5][1] + 2000), y: laneTop(data.kinds.indexOf("communication"), top_of(0)) + laneHeight / 2, lanes: two_lanes })');
  assert.ok(at.lanes, 'communication that overlaps computing has a lane of its own');
  await page.mouse.move(canvas.x + at.x, canvas.y + at.y);
  const words = await page.$eval('#tip', (tip) => tip.innerText);
  for (const part of ['all-reduce: 5.00 ms', 'rank 0', 'iteration 3', '4.0 MiB', 'last to come: rank 1, 7.00 ms after the first']) assert.ok(words.includes(part), `"${part}" in "${words}"`);
  const tip = await (await page.$('#tip')).boundingBox();
  assert.ok(tip.y >= canvas.y + canvas.height, 'what is said of a bar lies over no other bar');
  await page.click('#language');
  assert.match(await page.$eval('main', (main) => main.innerText), /隠れていない通信/);
  assert.doesNotMatch(await page.$eval('main', (main) => main.innerText), /exposed|undefined|NaN/);
  assert.deepEqual(faults, []);
});

test('An all-reduce is hatched until the last rank has come, and whole from there', { timeout: 200000 }, async (t) => {
  const { page, faults } = await openPage(t);
  await page.evaluate('showIteration(2)');  // to which rank 1 comes late
  const colours = await page.evaluate(() => {
    const density = canvas.width / width;
    const y = (laneTop(data.kinds.indexOf('communication'), top_of(0)) + 3) * density;
    const waits = data.rows[0].spans.filter((span) => span[4] > 0);
    const of = (from, to) => {  // the colours within, as one number each
      const a = Math.round((scale(from) + 4) * density), b = Math.round((scale(to) - 4) * density);
      const pixels = canvas.getContext('2d').getImageData(a, y, b - a, 1).data;
      return new Set(Array.from({ length: b - a }, (_, i) => pixels.slice(4 * i, 4 * i + 3).join())).size;
    };
    const [, from, , , wait] = waits[0];
    return { n: waits.length, wait, hatched: of(from, from + wait), others: data.rows[1].spans.filter((span) => span[4]).length };
  });
  assert.equal(colours.n, 2, 'both all-reduces of rank 0 in iteration 3 wait');
  assert.equal(colours.wait, 5000, 'at most as long as they last');
  assert.ok(colours.hatched > 2, `stripes: ${colours.hatched} colours`);
  assert.equal(colours.others, 0, 'the last one waits for nobody');
  assert.match(await page.$eval('#legend', (legend) => legend.innerText), /waiting for the last rank/);
  assert.deepEqual(faults, []);
});

test('It says when the training was, and where it was drawn', { timeout: 200000 }, async (t) => {
  const { page } = await openPage(t);
  const day = new Date(1000);  // of streamOf
  const words = await page.$eval('.where', (where) => where.innerText);
  assert.match(words, new RegExp(`^recorded ${day.getFullYear()}-\\d\\d-\\d\\d \\d\\d:\\d\\d\\s+drawn on .+, \\d+ cores?`));
});

test('It prints on one sheet', { timeout: 200000 }, async (t) => {
  const { page } = await openPage(t);
  const pdf = Buffer.from(await page.pdf({ preferCSSPageSize: true, printBackground: true })).toString('latin1');
  assert.equal(pdf.match(/\/Type\s*\/Page\b/g)?.length, 1);
});
