// SPDX-License-Identifier: Apache-2.0
// Every figure on a slide has an origin that a build reads: a result file, a quotation or a formula. None is typed by hand.
import { languages } from '../build/deck.mjs';
import { Problem, gatherProblems } from '../build/problem.mjs';

/** In a column of numbers every cell is a figure. */
const inColumn = '\u0000';
const units = `${inColumn}|%|[mµ]?s|[KMGT]i?B|[GTP]?FLOP(?:/s)?|[KMG]bit(?:/s)?|images/s|million|pixels|枚/秒|ミリ秒|秒|万|億`;
/** A number with a unit, with a decimal point or with thousands: a figure. What remains are names and counts: task 1, 3 × 3, two devices. */
const figure = new RegExp(`\\d(?:[\\d,.]*\\d)?\\s*\\**\\s*(?:${units})(?![a-z])|\\d+\\.\\d+|\\d{1,3}(?:,\\d{3})+`);

/** Throws a problem that names each figure in a deck's texts that was typed. Notes may derive what a slide shows in numbers of their own. */
export function refuseTypedFigures(deck) {
  const parts = deck.slides.flatMap((slide) => languages.map((language) => ({ slide, language })));
  return gatherProblems(parts, ({ slide, language }) => {
    for (const line of proseOf(slide[language].body)) {
      const typed = figure.exec(line)?.[0];
      if (typed) {
        throw new Problem(`The slide ${slide.id} says "${typed.replace(inColumn, '').trim()}" by hand: {{FILE.json PATH}} takes a figure from a result, {{= quoted.NAME...}} from a ` +
          'quotation, and {{= EXPRESSION}} computes it (slides/README.md).', deck.path, slide[language].line);
      }
    }
  });
}

/** Lines of a body as they are read, without code, marks of lists, addresses, and what a build puts in; columns of numbers (---:) get a unit. */
function proseOf(body) {
  const lines = body.replace(/^(`{3,}).*?^\1$/gms, '').split('\n').filter((line) => !/^<!-- |^!\[/.test(line));
  let numeric = [];
  return lines.map((line) => {
    const plain = line.replace(/\{\{.*?\}\}/g, '').replace(/`[^`]*`/g, '').replace(/\]\([^)]*\)/g, ']').replace(/<[^>]*>/g, '').replace(/^\d+\. /, '');
    if (!line.startsWith('|')) numeric = [];
    else if (/^\|[-| :]+\|$/.test(line)) numeric = cellsOf(line).map((cell) => cell.endsWith(':'));
    else return cellsOf(plain).map((cell, i) => (numeric[i] ? cell.replace(/\d+/g, `$&${inColumn}`) : cell)).join(' | ');
    return plain;
  });
}

const cellsOf = (line) => line.split('|').slice(1, -1).map((cell) => cell.trim());
