// SPDX-License-Identifier: Apache-2.0
// Code and recorded output whose lines are longer than a slide is wide: broken where a reader would break them.
import { columnsOf } from './code_size.mjs';

/**
 * `text` without lines of more than `columns`. C++ is broken after a comma, what a program printed between words; the rest is
 * indented as the line's beginning, and goes on into the next line where that continues it. Other languages stay as they are.
 */
export function withoutLongLines(text, columns, language) {
  if (language === 'cpp') return text.split('\n').flatMap((line) => broken(line, columns, commasOf, 4)).join('\n');
  return language ? text : reflowed(text.split('\n'), columns).join('\n');
}

function reflowed(lines, columns) {
  const shown = [];
  let open = false;
  for (const line of lines) {
    const continues = open && line.trim() && startOf(line).trim() === '' && startOf(line) === startOf(shown.at(-1));
    const parts = broken(continues ? joined(shown.pop(), line.trim()) : line, columns, wordsOf, 0);
    open = parts.length > 1 || Boolean(continues);
    shown.push(...parts);
  }
  return shown;
}

/** What a line begins with: its indentation, and "[ good ] " or "-> ". */
const startOf = (line) => /^\s*(?:\[[^\]]*\] |-> )?/.exec(line)[0];

/** Two Japanese signs need no space between them. */
const joined = (before, after) => `${before}${/[\u3000-\u9fff]$/.test(before) && /^[\u3000-\u9fff]/.test(after) ? '' : ' '}${after}`;

/** The line, broken at the last of `placesOf(line)` that fits; what follows is indented, by `hanging` if the line isn't. */
function broken(line, columns, placesOf, hanging) {
  const indent = ' '.repeat(columnsOf(startOf(line)) || hanging);
  const parts = [];
  for (let rest = line; ;) {
    const fits = (place) => place > indent.length && columnsOf(rest.slice(0, place).trimEnd()) <= columns;
    const at = columnsOf(rest) > columns ? placesOf(rest).findLast(fits) : undefined;
    parts.push((at === undefined ? rest : rest.slice(0, at)).trimEnd());
    if (at === undefined) return parts;
    rest = indent + rest.slice(at).trimStart();
  }
}

/** After each comma of a line of code; a comment stays as it is. */
const commasOf = (line) => (/^\s*\/\//.test(line) ? [] : [...line.matchAll(/, /g)].map(({ index }) => index + 2));

/** Where a word begins: after a space, or between two Japanese words, where the first isn't an opening bracket. */
const wordsOf = (line) => [...new Intl.Segmenter('ja', { granularity: 'word' }).segment(line)].map(({ index }) => index)
  .filter((index) => line[index - 1] === ' ' || (/[\u3040-\u9fff]/.test(line[index]) && /[\u3000-\u9fff]/.test(line[index - 1]) && !/[（「]/.test(line[index - 1])));
