// SPDX-License-Identifier: Apache-2.0
// Training runs by the command that learners type, and what they wrote about themselves.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(fileURLToPath(import.meta.url));
const kit = resolve(folder, '../..');

/** Where training runs leave their logs while they are measured; no part of the kit. */
export const scratch = join(kit, 'out/slides/measured');

/** Runs a program of the kit and gives its output; throws if it fails. Lines of `words` are as on a command line. */
export function run(words, environment = {}) {
  const [program, ...rest] = words.map(String);
  const done = spawnSync(program, rest, { cwd: kit, encoding: 'utf8', maxBuffer: 1 << 28, env: { ...process.env, ...environment } });
  if (done.status !== 0) {
    throw new Error(`This command ended with ${done.error ?? `exit code ${done.status}`}:\n  ${words.join(' ')}\n${done.stdout}${done.stderr}`);
  }
  return done.stdout;
}

/** The same through the driver, which has been set up already. */
export const odori = (...words) => run(['./odori', ...words], { ODORI_READY: '1' });

/** Trains a solution and gives its result.json. `name` is its folder in the scratch. */
export function train(name, words) {
  const out = join(scratch, name);
  rmSync(out, { recursive: true, force: true });
  odori('run', words[0], '--solution', ...words.slice(1), '--no-snapshot', '--out', out);
  return JSON.parse(readFileSync(join(out, 'result.json'), 'utf8'));
}

/** { median, min, max, values } of some numbers. */
export function spread(values) {
  const sorted = [...values].sort((a, b) => a - b), n = sorted.length;
  return { median: (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2, min: sorted[0], max: sorted[n - 1], values };
}

/** Writes results/NAME.json (or into the folder that `into` names) in one step: a reader never sees half a file. */
export function writeResult(name, result, into = folder) {
  mkdirSync(into, { recursive: true });
  const path = join(into, `${name}.json`);
  writeFileSync(`${path}.tmp`, `${JSON.stringify(result, null, 2)}\n`);
  renameSync(`${path}.tmp`, path);
  return path;
}
