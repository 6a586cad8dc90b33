#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Computes scaling.json: weak and strong scaling of the VGG of 2018, by ./odori predict from what one of its GPUs did.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kit } from '../build/problem.mjs';
import { readQuoted } from '../build/results.mjs';
import { run, writeResult } from './training.mjs';

/** What ./odori predict computes with these words, as its --json has it. */
export function predicted(words) {
  const folder = mkdtempSync(join(tmpdir(), 'odori_predicted_')), path = join(folder, 'predicted.json');
  try {
    run([join(process.env.ODORI_BUILD ?? join(kit, 'build'), 'bin/odori_predict'), ...words, '--json', path]);
    return JSON.parse(readFileSync(path, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What scaling.json should hold: how many times as fast as one device, by devices; no strong scaling where a device has no image. */
export function scaling(network = '10gbit,50us', nodes = 64) {
  const { images_per_second: rate, batchsize } = readQuoted().reedbush, timings = [1, 2].map((n) => `${n * batchsize}:${(n * batchsize / rate).toFixed(5)}`).join();
  const words = ['--model', 'vgg', '--image-size', 256, '--batchsize', batchsize, '--shared-batch', batchsize, '--timings', timings, '--nodes', nodes, '--network', network, '--communicator', 'ring'];
  const rows = predicted(words).scaling, one = rows[0].weak.seconds, rounded = (speedup) => Number(speedup.toFixed(3));
  return { command: `./odori predict ${words.join(' ')}`, network, batchsize,
    rows: rows.map(({ devices, weak, strong }) => ({ devices, weak: rounded(devices * one / weak.seconds), ...(strong && { strong: rounded(one / strong.seconds) }) })) };
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) console.log(`written: ${writeResult('scaling', scaling())}`);
