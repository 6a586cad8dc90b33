// SPDX-License-Identifier: Apache-2.0
// How much faster two devices train than one, in each way of the workshop.
import { bars, nameOf } from './parts/bars.mjs';
import { readResult } from '../build/results.mjs';
import { colours } from './parts/svg.mjs';

const words = { en: { title: (n) => `times as fast as one device (median and spread of ${n} rounds)` }, ja: { title: (n) => `1デバイスの何倍速いか（${n}回の中央値と幅）` } };

export default function draw(language) {
  const result = readResult('speedup.json');
  const rows = result.runs.filter(({ communicator }) => communicator !== 'naive').map((run) => ({ label: nameOf(run, language), value: run.speedup,
    words: run.speedup.median.toFixed(2), colour: run.devices === 1 ? colours.load : run.communicator ? colours.backward : colours.compute }));
  return bars(rows, { title: words[language].title(result.rounds), result, language, ideal: 2 });
}
