// SPDX-License-Identifier: Apache-2.0
// What the texts name: links, files of the kit, words and flags of the driver. All of it has to be there.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { languages } from '../build/deck.mjs';
import { Problem, gatherProblems, kit } from '../build/problem.mjs';

/** The instructors' handbook as if it were a deck: what it names has to be there too. */
export function handbook() {
  const part = (name) => ({ body: readFileSync(join(kit, 'slides', name), 'utf8').replace(/\]\((?!https?:)(?:\.\.\/)?([^)]*)\)/g, (_, path) => `](${existsSync(join(kit, path)) ? path : `slides/${path}`})`), notes: '', line: 1 });
  return { path: join(kit, 'slides/handbook.md'), slides: [{ id: 'handbook', en: part('handbook.md'), ja: part('handbook.ja.md') }] };
}

const folders = /^(exercises|solutions|lib|jobscripts|datasets|grader|slides|cmake)\//;

/** Throws a problem that names each link, file or word in a deck that leads nowhere. */
export async function refuseDeadMentions(deck) {
  const mentions = deck.slides.flatMap((slide) => languages.flatMap((language) => mentionsIn(slide, language)));
  await gatherProblems(mentions, ({ id, line, what, fault }) => {
    if (fault) throw new Problem(`The slide ${id} ${what}, ${fault}.`, deck.path, line);
  });
}

function mentionsIn({ id, [languages[0]]: en, [languages[1]]: ja }, language) {
  const { body, notes, line } = language === 'en' ? en : ja;
  const text = `${body}\n${notes}`;
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => ({ what: `links to ${target}`, fault: faultOfLink(target) }));
  const code = [...text.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)].map(([, words]) => words);
  const files = code.filter((words) => folders.test(words)).map((path) => ({ what: `names ${path}`, fault: faultOfPath(path) }));
  const words = code.map((command) => /^\.\/odori (\S+)/.exec(command)?.[1]).filter((word) => /^[a-z]/.test(word ?? ''))
    .map((word) => ({ what: `calls ./odori ${word}`, fault: driverWords().includes(word) ? '' : 'and the driver has no such word' }));
  const flags = code.filter((command) => command.startsWith('./odori ')).flatMap((command) => command.match(/(?<= )--[a-z_-]+/g) ?? [])
    .map((flag) => ({ what: `gives ./odori the flag ${flag}`, fault: kitFlags().has(flag) ? '' : 'and none of its programs has it' }));
  return [...links, ...files, ...words, ...flags].map((mention) => ({ id, line, ...mention }));
}

function faultOfLink(target) {
  if (target.startsWith('picture:')) return '';
  if (/^https?:/.test(target)) return /^https?:\/\/[\w-]+(\.[\w-]+)+(\/\S*)?$/.test(target) ? '' : 'which is no web address';
  return faultOfPath(target.replace(/#.*/, ''));
}

const faultOfPath = (path) => (existsSync(join(kit, path.split(' ')[0])) ? '' : "and there is no such file in the kit (paths are written from its folder)");

const help = join(kit, 'lib/flags/help.md');

/** As `odori` itself lists them. */
function driverWords() {
  return [...readFileSync(help, 'utf8').matchAll(/^## ([a-z]+)$/gm)].map(([, word]) => word);
}

let flags;
/** Every flag that stands in the driver, a script or a program of the kit. */
function kitFlags() {
  if (!flags) {
    const sources = ['lib', 'grader', 'datasets', 'jobscripts'].flatMap((folder) => sourcesIn(join(kit, folder)));
    const text = [join(kit, 'odori'), help, ...sources].map((path) => readFileSync(path, 'utf8')).join('\n');
    flags = new Set(text.match(/--[a-z][a-z_-]*/g));
  }
  return flags;
}

const sourcesIn = (folder) => readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
  const path = join(folder, entry.name);
  if (entry.isDirectory()) return ['tests', 'cache'].includes(entry.name) ? [] : sourcesIn(path);
  return /\.(cpp|sh)$/.test(entry.name) ? [path] : [];
});
