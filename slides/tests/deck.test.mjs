// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { acceptTranslations, hashOf, readDeck, refuseOldTranslations } from '../build/deck.mjs';
import { deckOf, saying, slideText } from './fixtures.mjs';

test('A deck is read, with both languages of each slide', async (t) => {
  const { title, slides } = await deckOf(t, slideText({ words: 'one, 2.5 min, class: split' }), slideText({ id: 'two' }));
  assert.equal(title.ja, 'テスト');
  assert.deepEqual(slides.map(({ id, minutes, classes }) => [id, minutes, classes]), [['one', 2.5, 'split'], ['two', 1, '']]);
  assert.deepEqual([slides[0].en.body, slides[0].ja.notes], ['## Head\nText', '話す。']);
});

test('Frames are pages of one slide: one text, one time, one translation', async (t) => {
  const deck = await deckOf(t, slideText({ words: 'one, 2 min, class: picture, frames: 3' }), slideText({ id: 'two' }));
  assert.deepEqual(deck.slides.map(({ id, minutes, frame }) => [id, minutes, frame]), [['one', 2, 1], ['one_2', 0, 2], ['one_3', 0, 3], ['two', 1, undefined]]);
  await assert.rejects(refuseOldTranslations(deck), ({ message }) => message.split('was never held').length === 3);
  assert.equal(acceptTranslations(deck, []), 2);
});

test('What is not a deck is refused, with the line', async (t) => {
  const refused = [
    [slideText({ words: 'One, 1 min' }), 'should read: <!-- slide: ID, MINUTES min', ':5:'],
    [slideText({ words: 'one, 1 min, class: huge' }), 'There is no class "huge"'],
    [slideText({}) + slideText({}), 'Two slides are called one'],
    [slideText({ enNotes: '' }), 'has no notes in en'],
    [slideText({ jaNotes: '' }), 'has no notes in ja', ':11:'],
    [slideText({ ja: '本文だけ' }), 'should begin with its one heading'],
    [slideText({ en: '## One\n## Two' }), 'it has 2 headings'],
    [slideText({}).split('<!-- ja')[0], 'The slide one has no part in ja'],
    [slideText({ en: '## A\n![x](picture:a)', ja: '## あ\n![x](picture:b)' }), "doesn't show the same in both languages"],
    [slideText({ en: '## A\n<!-- code: solutions multi_gpu blank 1 -->' }), "doesn't show the same in both languages"],
    [slideText({ en: '## A\n{{a.json x}}' }), "doesn't show the same in both languages"],
    ['lost words', 'belongs to no language'],
  ];
  for (const [text, ...parts] of refused) await assert.rejects(deckOf(t, text), saying(...parts));
});

test('All faults of a deck are said at once', async (t) => {
  await assert.rejects(deckOf(t, slideText({ enNotes: '' }), slideText({ id: 'two', jaNotes: '' })), saying('one has no notes', 'two has no notes'));
});

test('A translation is accepted once, and old when its English body or notes change', async (t) => {
  const deck = await deckOf(t, slideText({}), slideText({ id: 'two' }));
  await assert.rejects(refuseOldTranslations(deck), saying('slide one was never held', 'slide two was never held', 'accept 9_test two'));
  assert.equal(acceptTranslations(deck, ['one']), 1);
  await assert.rejects(refuseOldTranslations(await readDeck(deck.path)), saying('slide two'));
  assert.equal(acceptTranslations(await readDeck(deck.path), []), 1);
  await refuseOldTranslations(await readDeck(deck.path));
  assert.equal(acceptTranslations(await readDeck(deck.path), []), 0);
  const hash = hashOf(deck.slides[0].en);
  assert.match(readFileSync(deck.path, 'utf8'), new RegExp(`<!-- ja ${hash} -->`));
  for (const change of [{ en: '## Head\nOther' }, { enNotes: 'Say something else.' }]) {
    await assert.rejects(refuseOldTranslations(await deckOf(t, slideText({ hash, ...change }))), saying('has changed since it was translated'));
  }
  assert.throws(() => acceptTranslations(deck, ['three']), saying('There is no slide three'));
});
