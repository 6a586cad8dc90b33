// SPDX-License-Identifier: Apache-2.0
// Small decks for the tests.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDeck } from '../build/deck.mjs';

/** A folder that is gone after the test `t`. */
export function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), 'odori_slides_test_'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The text of a slide; what isn't given is as it should be. */
export function slideText({ id = 'one', words = `${id}, 1 min`, en = '## Head\nText', ja = '## 見出し\n本文', enNotes = 'Say it.', jaNotes = '話す。', hash = '' }) {
  return `<!-- slide: ${words} -->\n<!-- en -->\n${en}\n<!-- notes -->\n${enNotes}\n<!-- ja${hash && ` ${hash}`} -->\n${ja}\n<!-- notes -->\n${jaNotes}\n`;
}

/** Writes slides' texts as a deck and reads it. */
export function deckOf(t, ...slides) {
  const path = join(scratch(t), '9_test.md');
  writeFileSync(path, `---\ntitle: { en: "A test", ja: "テスト" }\n---\n\n${slides.join('\n')}`);
  return readDeck(path);
}

/** What a Problem should say, for assert.rejects. */
export const saying = (...parts) => (problem) => {
  for (const part of parts) if (!problem.message.includes(part)) throw new Error(`"${part}" should be in: ${problem.message}`);
  return true;
};
