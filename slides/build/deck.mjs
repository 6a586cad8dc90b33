// SPDX-License-Identifier: Apache-2.0
// A deck's text (see README.md): read, and held to its rules. Nothing is rendered here.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import yaml from 'js-yaml';
import { Problem, gatherProblems, kit } from './problem.mjs';

export const languages = ['en', 'ja'];

const folder = join(kit, 'slides/decks');
const classes = ['title', 'section', 'split', 'wide', 'picture', 'code', 'dense'];
const slideMark = /^<!-- slide: (.*) -->$/;
const slideWords = /^([a-z][a-z0-9_]*), (\d+(?:\.\d+)?) min(?:, class: ([a-z ]+))?(?:, frames: (\d+))?$/;
const languageMark = /^<!-- (en|ja)(?: ([0-9a-f]{8}))? -->$/;
const notesMark = '<!-- notes -->';

/** The decks that `name` names: all without it, else the one of that number or name. */
export async function readDecks(name) {
  const all = readdirSync(folder).filter((file) => /^\d+_.*\.md$/.test(file)).sort();
  const named = all.filter((file) => !name || [file.slice(0, -3), file.split('_')[0], file.replace(/^\d+_|\.md$/g, '')].includes(name));
  if (!named.length) throw new Problem(`There is no deck "${name}" in slides/decks; there are ${all.join(', ')}.`);
  const decks = [];
  await gatherProblems(named, async (file) => decks.push(await readDeck(join(folder, file))));
  return decks;
}

/**
 * Reads a deck: { path, name, title: {en, ja}, numbers: {NAME: number or expression}, slides: [{ id, minutes, classes, line, en: part, ja: part }] }, where a part is
 * { body, notes, line, hash } and hash is the one recorded (of a Japanese part) or undefined. A slide of several frames stands there
 * once for each, with `frame` from 1 on; the first has its minutes.
 */
export async function readDeck(path) {
  const lines = readFileSync(path, 'utf8').split('\n');
  const { title, numbers, end } = readHead(path, lines);
  const slides = [];
  let part;
  lines.forEach((text, index) => {
    if (index <= end) return;
    const line = index + 1;
    if (/^<!-- slide\b/.test(text)) {
      slides.push(beginSlide(path, text, line));
      part = undefined;
    } else if (languageMark.test(text)) {
      part = beginPart(path, slides.at(-1), text, line);
    } else if (text === notesMark) {
      if (!part || part.notes) throw new Problem('Notes follow the body of a language, once.', path, line);
      part.notes = [];
    } else if (part) {
      (part.notes ?? part.body).push(text);
    } else if (text.trim()) {
      throw new Problem(`"${text}" belongs to no language of a slide; <!-- en --> or <!-- ja --> should come before it.`, path, line);
    }
  });
  for (const slide of slides) for (const language of languages) finishPart(slide[language]);
  const deck = { path, name: basename(path, '.md'), title, numbers, slides };
  await refuseUnlikeLanguages(deck);
  return { ...deck, slides: slides.flatMap(framesOf) };
}

const framesOf = ({ frames, ...slide }) => (frames === 1 ? [slide] : Array.from({ length: frames }, (_, i) =>
  ({ ...slide, frame: i + 1, ...(i && { id: `${slide.id}_${i + 1}`, minutes: 0 }) })));

const isWritten = ({ frame = 1 }) => frame === 1; // further frames have no text of their own

function readHead(path, lines) {
  const end = lines.indexOf('---', 1);
  const { title, numbers = {} } = (lines[0] === '---' && end > 0 && yaml.load(lines.slice(1, end).join('\n'))) || {};
  if (!title?.en || !title?.ja) throw new Problem('A deck begins with ---, its title in en and ja, and ---.', path, 1);
  return { title, numbers, end };
}

function beginSlide(path, text, line) {
  const words = slideMark.exec(text)?.[1].match(slideWords);
  if (!words) throw new Problem(`"${text}" should read: <!-- slide: ID, MINUTES min[, class: CLASSES][, frames: N] -->.`, path, line);
  const [, id, minutes, given, frames = 1] = words;
  const unknown = given?.split(' ').find((one) => !classes.includes(one));
  if (unknown) throw new Problem(`There is no class "${unknown}"; there are ${classes.join(', ')}.`, path, line);
  return { id, minutes: Number(minutes), classes: given ?? '', frames: Number(frames), line };
}

