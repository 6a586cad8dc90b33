// SPDX-License-Identifier: Apache-2.0
// A pipeline of four stages with a batch in 1, 4 and 16 pieces, on one axis: the idle places shrink. Computed.
import { lanes } from './parts/lanes.mjs';
import { colours, legend, picture, text } from './parts/svg.mjs';

const words = {
  en: { pieces: (m) => (m === 1 ? '1 piece' : `${m} pieces`), idle: (p) => `idle ${p} %`, forward: 'forward', backward: 'backward', empty: 'idle', note: 'the same batch on 4 devices, each a row; (p − 1) / (m + p − 1) of the time is idle' },
  ja: { pieces: (m) => `${m}分割`, idle: (p) => `空き ${p} %`, forward: '順伝播', backward: '逆伝播', empty: '空き', note: '同じバッチを4台で処理（1行が1台）。空きは時間の (p − 1) / (m + p − 1)' },
};
const stages = 4, back = 2, whole = 16;  // the batch takes a stage 16 units forward, 32 backward

export default function draw(language) {
  const say = words[language], longest = stages * whole * (1 + back), labels = 150, unit = 1000 / longest, height = 26, gap = 3;
  const group = (m, y) => {
    const piece = whole / m, forwardEnd = (stages + m - 1) * piece, end = forwardEnd * (1 + back);
    const rows = Array.from({ length: stages }, (_, stage) => ({ label: '', spans: Array.from({ length: m }, (_, k) => {
      const begin = (stage + k) * piece, again = forwardEnd + (stages - 1 - stage + k) * piece * back;
      return [{ kind: 'forward', begin, end: begin + piece }, { kind: 'backward', begin: again, end: again + piece * back }];
    }).flat() }));
    return [text(0, y + 42, say.pieces(m), { anchor: 'start', size: 26, weight: 700 }), text(0, y + 80, say.idle(Math.round(100 * (stages - 1) / (m + stages - 1))), { anchor: 'start', size: 24, weight: 600 }),
      lanes(rows, { y, labels, unit, height, gap, until: end, ground: colours.waiting })];
  };
  return picture(1160, 520, [1, 4, 16].map((m, i) => group(m, 6 + i * 136)), legend(labels, 434, [[colours.forward, say.forward], [colours.backward, say.backward], [colours.waiting, say.empty]], { size: 24 }), text(0, 486, say.note, { anchor: 'start', size: 24 }));
}
