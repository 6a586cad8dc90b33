#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Records the short runs that slides draw as they were: the opening frame, the quiz, and what tasks 5 and 6 find out.
//
//   slides/results/short_runs.mjs --help
import { spawn } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { frameOf, iterationsOf, readTrace } from '../build/traces.mjs';
import { odori, scratch, spread, train, writeResult } from './training.mjs';

const help = `slides/results/short_runs.mjs [flags]: writes opening.json, quiz.json, overlap.json and prediction.json.
  --only NAME,...  some of these
  --tries N        of so many runs of some seconds the quickest is drawn, the one that was disturbed least (default 5)
  --trial          one run each, that only tries the way: the files say "provisional", and CI refuses them
Needs the built kit (./odori setup), two cores, and taskset for the quiz, and a machine where nothing else runs.`;

const { values: flags } = parseArgs({ options: { only: { type: 'string' }, tries: { type: 'string', default: '5' }, trial: { type: 'boolean' }, help: { type: 'boolean' } } });
const trial = Boolean(flags.trial), tries = trial ? 1 : Number(flags.tries), times = (n) => [...Array(n).keys()];
const common = ['--dataset', 'synthetic', '--device', 'cpu'];
const link = '1gbit,50us';

const say = (words) => console.log(`${new Date().toTimeString().slice(0, 8)} ${words}`);
const save = (name, result) => say(`written: ${writeResult(name, { ...result, command: `slides/results/short_runs.mjs --only ${name}`, tries, ...(trial && { provisional: true }) })}`);
const least = (all, length) => all.reduce((best, one) => (length(one) < length(best) ? one : best));

/** A short training with its trace, and what it says about itself. */
function traced(name, words) {
  const result = train(name, [...words, ...common, '--epoch', 1, '--trace', join(scratch, name)]);
  return { result, trace: readTrace(join(scratch, name)) };
}

/** The same 512 images on one device and on two, from begin to end. */
function opening() {
  const lengthOf = ({ spans }) => Math.max(...spans.map(({ begin_us, us }) => begin_us + us));
  const seen = times(tries).map((i) => {
    for (const [name, words] of [['one', ['single_gpu']], ['two', ['multi_gpu', '--n-gpus', 2]]]) traced(`opening/${name}`, [...words, '--model', 'mid', '--batchsize', 64, '--fraction', 0.0512]);
    const frame = frameOf(join(scratch, 'opening'));
    say(`opening, try ${i + 1} of ${tries}: ${frame.runs.map((one) => (lengthOf(one) / 1000).toFixed(1)).join(' and ')} ms`);
    return frame;
  });
  save('opening', { ...seen[0], runs: [0, 1].map((i) => least(seen.map(({ runs }) => runs[i]), lengthOf)) });
}

const quickest = (windows) => least(windows, ({ spans }) => Math.max(...spans.map(({ begin_us, us }) => begin_us + us)));
const median = (windows) => windows.sort((a, b) => a.iterations_us.at(-1)[0] - b.iterations_us.at(-1)[0])[windows.length >> 1];

/** `n` iterations in a row of some tries, the first two left out. */
function iterations(name, words, n, { during = traced, choose = quickest } = {}) {
  const seen = times(tries).flatMap((i) => {
    const { result, trace } = during(name, words), count = trace.filter(({ name: what, rank }) => what === 'iteration' && rank === 0).length;
    const windows = times(count - n - 1).map((k) => ({ ...iterationsOf(trace, k + 2, n), first_iteration: k + 3, result }));
    say(`${name}, try ${i + 1} of ${tries}`);
    return windows;
  });
  return choose(seen);
}

/** With rank 0 on core 0, and rank 1 on core 1 that another program wants, too. */
function disturbed(name, words) {
  const other = spawn('taskset', ['-c', '1', process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' });
  const pin = spawn(process.execPath, ['-e', `(${pinning})(${JSON.stringify(join(scratch, name))})`], { stdio: 'ignore' });
  try {
    return traced(name, words);
  } finally {
    other.kill();
    pin.kill();
  }
}

/** Runs beside a training, and moves each of its ranks to the core of its number. */
function pinning(mark) {
  const { readFileSync, readdirSync } = require('node:fs'), { spawnSync } = require('node:child_process'), done = new Set();
  setInterval(() => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && !done.has(name))) {
      try {
        if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)) continue;
        const rank = /(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)/.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1];
        if (rank === undefined) continue;
        spawnSync('taskset', ['-a', '-p', '-c', rank, pid]);
        done.add(pid);
      } catch { /* it has ended */ }
    }
  }, 20);
}

/** Four trainings, each slow for a reason of its own, but for one. */
function quiz() {
  const mid = ['--model', 'mid', '--batchsize', 16, '--fraction', 0.0384], two = ['multi_node', '--ranks', 2, '--nodes', 2, '--communicator', 'flat'];
  const cases = [
    ['A', 'host', ['multi_gpu', '--n-gpus', 2, '--model', 'tiny', '--batchsize', 1, '--fraction', 0.006], 3],
    ['B', 'straggler', [...two, ...mid], 2, { during: disturbed, choose: median }],
    ['C', 'nothing', [...two, ...mid], 2],
    ['D', 'link', [...two, '--link', link, ...mid], 2],
  ].map(([name, cause, words, n, how]) => {
    const { result, ...window } = iterations(`quiz/${cause}`, words, n, how);
    return { name, cause, words: words.join(' '), ...window, result };
  });
  const { machine, date } = cases[0].result;
  save('quiz', { machine, date, cases: cases.map(({ result: _, ...one }) => one) });
}

