// SPDX-License-Identifier: Apache-2.0
// ./odori slides: builds the decks, checks them, accepts translations.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checks } from '../check/check.mjs';
import { acceptTranslations, languages, readDecks, refuseOldTranslations } from './deck.mjs';
import { Problem, gatherProblems, fromKit, kit } from './problem.mjs';
import { render } from './render.mjs';
import { showInstead } from './results.mjs';
import { frameOf } from './traces.mjs';

const options = { lang: { type: 'string' }, html: { type: 'boolean' }, pdf: { type: 'boolean' }, only: { type: 'string' }, room: { type: 'string' } };

async function main() {
  const { values, positionals } = readFlags();
  if (positionals[0] === 'accept') return accept(positionals.slice(1));
  if (positionals[0] === 'check') return check(positionals.slice(1), values.only);
  if (positionals.length > 1) throw new Problem(`One deck at a time, or all of them; see ./odori slides --help.`);
  if (values.lang && !languages.includes(values.lang)) throw new Problem(`--lang takes en or ja, not "${values.lang}".`);
  if (values.room) showInstead('opening.json', frameOf(resolve(values.room)));
  const decks = await readDecks(positionals[0]);
  const formats = ['html', 'pdf'].filter((format) => values[format] || !(values.html || values.pdf));
  const files = await render(decks, values.lang ? [values.lang] : languages, formats, join(kit, 'out/slides'));
  for (const file of files) console.log(fromKit(file));
  for (const { name, slides } of decks)
    console.log(`${name}: ${slides.length} slides, ${slides.reduce((sum, { minutes }) => sum + minutes, 0)} minutes by their notes`);
  await warnOfOldTranslations(decks);
}

function readFlags() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new Problem(`${error.message}; see ./odori slides --help.`);
  }
}

async function accept([name, ...ids]) {
  if (!name) throw new Problem('accept which deck? ./odori slides accept DECK [SLIDE ...]');
  const [deck] = await readDecks(name);
  const changed = acceptTranslations(deck, ids);
  console.log(`${fromKit(deck.path)}: ${changed} translation${changed === 1 ? '' : 's'} recorded as up to date.`);
}

async function check([name], only) {
  if (only && !checks[only]) throw new Problem(`--only takes one of ${Object.keys(checks).join(', ')}.`);
  const decks = await readDecks(name);
  const folder = mkdtempSync(join(tmpdir(), 'odori_slides_'));
  try {
    const parts = only ? [only] : Object.keys(checks);
    await gatherProblems(parts, (part) => checks[part](decks, folder));
    const slides = decks.reduce((sum, deck) => sum + deck.slides.length, 0);
    console.log(`${parts.join(', ')}: nothing to mend on ${slides} slides of ${decks.length} decks, in both languages.`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** An author builds before the translation follows; the tests refuse what is only said here. */
async function warnOfOldTranslations(decks) {
  try {
    await gatherProblems(decks, refuseOldTranslations);
  } catch (problem) {
    console.error(problem.message);
  }
}

main().catch((error) => {
  console.error(error instanceof Problem ? error.message : error);
  process.exitCode = 1;
});
