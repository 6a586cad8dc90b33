// SPDX-License-Identifier: Apache-2.0
// Results of measured runs, and figures that others printed: read at each build.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Problem, fromKit, kit } from './problem.mjs';

/**
 * What slides/results/FILE holds (or FILE of another folder). Throws a problem if it isn't there, or holds trial figures where
 * slides are built for others to see.
 */
export function readResult(file, folder = 'slides/results') {
  if (instead.has(file)) return instead.get(file);
  const { path, result } = read(file, folder);
  if (!result.machine || !result.date) throw new Problem(`${fromKit(path)} doesn't say on what machine and when it was measured.`);
  if (result.provisional && process.env.CI) throw new Problem(`${fromKit(path)} holds trial figures ("provisional"); measure it on a quiet machine.`);
  return result;
}

/** What a result file holds that was computed, on no machine in particular: it says the command instead. */
export function readComputed(file) {
  const { path, result } = read(file, 'slides/results');
  if (!result.command) throw new Problem(`${fromKit(path)} doesn't say which command computed it.`);
  return result;
}

const instead = new Map();

/** From now on this is what FILE holds: a room's own result. */
export const showInstead = (file, result) => instead.set(file, result);

/** Figures that others have published, by the name of their source: each has { source: { en, ja }, ...figures }. */
export function readQuoted(file = 'quoted.json', folder = 'slides/results') {
  const { path, result } = read(file, folder);
  for (const [name, { source }] of Object.entries(result)) {
    if (!source?.en || !source?.ja) throw new Problem(`"${name}" has no source in en and ja: who printed these figures, and where?`, path);
  }
  return result;
}

function read(file, folder) {
  const path = resolve(kit, folder, file);
  if (!existsSync(path)) throw new Problem(`There is no result file ${fromKit(path)}: slides/results/README.md says which command makes it.`);
  return { path, result: JSON.parse(readFileSync(path, 'utf8')) };
}

/** The result files that the picture NAME draws, itself or by the parts that it imports. */
export function resultsOf(name) {
  const folder = join(kit, 'slides/pictures'), own = readFileSync(join(folder, `${name}.mjs`), 'utf8');
  const parts = [...own.matchAll(/from '\.\/(parts\/\w+\.mjs)'/g)].map(([, part]) => readFileSync(join(folder, part), 'utf8'));
  return [own, ...parts].flatMap((source) => [...source.matchAll(/read(Result|Computed)\('([^']+)'(?:, '([^']+)')?\)/g)])
    .map(([, kind, file, where]) => (kind === 'Result' ? readResult(file, where) : readComputed(file)));
}

/** Every { median, min, max, values } in a result: the figures that a chart shows as points. */
export function spreadsIn(result) {
  if (typeof result !== 'object' || result === null) return [];
  return Array.isArray(result.values) && 'median' in result ? [result] : Object.values(result).flatMap(spreadsIn);
}
