#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Computes simulation.json: how long one all-reduce takes on 2 to 1,024 simulated ranks, in virtual time.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { odori, writeResult } from './training.mjs';

const words = ['simulate', 'ring', '--solution', '--timings', '32:0.0146,64:0.0273', '--lang', 'en'];
const names = ['ring', 'kits_ring', 'tree', 'ring_formula', 'tree_formula', 'hierarchical'];

/** The table "ranks; yours, the kit's ring and tree; formulas of ring, tree and hierarchical" of what the command prints, in milliseconds, and the line that names the links. */
export function curvesOf(printed) {
  const links = printed.split('\n').find((line) => / between nodes; /.test(line));
  const rows = [...printed.matchAll(/^ *(\d+)((?: +[\d.]+){6})$/gm)].map(([, ranks, values]) => [Number(ranks), ...values.trim().split(/ +/).map(Number)]);
  if (!links || rows.length === 0) throw new Error(`./odori simulate prints links and a table of seven columns, not:\n${printed}`);
  return { links, points: rows.map(([ranks, ...values]) => ({ ranks, ...Object.fromEntries(names.map((name, i) => [name, values[i]])) })) };
}

/** What simulation.json should hold. */
export const simulation = () => ({ command: `./odori ${words.slice(0, 3).join(' ')}`, ...curvesOf(odori(...words)) });

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) console.log(`written: ${writeResult('simulation', simulation())}`);
