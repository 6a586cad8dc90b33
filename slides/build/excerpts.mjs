// SPDX-License-Identifier: Apache-2.0
// Code on slides: found in the kit's files at each build, so that it is what learners have in front of them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Problem, kit } from './problem.mjs';

const blankWords = /^(exercises|solutions) ([a-z]\w*) blanks? (\d+)(?:-(\d+))?$/;
const listWords = /^(exercises|solutions) ([a-z]\w*) blanks (\d+(?:, \d+)+)$/;
const lineWords = /^(\S+)(?: "([^"]+)")?(?: to "([^"]+)")?$/;
const highlighting = { '.cpp': 'cpp', '.h': 'cpp', '.sh': 'bash', '.json': 'json', '.mjs': 'js' };

/** What a code directive shows, as { text, language }, where language is highlight.js's name or ''. */
export function excerpt(directive) {
  const blank = blankWords.exec(directive);
  if (blank) return blanks(...blank.slice(1, 3), Number(blank[3]), Number(blank[4] ?? blank[3]));
  const list = listWords.exec(directive);
  if (list) return listed(...list.slice(1, 3), list[3].split(', ').map(Number));
  const lines = lineWords.exec(directive);
  if (lines) return linesOf(...lines.slice(1));
  throw new Problem(`"code: ${directive}" names neither a blank (solutions multi_gpu blank 1) nor lines of a file.`);
}

/** The program of a task, then its job script: where its blanks are. */
export function filesOfTask(tree, task) {
  const folder = readdirSync(join(kit, tree)).find((name) => new RegExp(`^\\d+_${task}$`).test(name));
  if (!folder) throw new Problem(`There is no exercise ${task} in ${tree}/.`);
  const programs = readdirSync(join(kit, tree, folder)).filter((name) => name.endsWith('.cpp')).map((name) => join(kit, tree, folder, name));
  const script = join(kit, tree === 'solutions' ? join(tree, folder) : 'jobscripts', `run_${task}_training.sh`);
  return existsSync(script) ? [...programs, script] : programs;
}

function blanks(tree, task, first, last) {
  for (const path of filesOfTask(tree, task)) {
    const lines = linesIn(path);
    const start = lines.findIndex((line) => new RegExp(`^\\s*(//|#) BLANK ${first}:`).test(line));
    if (start < 0) continue;
    const after = lines.findIndex((line, i) => i >= start && new RegExp(`^\\s*(//|#) BLANK ${last}:`).test(line));
    const end = after < 0 ? -1 : lines.findIndex((line, i) => i > after && /^\s*(\/\/|#) END BLANK/.test(line));
    if (end < 0) break;
    const shown = withoutQuestions(lines.slice(start, end + 1), tree, last > first);
    return { text: tidy(shown), language: highlighting[extname(path)] };
  }
  throw new Problem(`There is no blank ${first}${last > first ? ` to ${last}` : ''} of ${task} in ${tree}/.`);
}

/** These blanks alone, one after the other, each with its number behind its first line. */
function listed(tree, task, numbers) {
  const all = numbers.map((number) => ({ number, ...blanks(tree, task, number, number) }));
  const mark = (number, language) => `  ${language === 'cpp' ? '//' : '#'} ${number}`;
  return { text: all.map(({ number, text, language }) => text.replace(/$/m, mark(number, language))).join('\n'), language: all[0].language };
}

/** The marked lines without markers and questions; with `numbered`, each blank keeps its number. */
function withoutQuestions(lines, tree, numbered) {
  const shown = [];
  let inside;
  let question = false;
  for (const line of lines) {
    const begin = /^(\s*)(\/\/|#) BLANK (\d+):/.exec(line);
    if (begin) {
      if (numbered) shown.push(`${begin[1]}${begin[2]} BLANK ${begin[3]}`);
      inside = [];
      question = true;
    } else if (/^\s*(\/\/|#) END BLANK/.test(line)) {
      shown.push(...(tree === 'exercises' ? emptied(inside) : inside));
      inside = undefined;
    } else if (inside) {
      question &&= /^\s*(\/\/|# )/.test(line);
      if (!question) inside.push(line);
    } else {
      shown.push(line);
    }
  }
  return shown;
}

/** The lines of a blank as they were at first: a learner's own copy may be filled in. */
export function emptied(lines) {
  const text = lines.join('\n');
  if (text.includes('PUT_YOUR_CODE')) return lines;
  if (/^\s*#PBS -l/.test(text)) return ['#PBS -l PUT_YOUR_CODE'];
  return text.replace(/^(\s*[^=;{]+?)\s*[=;{][\s\S]*$/, '$1 = PUT_YOUR_CODE;').split('\n');
}

function linesOf(name, from, to) {
  const path = join(kit, name);
  const lines = linesIn(path);
  const start = from === undefined ? 0 : lines.findIndex((line) => line.includes(from));
  if (start < 0) throw new Problem(`There is no line with "${from}" in ${name} any more.`);
  let end = from === undefined ? lines.length - 1 : start;
  if (to !== undefined) end = lines.findIndex((line, i) => i > start && line.includes(to));
  if (end < 0) throw new Problem(`After "${from}" there is no line with "${to}" in ${name} any more.`);
  return { text: tidy(lines.slice(start, end + 1)), language: highlighting[extname(path)] ?? '' };
}

function linesIn(path) {
  if (!existsSync(path)) throw new Problem(`There is no file ${path.slice(kit.length + 1)} to take code from.`);
  return readFileSync(path, 'utf8').split('\n');
}

/** Without common indentation, double blank lines, and blank lines at both ends. */
function tidy(lines) {
  const indents = lines.filter((line) => line.trim()).map((line) => line.search(/\S/));
  const indent = Math.min(...indents);
  return lines.map((line) => line.slice(indent).trimEnd()).join('\n').replace(/\n{3,}/g, '\n\n').replace(/^\n+|\n+$/g, '');
}
