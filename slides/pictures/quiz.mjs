// SPDX-License-Identifier: Apache-2.0
// Four measured timelines, A to D: each slow for a reason of its own, but for one. The picture doesn't say which is which.
import { readResult } from '../build/results.mjs';
import { lanes } from './parts/lanes.mjs';
import { sourceOf } from './parts/source.mjs';
import { box, colours, legend, picture, text } from './parts/svg.mjs';
import { hatched, rowsOf } from './parts/trace.mjs';

const words = {
  en: { device: (n) => `device ${n}`, rank: (n) => `rank ${n}`, load: 'load', forward: 'forward', backward: 'backward', communication: 'exchange', update: 'update', waiting: 'waiting', inside: 'waiting in the all-reduce', iterations: (n, ms) => `${n} iterations, ${ms} ms` },
  ja: { device: (n) => `デバイス${n}`, rank: (n) => `ランク${n}`, load: 'データ読込', forward: '順伝播', backward: '逆伝播', communication: '通信', update: '更新', waiting: '待ち', inside: 'all-reduce の中の待ち', iterations: (n, ms) => `${n} 反復、${ms} ms` },
};

export default function draw(language) {
  const say = words[language], result = readResult('quiz.json'), wide = 570, labels = 116;
  const panel = ({ name, spans, iterations_us: iterations, words: command }, x, y) => {
    const end = Math.max(...spans.map(({ begin_us, us }) => begin_us + us)), unit = (wide - labels - 16) / end, devices = command.startsWith('multi_gpu');
    return `<g transform="translate(${x} ${y})">${[box(0, 0, 44, 44, name, { fill: colours.head, size: 28, weight: 700 }),
      text(wide - 16, 24, say.iterations(iterations.length, (end / 1000).toFixed(end < 1e4 ? 1 : 0)), { anchor: 'end', size: 22, fill: colours.soft }),
      lanes(rowsOf(spans, unit, ({ rank, device }) => (devices ? say.device(device) : say.rank(rank))), { y: 58, labels, unit, height: 58, gap: 8, until: end, ground: colours.waiting })].join('')}</g>`;
  };
  return picture(1160, 540, hatched, result.cases.map((one, i) => panel(one, (i % 2) * (wide + 20), 4 + Math.floor(i / 2) * 222)),
    legend(0, 474, ['load', 'forward', 'backward', 'communication', 'update', 'waiting'].map((kind) => [colours[kind], say[kind]]).concat([['url(#hatched)', say.inside]]), { size: 22, gap: 22 }),
    text(1156, 528, sourceOf(result, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