/** The rows of the table of task 5's program: the ways, with milliseconds of an iteration and those that are exposed. */
const wayRow = /^(synchronous|overlapped|double-buffered|half precision) +([\d.]+) +([\d.]+) +\d+ %/gm;

/** The ways of task 5 over a simulated link: its program's figures, and a trace of each by task 2's program, whose flags do the same. */
function overlap() {
  const two = ['multi_node', '--ranks', 2, '--nodes', 2, '--link', link, '--communicator', 'flat', '--model', 'mid', '--batchsize', 16, '--fraction', 0.0384];
  const ways = { synchronous: [], overlapped: ['--bucket-mib', 1], 'double-buffered': ['--double-buffering'], 'half precision': ['--allreduce-dtype', 'fp16'] };
  const figures = Object.fromEntries(Object.keys(ways).map((way) => [way, { milliseconds: [], exposed: [] }]));
  for (const i of times(tries)) {
    for (const [, way, iteration, exposed] of odori('run', 'overlap', '--solution', '--ranks', 2, '--link', link, '--model', 'mid', '--batchsize', 16).matchAll(wayRow)) {
      figures[way].milliseconds.push(Number(iteration));
      figures[way].exposed.push(Number(exposed));
    }
    say(`overlap, try ${i + 1} of ${tries}: ${Object.values(figures).map(({ exposed }) => exposed.at(-1)).join(' ')} ms exposed`);
  }
  let of;
  const shown = Object.entries(ways).map(([way, words]) => {
    const { result, ...window } = iterations(`overlap/${way.replace(' ', '_')}`, [...two, ...words], 2);
    of = result;
    return { way, milliseconds: spread(figures[way].milliseconds), exposed: spread(figures[way].exposed), ...window };
  });
  save('overlap', { machine: of.machine, date: of.date, model: 'mid', batchsize: 16, link, ways: shown });
}

/** What task 6's program predicts, and how far off that is. */
function prediction() {
  const network = '10gbit,50us', within = '100gbit,5us', sharedBatch = 8192, perNode = 4, seen = times(tries).map((i) => {
    const said = odori('run', 'prediction', '--solution', '--model', 'mid', '--batchsize', 32, '--shared-batch', sharedBatch, '--devices-per-node', perNode, '--within', within, '--network', network);
    const number = '(-?[\\d.]+|-)', row = new RegExp(`^ *(\\d+) +${number} +${number} +${number} +${number} +(\\w+|-) +${number} +${number} *#*$`, 'gm');
    const curve = [...said.matchAll(row)].map(([, devices, ring, , , withRing, chosen, withChosen]) => ({ devices: Number(devices), ring: Number(ring), with_ring: Number(withRing), chosen, with_chosen: Number(withChosen) }));
    const errors = [...said.matchAll(/^(.*): predicted ([\d.]+) ms, measured ([\d.]+) ms/gm)].map(([, what, predicted, measured]) => ({ what, predicted: Number(predicted), measured: Number(measured) }));
    if (curve.length !== 19 || errors.length !== 2) throw new Error(`Task 6's program printed no curve of 19 rows and two errors:\n${said}`);
    say(`prediction, try ${i + 1} of ${tries}: ${errors.map(({ predicted, measured }) => `${predicted} for ${measured}`).join(', ')} ms`);
    return { curve, errors };
  });
  const best = least(seen, ({ curve }) => curve[0].with_ring);
  const { machine, date } = train('machine', ['single_gpu', ...common, '--model', 'tiny', '--fraction', 0.01, '--epoch', 1]);
  save('prediction', { machine, date, model: 'mid', batchsize: 32, shared_batch: sharedBatch, devices_per_node: perNode, network, within, curve: best.curve,
    errors: best.errors.map(({ what }, k) => ({ what, predicted: spread(seen.map(({ errors }) => errors[k].predicted)), measured: spread(seen.map(({ errors }) => errors[k].measured)) })) });
}

const all = { opening, quiz, overlap, prediction };
const chosen = flags.only?.split(',') ?? Object.keys(all), unknown = chosen.find((name) => !all[name]);
function refusal() {
  if (unknown) return `There is nothing called "${unknown}" to record; there are ${Object.keys(all).join(', ')}.`;
  if (!(tries > 0)) return '--tries takes a number of runs.';
  if (trial) return '';
  if (cpus().length < 2) return 'This machine has one core: two devices would share it, and their timelines would show that alone.';
  return loadavg()[0] > 0.5 ? `Something else runs here (load ${loadavg()[0].toFixed(1)}): a timeline would show that, too. Wait until the load is below 0.5.` : '';
}

if (flags.help) {
  console.log(help);
} else if (refusal()) {
  console.error(refusal());
  process.exitCode = unknown || !(tries > 0) ? 2 : 20;
} else {
  if (!/^synthetic +there/m.test(odori('data', 'list'))) odori('data', 'synthetic');
  for (const name of chosen) all[name]();
}
