// ./odori slides: builds the decks, checks them, accepts translations.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { acceptTranslations, deckPaths, languages, readDeck, refuseOldTranslations } from './deck.mjs';
import { Problem, forEachGatheringProblems, fromKit, kit } from './problem.mjs';
import { render } from './render.mjs';

const options = { lang: { type: 'string' }, html: { type: 'boolean' }, pdf: { type: 'boolean' } };

async function main() {
  const { values, positionals } = readFlags();
  if (positionals[0] === 'accept') return accept(positionals.slice(1));
  if (positionals.length > 1) throw new Problem(`One deck at a time, or all of them; see ./odori slides --help.`);
  if (values.lang && !languages.includes(values.lang)) throw new Problem(`--lang takes en or ja, not "${values.lang}".`);
  const decks = deckPaths(positionals[0]).map(readDeck);
  const formats = ['html', 'pdf'].filter((format) => values[format] || !(values.html || values.pdf));
  const files = await render(decks, values.lang ? [values.lang] : languages, formats, join(kit, 'out/slides'));
  for (const file of files) console.log(fromKit(file));
  warnOfOldTranslations(decks);
}

function readFlags() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new Problem(`${error.message}; see ./odori slides --help.`);
  }
}

function accept([name, ...ids]) {
  if (!name) throw new Problem('accept which deck? ./odori slides accept DECK [SLIDE ...]');
  const [path] = deckPaths(name);
  const changed = acceptTranslations(readDeck(path), ids);
  console.log(`${fromKit(path)}: ${changed} translation${changed === 1 ? '' : 's'} recorded as up to date.`);
}

/** An author builds before the translation follows; the tests refuse what is only said here. */
function warnOfOldTranslations(decks) {
  try {
    forEachGatheringProblems(decks, refuseOldTranslations);
  } catch (problem) {
    console.error(problem.message);
  }
}

main().catch((error) => {
  console.error(error instanceof Problem ? error.message : error);
  process.exitCode = 1;
});
