// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { refuseDeadMentions } from '../check/mentions.mjs';
import { deckOf, saying, slideText } from './fixtures.mjs';

test('Links, files and words that are there pass', async (t) => {
  const en = '## A\n[x](exercises/README.md#is-it-right) [y](https://arxiv.org/abs/1706.02677) `lib/odori.h` `./odori check multi_gpu --no-speedup` `./odori WORD`';
  await refuseDeadMentions(await deckOf(t, slideText({ en })));
});

test('Those that lead nowhere are refused, in text and notes, in both languages', async (t) => {
  const refused = [
    [{ en: '## A\n[x](exercises/gone.md)' }, 'links to exercises/gone.md'],
    [{ ja: '## あ\n[x](https://)' }, 'no web address'],
    [{ enNotes: 'See `lib/gone.h`.' }, 'names lib/gone.h'],
    [{ en: '## A\n`./odori run multi_gpu --n_cards 2`' }, 'the flag --n_cards, and none of its programs has it'],
    [{ jaNotes: '`./odori dance`を実行する' }, 'calls ./odori dance'],
  ];
  for (const [change, part] of refused) await assert.rejects(refuseDeadMentions(await deckOf(t, slideText(change))), saying(part, 'slide one'));
});
