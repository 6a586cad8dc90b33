// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { originsOf, withNumbers } from '../build/numbers.mjs';
import { marpText } from '../build/page.mjs';
import { readQuoted } from '../build/results.mjs';
import { vgg } from '../build/vgg.mjs';
import { refuseTypedFigures } from '../check/numbers.mjs';
import { deckOf, saying, scratch, slideText } from './fixtures.mjs';

test('Formulas are computed from the deck, the kit and quotations, and missed where they give no number', () => {
  const numbers = { n: 3, twice: '2 * n', ten: '(x) => 10 * x' };
  assert.equal(withNumbers('{{= ceil(twice / 4)}}, {{= ten(n) ,.1f}}, {{= 1 / 3 .0%}}, {{= vgg().parameters ,}}', numbers), '2, 30.0, 33 %, 14,987,200');
  assert.equal(withNumbers('{{= quoted.reedbush.batchsize}}'), '32');
  assert.throws(() => withNumbers('{{= m + 1}}', numbers), saying("can't be computed", 'm is not defined'));
  assert.throws(() => withNumbers('{{= n / 0}}', numbers), saying('is no number'));
  assert.throws(() => withNumbers("{{= minutesOf('1_hands_on', 'gone')}}"), saying('no slide gone'));
});

test('Origins are followed through a deck\'s own names', () => {
  const numbers = { a: 'b + 1', b: 'quoted.reedbush.batchsize', c: "result('opening.json').runs" };
  assert.deepEqual(originsOf('{{= a}} {{speedup.json rounds}}', numbers), { files: ['speedup.json'], quoted: ['reedbush'] });
  assert.deepEqual(originsOf('{{= c}}', numbers), { files: ['opening.json'], quoted: [] });
});

test('A slide with quoted or measured numbers says whose they are at its foot', async (t) => {
  const body = 'Batch {{= quoted.reedbush.batchsize}}, {{speedup.json rounds}} rounds';
  const text = await marpText(await deckOf(t, slideText({ en: `## A\n${body}`, ja: `## あ\n${body}` })), 'en');
  assert.match(text, /<div class="source">Quoted: K\. Yamazaki.* · Measured: .*, \d+ cores/);
});

test('A quotation without its source is refused', (t) => {
  const file = join(scratch(t), 'quoted.json');
  writeFileSync(file, JSON.stringify({ someone: { source: { en: 'A book' }, seconds: 3 } }));
  assert.throws(() => readQuoted(file), saying('"someone" has no source in en and ja'));
});

test('The VGG is counted as the kit builds it', () => {
  assert.deepEqual([vgg(32).products, vgg(32).parameters, vgg(256).parameters, vgg(32).outputs], [313463808, 14987200, 31502272, 276480]);
});

test('Figures that were typed are refused; names, counts and code are not', async (t) => {
  for (const typed of ['It took 12 s.', 'Faster by 8 %', '1.7 times', '60,000 images', '| a | b |\n|---|---:|\n| x | 7 |', '**5.2** GB', '約 3 秒']) {
    await assert.rejects(refuseTypedFigures(await deckOf(t, slideText({ en: `## A\n${typed}`, ja: `## あ\n${typed}` }))), saying('The slide one says "', 'by hand'));
  }
  const fine = '## Task 1, 3 × 3\n1. Two devices, 2 ranks `--batchsize 64 s`\n\n| a | b |\n|---|---:|\n| 32 × 32 | {{= 7}} MB |\n\n```\n12.5 s\n```\n[Goyal, 2017](https://arxiv.org/abs/1706.02677)';
  await refuseTypedFigures(await deckOf(t, slideText({ en: fine, ja: fine })));
});
