// Results of measured runs: read at each build, and their numbers put into the texts.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Problem, fromKit, kit } from './problem.mjs';

/** `text` with each {{FILE.json PATH [FORMAT]}} replaced by the number that stands there. */
export function withNumbers(text) {
  return text.replace(/\{\{(.*?)\}\}/g, (_, words) => {
    const [file, path, format] = words.trim().split(/\s+/);
    return written(valueAt(file, path, words), format, words);
  });
}

/**
 * What slides/results/FILE holds (or FILE of another folder). Throws a problem if it isn't there, or holds trial figures where
 * slides are built for others to see.
 */
export function readResult(file, folder = 'slides/results') {
  const path = resolve(kit, folder, file);
  if (!existsSync(path)) throw new Problem(`There is no result file ${fromKit(path)}: slides/results/README.md says which command makes it.`);
  const result = JSON.parse(readFileSync(path, 'utf8'));
  if (!result.machine || !result.date) throw new Problem(`${fromKit(path)} doesn't say on what machine and when it was measured.`);
  if (result.provisional && process.env.CI) throw new Problem(`${fromKit(path)} holds trial figures ("provisional"); measure it on a quiet machine.`);
  return result;
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
