// Numbers in the texts: taken from results/ at each build.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, kit } from './problem.mjs';

/** `text` with each {{FILE.json PATH [FORMAT]}} replaced by the number that stands there. */
export function withNumbers(text) {
  return text.replace(/\{\{(.*?)\}\}/g, (_, words) => {
    const [file, path, format] = words.trim().split(/\s+/);
    return written(valueAt(file, path, words), format, words);
  });
}

function valueAt(file, path, words) {
  const name = `slides/results/${file}`;
  if (!existsSync(join(kit, name))) throw new Problem(`{{${words}}}: there is no result file ${name}.`);
  const value = path?.split('.').reduce((at, key) => at?.[key], JSON.parse(readFileSync(join(kit, name), 'utf8')));
  if (value === undefined || value === null || typeof value === 'object') {
    throw new Problem(`{{${words}}}: ${name} holds no number or text at "${path}".`);
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
