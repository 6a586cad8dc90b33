#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Computes streams.json: when the operations of task 7's two streams run, in the virtual time of emulated GPUs.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { odori, writeResult } from './training.mjs';

const words = ['run', 'nccl', '--solution', '--ranks', '2', '--device', 'cpu'];
const timeline = /^(.+): ([\d.]+) ms\n +compute +\|(.*)\|\n +communication +\|(.*)\|$/gm;

/** Operations of one line, a character for each part of the picture's width: [{ mark, begin, end }], as parts of this width. */
const operationsOf = (line) => [...line.matchAll(/([^ ])\1*/g)].map(({ 0: marks, 1: mark, index }) => ({ mark, begin: index / line.length, end: (index + marks.length) / line.length }));

/** What a run of task 7 prints of its timelines, in milliseconds. Both are drawn to the scale of the longer one; each ends with its update. */
export function timelinesOf(printed) {
  const all = [...printed.matchAll(timeline)].map(([, title, milliseconds, compute, communication]) => ({ title, milliseconds: Number(milliseconds), compute, communication }));
  if (all.length !== 2) throw new Error(`Task 7's program prints two timelines, not ${all.length}:\n${printed}`);
  const longest = Math.max(...all.map(({ milliseconds }) => milliseconds)), scaled = (line) => operationsOf(line).map(({ mark, begin, end }) => ({ mark, begin: Number((begin * longest).toFixed(3)), end: Number((end * longest).toFixed(3)) }));
  return all.map(({ title, milliseconds, compute, communication }) => ({ title, milliseconds,
    compute: scaled(compute).map((operation, i, { length }) => (i + 1 < length ? operation : { ...operation, end: milliseconds })), communication: scaled(communication) }));
}

/** What streams.json should hold. */
export const streams = () => ({ command: `./odori ${words.join(' ')}`, timelines: timelinesOf(odori(...words)) });

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) console.log(`written: ${writeResult('streams', streams())}`);
