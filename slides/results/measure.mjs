#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Measures all that the slides' charts of speed show, on this machine, into slides/results/*.json.
//
//   slides/results/measure.mjs --help
import { existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { iterationsOf, readTrace } from '../build/traces.mjs';
import { odori, run, scratch, spread, train, writeResult } from './training.mjs';

const help = `slides/results/measure.mjs [flags]: measures what the slides' charts of speed show, within 15 minutes of two quiet
cores, and writes speedup.json, batch_throughput.json, algorithms.json, short_and_long.json and timeline.json.
  --only NAME,...  some of speedup, batch_throughput, algorithms, short_and_long, timeline
  --trial          tiny runs that only try the way: the files say "provisional", and CI refuses them
Needs the built kit (./odori setup) and a machine where nothing else runs.`;

const { values: flags } = parseArgs({ options: { only: { type: 'string' }, trial: { type: 'boolean' }, help: { type: 'boolean' } } });
const trial = Boolean(flags.trial);
const folder = dirname(fileURLToPath(import.meta.url)), kit = resolve(folder, '../..');
const build = process.env.ODORI_BUILD ?? join(kit, 'build');
const common = ['--dataset', 'synthetic', '--device', 'cpu'];

const say = (words) => console.log(`${new Date().toTimeString().slice(0, 8)} ${words}`);
const times = (n) => [...Array(n).keys()];
const save = (name, result) => say(`written: ${writeResult(name, { ...result, command: `slides/results/measure.mjs --only ${name}`, ...(trial && { provisional: true }) })}`);

/** What a training of the demo's network says about itself. */
const mid = (name, words, more) => train(`${name}`, [...words, ...common, '--model', 'mid', '--batchsize', 64, ...more]);
const ranks = (n, nodes, communicator) => ['multi_node', '--ranks', n, '--nodes', nodes, '--communicator', communicator];
const setups = [
  { name: 'one device', name_ja: '1デバイス', devices: 1, nodes: 1, words: ['single_gpu'] },
  { name: 'task 1: 1 process x 2 devices', name_ja: 'タスク1：1プロセス × 2デバイス', devices: 2, nodes: 1, words: ['multi_gpu', '--n-gpus', 2] },
  ...[1, 2].flatMap((nodes) => ['naive', 'flat'].map((communicator) => ({
    name: nodes === 1 ? 'task 2: 1 node x 2 ranks' : 'task 2: 2 nodes x 1 rank', name_ja: nodes === 1 ? 'タスク2：1ノード × 2ランク' : 'タスク2：2ノード × 1ランク',
    devices: 2, nodes, communicator, words: ranks(2, nodes, communicator) }))),
];

/** One device against two in each way: in every round each once, and each against its own round's single device. */
function speedup() {
  const rounds = trial ? 2 : 7, fraction = trial ? 0.04 : 0.5, epoch = 2;
  const seen = setups.map(() => []);
  let result;
  for (const round of times(rounds)) {
    setups.forEach(({ words }, i) => {
      result = mid(`speedup/${i}`, words, ['--fraction', fraction, '--epoch', epoch]);
      seen[i].push(result.images_per_second);
    });
    say(`speedup, round ${round + 1} of ${rounds}: ${seen.map((values) => values.at(-1).toFixed(0)).join(' ')} images/s`);
  }
  save('speedup', {
    machine: result.machine, date: result.date, dataset: 'synthetic', model: result.network, n_images: result.images / result.epochs, epoch, batchsize: 64, rounds,
    simulated_nodes: true, runs: setups.map(({ words, ...setup }, i) => ({ ...setup, images_per_second: spread(seen[i]), speedup: spread(seen[i].map((rate, round) => rate / seen[0][round])) })),
  });
}

/** The VGG's training speed by batch size, on one thread. */
function batchThroughput() {
  const sizes = trial ? [1, 4, 16] : [1, 2, 4, 8, 16, 32, 64, 128, 256], rounds = trial ? 1 : 3, seconds = trial ? 0.3 : 1;
  const seen = sizes.map(() => []);
  for (const round of times(rounds)) {
    sizes.forEach((size, i) => {
      const iterations = Math.max(1, Math.round(seconds * 130 / size));
      const said = run([join(build, 'bin/bench_vgg'), '--batchsize', size, '--threads', 1, '--iterations', iterations, '--rounds', 3]);
      seen[i].push(Number(/: ([\d.]+) images\/s/.exec(said)[1]));
    });
    say(`batch_throughput, round ${round + 1} of ${rounds}: ${seen.map((values) => values.at(-1)).join(' ')} images/s`);
  }
  const { machine, date } = train('machine', ['single_gpu', ...common, '--model', 'tiny', '--fraction', 0.01, '--epoch', 1]);
  save('batch_throughput', { machine, date, model: 'vgg', threads: 1, rounds, runs: sizes.map((batchsize, i) => ({ batchsize, images_per_second: spread(seen[i]) })) });
}

/** Milliseconds of each convolution of the VGG by algorithm, as --autotune measures them. */
function algorithms() {
  const rounds = trial ? 1 : 3, batchsize = trial ? 8 : 64, found = new Map();
  let result;
  for (const round of times(rounds)) {
    const out = join(scratch, 'algorithms');
    const said = odori('run', 'single_gpu', '--solution', ...common, '--model', 'vgg', '--batchsize', batchsize, '--fraction', 0.0128, '--epoch', 1,
      '--autotune', '--show-algorithms', '--no-snapshot', '--out', out);
    result = JSON.parse(readFileSync(join(out, 'result.json'), 'utf8'));
    const nth = new Map();  // layers of the same shape are told apart by their order
    for (const [, shapes, pass, measured] of said.matchAll(/^convolution (.*?) (forward|backward weights|backward data), \w+ \(measured: (.*?)\)/gm)) {
      const key = `${shapes} ${pass}`, n = (nth.get(key) ?? 0) + 1;
      nth.set(key, n);
      const row = found.get(`${key} ${n}`) ?? { shapes, pass, milliseconds: {} };
      for (const [, algorithm, ms] of measured.matchAll(/(\w+) ([\d.]+) ms/g)) (row.milliseconds[algorithm] ??= []).push(Number(ms));
      found.set(`${key} ${n}`, row);
    }
    say(`algorithms, round ${round + 1} of ${rounds}: ${found.size} convolution passes`);
  }
  if (!found.size) throw new Error('--show-algorithms printed no measured convolution; has its wording changed?');
  save('algorithms', {
    machine: result.machine, date: result.date, model: 'vgg', batchsize, rounds,
    passes: [...found.values()].map((row) => ({ ...row, milliseconds: Object.fromEntries(Object.entries(row.milliseconds).map(([name, values]) => [name, spread(values)])) })),
  });
}

/** Seconds of the whole command on one device and on two, by the number of pictures trained on. */
function shortAndLong() {
  const lengths = trial ? [[0.02, 1], [0.08, 1]] : [[0.05, 1], [0.2, 1], [0.8, 1], [0.8, 3]], rounds = trial ? 1 : 3;
  const kinds = [{ devices: 1, words: ['single_gpu'] }, { devices: 2, words: ['multi_gpu', '--n-gpus', 2] }];
  const seen = lengths.map(() => kinds.map(() => []));
  const images = [];
  let result;
  for (const round of times(rounds)) {
    lengths.forEach(([fraction, epoch], i) => kinds.forEach(({ words }, k) => {
      const begin = performance.now();
      result = mid(`short_and_long/${i}_${k}`, words, ['--fraction', fraction, '--epoch', epoch]);
      seen[i][k].push((performance.now() - begin) / 1000);
      if (k === 0) images[i] = result.images;
    }));
    say(`short_and_long, round ${round + 1} of ${rounds}: ${seen.map((pair) => pair.map((values) => values.at(-1).toFixed(1)).join(' / ')).join(', ')} s`);
  }
  save('short_and_long', {
    machine: result.machine, date: result.date, model: result.network, batchsize: 64, rounds,
    runs: lengths.map((_, i) => ({ images: images[i], seconds: seen[i].map(spread), speedup: spread(seen[i][0].map((one, round) => one / seen[i][1][round])) })),
  });
}

/** What each device did in two iterations of each task, from the event stream that the timeline page shows. */
function timeline() {
  const [first, n] = [4, 2], fraction = trial ? 0.1 : 0.2;
  const ways = [{ task: 'multi_gpu', words: ['multi_gpu', '--n-gpus', 2] }, { task: 'multi_node', words: ranks(2, 2, 'flat') }];
  let result;
  const tasks = ways.map(({ task, words }) => {
    const trace = join(scratch, `trace_${task}`);
    result = mid(`timeline/${task}`, words, ['--fraction', fraction, '--epoch', 1, '--trace', trace]);
    return { task, first_iteration: first + 1, ...iterationsOf(readTrace(trace), first, n) };
  });
  save('timeline', { machine: result.machine, date: result.date, model: result.network, batchsize: 64, tasks });
}

const all = { speedup, batch_throughput: batchThroughput, algorithms, short_and_long: shortAndLong, timeline };
const chosen = flags.only?.split(',') ?? Object.keys(all);
const unknown = chosen.find((name) => !all[name]);

function refusal() {
  if (unknown) return `There is nothing called "${unknown}" to measure; there are ${Object.keys(all).join(', ')}.`;
  if (!existsSync(join(build, 'bin/bench_vgg'))) return `The kit isn't built in ${build}: ./odori setup builds it.`;
  if (!trial && cpus().length < 2) return 'This machine has one core: two devices would share it, and there is no speedup to measure.';
  if (!trial && loadavg()[0] > 0.5) return `Something else runs here (load ${loadavg()[0].toFixed(1)}): figures of a busy machine are worth nothing. Wait until the load is below 0.5.`;
  return '';
}

if (flags.help) {
  console.log(help);
} else if (refusal()) {
  console.error(refusal());
  process.exitCode = unknown ? 2 : 20;
} else {
  if (!/^synthetic +there/m.test(odori('data', 'list'))) odori('data', 'synthetic');
  for (const name of chosen) all[name]();
}
