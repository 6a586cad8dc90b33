#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Records what the kit's commands print, for slides that show it: slides/results/*.txt, in English and Japanese (*.ja.txt).
//
//   slides/results/record.mjs --help
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratch } from './training.mjs';

const folder = dirname(fileURLToPath(import.meta.url)), kit = resolve(folder, '../..');
const help = `slides/results/record.mjs [NAME...]: records what these print: doctor, explain, check; without a name, all.
Needs the built kit (./odori setup). Nothing recorded depends on how fast this machine is.`;

/** What a command of the driver prints, without colours and without this machine's paths. Some end with a code of their own. */
function printed(words, expected = 0) {
  const done = spawnSync('./odori', words.map(String), { cwd: kit, encoding: 'utf8', env: { ...process.env, ODORI_READY: '1', NO_COLOR: '1', TERM: 'dumb', ODORI_STATE: join(scratch, 'state') } });
  if (done.status !== expected) throw new Error(`./odori ${words.join(' ')} ended with ${done.status}, not ${expected}:\n${done.stdout}${done.stderr}`);
  return (done.stdout + done.stderr).replaceAll(`${scratch}/`, '').replaceAll('out/slides/measured/', '').replaceAll(`${kit}/`, '').replace(/^\n+/, '').trimEnd();
}

/** In both languages: NAME.txt and NAME.ja.txt. */
function inBothLanguages(name, words, expected) {
  for (const language of ['en', 'ja']) {
    writeFileSync(join(folder, `${name}${language === 'ja' ? '.ja' : ''}.txt`), `${printed([words[0], '--lang', language, ...words.slice(1)], expected)}\n`);
  }
}

/** What an exercise prints that nobody has filled in. The first call builds it, and says so. */
function unfilled() {
  const words = ['run', 'multi_gpu', '--dataset', 'synthetic', '--device', 'cpu', '--model', 'tiny'];
  spawnSync('./odori', words, { cwd: kit });
  return printed(words, 10);
}

/** A learner's program with a known mistake in blank 1 (each device has the whole set), and the rest as it was. */
function mistaken() {
  const exercise = readFileSync(join(kit, 'exercises/01_multi_gpu/train_cifar_multi_gpu.cpp'), 'utf8');
  const mistake = exercise.replace('train_iters = PUT_YOUR_CODE;', 'train_iters(args.n_gpus, SerialIterator(train, args.batchsize));');
  if (mistake === exercise) throw new Error('The exercise of task 1 is filled in here: ./odori reset multi_gpu empties it.');
  const path = join(scratch, 'train_cifar_multi_gpu.cpp');
  mkdirSync(scratch, { recursive: true });
  writeFileSync(path, mistake);
  return path;
}

const all = {
  doctor: () => inBothLanguages('doctor', ['doctor', '--quick']),
  explain() {
    mkdirSync(scratch, { recursive: true });
    const log = join(scratch, 'job.log');
    writeFileSync(log, `${unfilled()}\n`);
    inBothLanguages('explain', ['explain', log]);
  },
  check: () => inBothLanguages('check', ['check', 'multi_gpu', '--no-speedup', '--program', mistaken(), '--seed', 1], 11),
};

const names = process.argv.slice(2);
const unknown = names.find((name) => !all[name]);
if (names.includes('--help')) {
  console.log(help);
} else if (unknown) {
  console.error(`There is nothing called "${unknown}" to record; there are ${Object.keys(all).join(', ')}.`);
  process.exitCode = 2;
} else {
  for (const name of names.length ? names : Object.keys(all)) all[name]();
}
