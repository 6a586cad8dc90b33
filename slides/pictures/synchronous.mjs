// SPDX-License-Identifier: Apache-2.0
// Synchronous training: every worker waits at the all-reduce, and a slow one holds up all.
import { colours, legend, picture, text } from './parts/svg.mjs';
import { lanes, timeAxis } from './parts/lanes.mjs';

const words = {
  en: { worker: (n) => `worker ${n}`, compute: 'forward and backward', reduce: 'all-reduce', update: 'update', waiting: 'waiting', time: 'time', slow: 'a slow worker: all wait for it' },
  ja: { worker: (n) => `ワーカー${n}`, compute: '順伝播と逆伝播', reduce: 'all-reduce', update: '更新', waiting: '待ち', time: '時間', slow: '遅いワーカーが1台：全員が待つ' },
};
const seconds = [[4, 4.2, 3.9], [4.1, 4, 4], [3.9, 6.2, 4.1]];  // of each worker, by iteration
const exchange = 1.2, update = 0.6;

export default function draw(language) {
  const say = words[language], labels = 150;
  const spans = seconds.map(() => []);
  let at = 0;
  for (const k of seconds[0].keys()) {
    const ready = at + Math.max(...seconds.map((row) => row[k]));
    seconds.forEach((row, i) => spans[i].push({ kind: 'compute', begin: at, end: at + row[k], label: String(k + 1) },
      ...(ready - at - row[k] > 0.3 ? [{ kind: 'waiting', begin: at + row[k], end: ready }] : []),
      { kind: 'communication', begin: ready, end: ready + exchange }, { kind: 'update', begin: ready + exchange, end: ready + exchange + update }));
    at = ready + exchange + update;
  }
  const unit = 985 / at;
  return picture(1160, 540,
    lanes(spans.map((row, i) => ({ label: say.worker(i), spans: row })), { y: 10, labels, unit: unit, height: 84, gap: 22, size: 28 }),
    timeAxis(labels, 340, at * unit - 50, say.time),
    text(labels + (seconds[0][0] + exchange + update + 3.2) * unit, 390, say.slow, { anchor: 'start', size: 28, weight: 700 }),
    legend(labels, 470, [[colours.compute, say.compute], [colours.communication, say.reduce], [colours.update, say.update], [colours.waiting, say.waiting]], { size: 24 }));
}
