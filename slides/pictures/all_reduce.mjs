// SPDX-License-Identifier: Apache-2.0
// Task 2's way: an all-reduce gives every rank the mean of all gradients, and each updates its own copy of the model.
import { box, colours, picture, text } from './parts/svg.mjs';
import { lanes, timeAxis } from './parts/lanes.mjs';

const words = {
  en: { rank: (n) => `rank ${n}`, forward: 'forward', backward: 'backward', reduce: 'all-reduce', update: 'update', time: 'time', iteration: 'one iteration',
    all: 'gradients\nin, their\nmean out' },
  ja: { rank: (n) => `ランク${n}`, forward: '順伝播', backward: '逆伝播', reduce: 'all-reduce', update: '更新', time: '時間', iteration: '1反復',
    all: '勾配を入れると\nその平均が\n返る' },
};

export default function draw(language) {
  const say = words[language], labels = 130, unit = 62, top = 60, height = 84, gap = 24, n = 4;
  const rows = Array.from({ length: n }, (_, i) => ({ label: say.rank(i), spans: [
    { kind: 'forward', begin: 0, end: 2.6, label: say.forward }, { kind: 'backward', begin: 2.6, end: 6.6, label: say.backward },
    { kind: 'update', begin: 10.2, end: 12.2, label: say.update }, { kind: 'forward', begin: 12.2, end: 14.8, label: say.forward },
    { kind: 'backward', begin: 14.8, end: 16.4 }] }));
  const x = (time) => labels + time * unit, bottom = top + n * height + (n - 1) * gap;
  return picture(1160, 540,
    lanes(rows, { y: top, labels, unit, height, gap, size: 24, until: 16.4 }),
    box(x(6.6) + 3, top - 8, 3.6 * unit - 6, bottom - top + 16, '', { fill: colours.communication, radius: 12 }),
    text(x(8.4), (top + bottom) / 2 - 66, say.reduce, { size: language === 'ja' ? 24 : 30, weight: 700, fill: '#ffffff' }),
    text(x(8.4), (top + bottom) / 2 + 30, say.all, { size: 24, fill: '#ffffff' }),
    box(x(0), 8, 12.2 * unit - 4, 34, say.iteration, { fill: 'none', stroke: colours.line, size: 22, radius: 6 }),
    timeAxis(labels, bottom + 34, 16.4 * unit - 60, say.time));
}
