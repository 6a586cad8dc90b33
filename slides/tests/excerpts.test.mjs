// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { emptied, excerpt } from '../build/excerpts.mjs';
import { withoutLongLines } from '../build/long_lines.mjs';
import { marpText } from '../build/page.mjs';
import { withNumbers } from '../build/numbers.mjs';
import { deckOf, saying, scratch, slideText } from './fixtures.mjs';

const blanks = { multi_gpu: 8, multi_node: 7 };

test('Every exercise has its blanks on slides, and others are missed', () => {
  assert.match(excerpt('solutions ring blank 4').text, /exchange/);
  assert.throws(() => excerpt('solutions samba blank 1'), saying('no exercise samba'));
});

test('Every blank of both tasks is found, in exercises and solutions, without its question', () => {
  for (const [task, count] of Object.entries(blanks)) {
    for (let number = 1; number <= count; ++number) {
      const empty = excerpt(`exercises ${task} blank ${number}`).text;
      const answer = excerpt(`solutions ${task} blank ${number}`).text;
      assert.match(empty, /PUT_YOUR_CODE/);
      assert.doesNotMatch(answer, /PUT_YOUR_CODE|BLANK/);
      assert.doesNotMatch(empty, /BLANK|\/\/|^# /m);
      assert.equal(emptied(answer.split('\n')).join('\n'), empty, "a learner's filled-in exercise looks as it was at first");
    }
    assert.throws(() => excerpt(`solutions ${task} blank ${count + 1}`), saying(`There is no blank ${count + 1} of ${task}`));
  }
});

test('Several blanks keep their numbers', () => {
  const { text, language } = excerpt('exercises multi_gpu blanks 2-4');
  assert.deepEqual(text.match(/BLANK \d+/g), ['BLANK 2', 'BLANK 3', 'BLANK 4']);
  assert.match(text, /pool\.use/);
  assert.equal(language, 'cpp');
});

test('A list of blanks shows these alone, each with its number', () => {
  const { text, language } = excerpt('solutions ring blanks 2, 8');
  assert.match(text, /^const int previous = .*;  \/\/ 2\nfor \(.*\/\/ 8$/);
  assert.equal(language, 'cpp');
  assert.match(excerpt('solutions multi_gpu blanks 7, 8').text, /\/\/ 7\n#PBS .*  # 8$/);
  assert.throws(() => excerpt('solutions ring blanks 2, 99'), saying('no blank 99'));
});

test('Lines of a file are found by their text, and missed when it is gone', () => {
  assert.equal(excerpt('odori "word_demo() {" to "}"').text.split('\n')[0], 'word_demo() {');
  assert.equal(excerpt('odori "word_demo() {"').text, 'word_demo() {');
  assert.throws(() => excerpt('odori "no such line"'), saying('no line with "no such line" in odori any more'));
  assert.throws(() => excerpt('odori "word_demo() {" to "no such line"'), saying('After "word_demo() {"'));
  assert.throws(() => excerpt('lib/gone.h'), saying('no file lib/gone.h'));
  assert.throws(() => excerpt('solutions blank'), saying('names neither a blank'));
});

test('Long code is broken rather than small, where a slide has room for it', async (t) => {
  const sizeOf = async (text) => Number(/pre \{ font-size: (\d+)px/.exec(await marpText(await deckOf(t, slideText({ words: 'one, 1 min, class: code', en: text, ja: text })), 'en'))[1]);
  assert.ok(await sizeOf('## A\n<!-- code: solutions multi_node blank 4 -->') >= 24);
  assert.equal(await sizeOf(`## A\n<!-- code: solutions multi_node blanks 1-6 -->\n${'- line\n'.repeat(4)}`), 22);
});

test('A build fails where code or a picture is gone, and says where', async (t) => {
  for (const [body, part] of [['<!-- code: solutions multi_gpu blank 99 -->', 'no blank 99'], ['![x](picture:gone)', 'no slides/pictures/gone.mjs'],
    ['{{gone.json x}}', 'no result file slides/results/gone.json'], ['<!-- colour: red -->', 'is no directive']]) {
    const deck = await deckOf(t, slideText({ en: `## A\n${body}`, ja: `## あ\n${body}` }));
    await assert.rejects(marpText(deck, 'ja'), saying(part, ':11:'));
  }
});

test('Numbers are written as asked, and missed where there are none', (t) => {
  const file = join(scratch(t), 'result.json');
  writeFileSync(file, JSON.stringify({ machine: {}, date: '2026-01-31', model: 'mid', runs: [{ speedup: 3 }] }));
  assert.equal(withNumbers(`{{${file} model}} and {{${file} runs.0.speedup}}`), 'mid and 3');
  assert.equal(withNumbers(`{{${file} runs.0.speedup .2f}}, {{${file} runs.0.speedup .0%}}`), '3.00, 300 %');
  assert.throws(() => withNumbers(`{{${file} runs}}`), saying('no number or text'));
  assert.throws(() => withNumbers(`{{${file} nothing.there}}`), saying('no number or text'));
  assert.throws(() => withNumbers(`{{${file} model .2f}}`), saying("isn't a way to write"));
});

test('What is longer than a slide is wide is broken where a reader would, and keeps its indentation', () => {
  const cut = (text, columns, language = '') => withoutLongLines(text, columns, language).split('\n');
  assert.deepEqual(cut('Updater(std::vector<Iterator> iterators,\n        Pool& pool, Rule rule = Rule::mean);', 40, 'cpp'),
    ['Updater(std::vector<Iterator> iterators,', '        Pool& pool,', '        Rule rule = Rule::mean);']);
  assert.deepEqual(cut('// one, two, three, four', 12, 'cpp'), ['// one, two, three, four'], 'a comment is no code');
  assert.deepEqual(cut('[ good ] four words of it\n[ good ] more', 20), ['[ good ] four words', '         of it', '[ good ] more']);
  assert.deepEqual(cut('  one two three\n  four\n\n  five', 10), ['  one two', '  three', '  four', '', '  five']);
  assert.deepEqual(cut('  one two three\n  four', 12), ['  one two', '  three four'], 'the rest goes on into the line that continues it');
  assert.deepEqual(cut('  埋めて、もう一度投入してください。', 22), ['  埋めて、もう一度投入', '  してください。']);
  assert.deepEqual(cut('short', 5), ['short']);
});
