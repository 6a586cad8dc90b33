// SPDX-License-Identifier: Apache-2.0
// Numbers in a deck's text: from a result file, or computed from what the kit, a quotation or the deck itself says.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, kit } from './problem.mjs';
import { readQuoted, readResult } from './results.mjs';
import { ring } from './ring.mjs';
import { vgg } from './vgg.mjs';

const { ceil, floor, round, min, max, log2, sqrt } = Math;
/** Minutes of a slide of another deck: what two decks say of a time is said once. */
function minutesOf(deck, id) {
  const minutes = new RegExp(`^<!-- slide: ${id}, ([\\d.]+) min`, 'm').exec(readFileSync(join(kit, `slides/decks/${deck}.md`), 'utf8'))?.[1];
  if (!minutes) throw new Problem(`There is no slide ${id} in slides/decks/${deck}.md whose minutes could be taken.`);
  return Number(minutes);
}

const given = { ceil, floor, round, min, max, log2, sqrt, vgg, ring, minutesOf, result: readResult };

const marks = /\{\{(.*?)\}\}/g;
const formatAtEnd = /\s(,?(?:\.\d)?[f%]?)$/;

/**
 * `text` with each {{FILE.json PATH [FORMAT]}} replaced by the number that stands there, and each {{= EXPRESSION [FORMAT]}} by its
 * value. `numbers` are the deck's own: { NAME: number or EXPRESSION }.
 */
export function withNumbers(text, numbers = {}) {
  return text.replace(marks, (_, words) => {
    const { expression, file, path, format } = parsed(words);
    return written(expression === undefined ? valueAt(file, path, words) : valueOf(expression, numbers), format, words);
  });
}

/** Where the numbers of a text come from: { files, quoted }, names of result files and of quotations. */
export function originsOf(text, numbers = {}) {
  const expressions = [...text.matchAll(marks)].map(([, words]) => parsed(words));
  const files = new Set(expressions.map(({ file }) => file).filter(Boolean)), quoted = new Set(), seen = new Set();
  const follow = (expression) => {
    for (const [, name] of expression.matchAll(/\bquoted\.(\w+)/g)) quoted.add(name);
    for (const [, file] of expression.matchAll(/\bresult\('([^']+)'\)/g)) files.add(file);
    for (const [name] of expression.matchAll(/\b[a-z_]\w*/gi)) {
      if (!(name in numbers) || seen.has(name)) continue;
      seen.add(name);
      follow(String(numbers[name]));
    }
  };
  for (const { expression } of expressions) if (expression !== undefined) follow(expression);
  return { files: [...files], quoted: [...quoted] };
}

function parsed(words) {
  const said = words.trim();
  if (said.startsWith('=')) {
    const format = formatAtEnd.exec(said)?.[1];
    return { expression: said.slice(1, format ? -format.length : undefined).trim(), format };
  }
  const [file, path, format] = said.split(/\s+/);
  return { file, path, format };
}

function valueOf(expression, numbers) {
  const value = computed(expression, scopeOf(numbers));
  if (typeof value !== 'string' && !Number.isFinite(value)) throw new Problem(`{{= ${expression}}} is no number: it gives ${value}.`);
  return value;
}

const scopes = new WeakMap();

/** All that an expression may name; a deck's own names are computed once, in their order. */
function scopeOf(numbers) {
  if (!scopes.has(numbers)) {
    const scope = { ...given, quoted: readQuoted() };
    for (const [name, value] of Object.entries(numbers)) scope[name] = typeof value === 'number' ? value : computed(value, scope);
    scopes.set(numbers, scope);
  }
  return scopes.get(numbers);
}

function computed(expression, scope) {
  try {
    return Function(...Object.keys(scope), `"use strict"; return (${expression});`)(...Object.values(scope));
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(`{{= ${expression}}} can't be computed: ${error.message}.`);
  }
}

function valueAt(file, path, words) {
  const value = path?.split('.').reduce((at, key) => at?.[key], readResult(file));
  if (value === undefined || value === null || typeof value === 'object') {
    throw new Problem(`{{${words}}}: slides/results/${file} holds no number or text at "${path}".`);
  }
  return value;
}

function written(value, format, words) {
  if (!format) return String(value);
  const [, thousands, digits, kind] = /^(,?)(?:\.(\d))?([f%]?)$/.exec(format) ?? [];
  if (kind === undefined || typeof value !== 'number') {
    throw new Problem(`{{${words}}}: "${format}" isn't a way to write "${value}"; .0f, .2f, .0% and , are.`);
  }
  const number = kind === '%' ? value * 100 : value;
  const fixed = number.toLocaleString('en-US', { useGrouping: Boolean(thousands), minimumFractionDigits: Number(digits ?? 0), maximumFractionDigits: Number(digits ?? 0) });
  return kind === '%' ? `${fixed} %` : fixed;
}
