#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Measures exchange.json: a ring all-reduce of two networks' gradients over simulated links, by bench_allreduce.
//
//   slides/results/exchange.mjs [ROUNDS]      5 rounds, all in turn; a minute or two. Best before all other work: nice -n -20
import { join } from 'node:path';
import { kit } from '../build/problem.mjs';
import { predicted } from './scaling.mjs';
import { run, spread, train, writeResult } from './training.mjs';

const rounds = Number(process.argv[2] ?? 5), n = 2, latency_us = 50, models = ['mid', 'vgg'], links = [1, 10, 100];
const bin = (name) => join(process.env.ODORI_BUILD ?? join(kit, 'build'), 'bin', name);
const mpirun = [join(kit, 'lib/comm/mpirun.sh'), 'mpirun', '--oversubscribe', '--bind-to', 'none', ...(process.getuid() ? [] : ['--allow-run-as-root']), '-np', n];

/** A network's gradients in bytes. */
const bytesOf = (model) => predicted(['--model', model, '--batchsize', 1, '--timings', '1:1,2:2']).gradients;

/** Seconds of one all-reduce, the mean of some. */
function seconds(model, gbit) {
  const bench = [bin('bench_allreduce'), '--device', 'cpu', '--communicator', 'ring', '--model', model, '--rounds', 1, '--iterations', model === 'vgg' ? 2 : 20];
  const said = run([...mpirun, ...bench], { ODORI_NODES: [...Array(n).keys()].join(), ODORI_LINK: `${gbit}gbit,${latency_us}us` });
  return Number(/MB: ([\d.]+) ms/.exec(said)[1]) / 1000;
}

const points = links.flatMap((gbit) => models.map((model) => ({ gbit, model, bytes: bytesOf(model), seen: [] })));
for (let round = 0; round < rounds; ++round) {
  for (const point of points) point.seen.push(seconds(point.model, point.gbit));
  console.log(`round ${round + 1} of ${rounds}: ${points.map(({ seen }) => (1000 * seen.at(-1)).toFixed(2)).join(' ')} ms`);
}
const { machine, date } = train('machine', ['single_gpu', '--dataset', 'synthetic', '--device', 'cpu', '--model', 'tiny', '--fraction', 0.01, '--epoch', 1]);
console.log(`written: ${writeResult('exchange', { machine, date, command: `slides/results/exchange.mjs ${rounds}`, ranks: n, latency_us, rounds,
  points: points.map(({ seen, ...point }) => ({ ...point, seconds: spread(seen) })) })}`);