function beginPart(path, slide, text, line) {
  const [, language, hash] = languageMark.exec(text);
  if (!slide) throw new Problem('A language stands before the first slide.', path, line);
  if (slide[language]) throw new Problem(`The slide ${slide.id} has two parts in ${language}.`, path, line);
  if (hash && language === 'en') throw new Problem('Only <!-- ja --> holds a hash: that of the English it translates.', path, line);
  return (slide[language] = { body: [], notes: undefined, line, hash });
}

function finishPart(part) {
  if (!part) return;
  part.body = part.body.join('\n').trim();
  part.notes = part.notes?.join('\n').trim() ?? '';
}

function refuseUnlikeLanguages({ path, slides }) {
  const seen = new Set();
  return gatherProblems(slides, (slide) => {
    const { id, line } = slide;
    if (seen.has(id)) throw new Problem(`Two slides are called ${id}.`, path, line);
    seen.add(id);
    for (const language of languages) {
      const part = slide[language];
      if (!part) throw new Problem(`The slide ${id} has no part in ${language}.`, path, line);
      if (!part.notes) throw new Problem(`The slide ${id} has no notes in ${language}; <!-- notes --> and what is said should follow its body.`, path, part.line);
      const headings = part.body.match(/^#{1,6} /gm) ?? [];
      if (headings.length !== 1 || !/^##? /.test(part.body)) {
        throw new Problem(`The slide ${id} in ${language} should begin with its one heading, "## ..."; it has ${headings.length} headings.`, path, part.line);
      }
    }
    if (shown(slide.en).join() !== shown(slide.ja).join()) {
      throw new Problem(`The slide ${id} doesn't show the same in both languages: ${shown(slide.en).join(', ') || 'nothing'} in en, ` +
        `${shown(slide.ja).join(', ') || 'nothing'} in ja.`, path, slide.ja.line);
    }
  });
}

/** The pictures, excerpts and numbers of a part and of its notes, in a fixed order; what was recorded as NAME.ja.txt counts as NAME.txt. */
const shown = ({ body, notes }) =>
  (`${body}\n${notes}`.match(/picture:\w+|<!-- code: .* -->|\{\{.*?\}\}/g) ?? []).map((one) => one.replace('.ja.txt', '.txt')).sort();

/** What a Japanese part records of the English part that it translates. */
export const hashOf = ({ body, notes }) => createHash('sha256').update(`${body}\n${notes}`).digest('hex').slice(0, 8);

/** Throws a problem that names each slide whose Japanese is older than its English, or was never accepted. */
export function refuseOldTranslations({ path, name, slides }) {
  return gatherProblems(slides.filter(isWritten), ({ id, en, ja }) => {
    const accept = `see that they say the same, then ./odori slides accept ${name} ${id}`;
    if (!ja.hash) throw new Problem(`The Japanese of the slide ${id} was never held against the English: ${accept}.`, path, ja.line);
    if (ja.hash !== hashOf(en)) {
      throw new Problem(`The English of the slide ${id} has changed since it was translated: ${accept}.`, path, ja.line);
    }
  });
}

/** Records at the Japanese of these slides (of all, without ids) that they translate the English as it is now; how many changed. */
export function acceptTranslations({ path, slides }, ids) {
  const unknown = ids.find((id) => !slides.some((slide) => slide.id === id));
  if (unknown) throw new Problem(`There is no slide ${unknown}.`, path);
  const lines = readFileSync(path, 'utf8').split('\n');
  const changed = slides.filter(isWritten).filter(({ id, en, ja }) => (!ids.length || ids.includes(id)) && ja.hash !== hashOf(en));
  for (const { en, ja } of changed) lines[ja.line - 1] = `<!-- ja ${hashOf(en)} -->`;
  writeFileSync(path, lines.join('\n'));
  return changed.length;
}
