// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Problem, kit } from '../build/problem.mjs';
import { readResult } from '../build/results.mjs';
import { inkOn, widthOf } from '../pictures/parts/svg.mjs';
import { colours } from '../theme/palette.mjs';
import { saying, scratch } from './fixtures.mjs';

const folder = join(kit, 'slides/pictures');
const names = readdirSync(folder).filter((file) => file.endsWith('.mjs')).map((file) => file.slice(0, -4));

test('Each picture is drawn in both languages, and a chart whose result file is missing says so', async () => {
  for (const name of names) {
    const { default: draw } = await import(join(folder, `${name}.mjs`));
    const drawn = {};
    for (const language of ['en', 'ja']) {
      try {
        drawn[language] = await draw(language);
      } catch (problem) {
        assert.ok(problem instanceof Problem && problem.message.includes('slides/results/'), `${name}: ${problem.stack}`);
      }
    }
    if (!drawn.en) continue;
    for (const svg of Object.values(drawn)) {
      assert.match(svg, /^<svg xmlns="[^"]*" viewBox="0 0 \d+ \d+"/, name);
      assert.doesNotMatch(svg, /undefined|NaN|\[object/, name);
    }
    assert.doesNotMatch(drawn.en, /[\u3040-\u30ff]/, `${name}: kana in the English picture`);
    assert.notEqual(drawn.en, drawn.ja, `${name}: the same in both languages`);
  }
});

test('The README lists each picture, and none that isn\'t there', () => {
  const listed = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/^\| (`[^|]*`) \| (?:picture|split)/gm)].flatMap(([, cell]) => cell.match(/\w+/g));
  assert.deepEqual(listed.sort(), [...names].sort());
});

test('The timeline page and the pictures have the same colours', () => {
  const page = readFileSync(join(kit, 'lib/report/timeline_words.js'), 'utf8');
  for (const kind of ['load', 'forward', 'backward', 'update', 'send', 'evaluate', 'snapshot']) {
    assert.equal(new RegExp(`\\b${kind}: "(#\\w{6})"`).exec(page)?.[1], colours[kind], kind);
  }
  for (const kind of ['gather', 'allreduce']) assert.equal(new RegExp(`\\b${kind}: "(#\\w{6})"`).exec(page)?.[1], colours.communication, kind);
});

test('Trial figures and files without machine and date are refused', (t) => {
  const results = scratch(t), before = process.env.CI;
  t.after(() => { if (before === undefined) delete process.env.CI; else process.env.CI = before; });
  const write = (result) => writeFileSync(join(results, 'a.json'), JSON.stringify(result));
  assert.throws(() => readResult('b.json', results), saying('There is no result file', 'b.json'));
  write({ machine: {} });
  assert.throws(() => readResult('a.json', results), saying("doesn't say on what machine"));
  write({ machine: {}, date: '2026-01-31', provisional: true, value: 3 });
  process.env.CI = 'true';
  assert.throws(() => readResult('a.json', results), saying('trial figures'));
  delete process.env.CI;
  assert.equal(readResult('a.json', results).value, 3);
});

test('Words on a colour can be read, and a CJK sign is as wide as high', () => {
  assert.equal(inkOn(colours.forward), '#ffffff');
  assert.equal(inkOn(colours.waiting), colours.ink);
  assert.equal(widthOf('順伝播', 20), 60);
});
