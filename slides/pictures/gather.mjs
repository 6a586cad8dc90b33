// SPDX-License-Identifier: Apache-2.0
// Task 1's way: gradients are gathered on the main device, which alone updates and sends its parameters to the others.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';
import { lanes, timeAxis } from './parts/lanes.mjs';

const words = {
  en: { main: 'main device', other: (n) => `device ${n}`, forward: 'forward', backward: 'backward', sum: 'mean', update: 'update', gradients: 'gradients',
    parameters: 'parameters', time: 'time', next: 'forward', waits: 'wait', iteration: 'one iteration' },
  ja: { main: 'メイン', other: (n) => `デバイス${n}`, forward: '順伝播', backward: '逆伝播', sum: '平均', update: '更新', gradients: '勾配',
    parameters: 'パラメータ', time: '時間', next: '順伝播', waits: '待ち', iteration: '1反復' },
};

export default function draw(language) {
  const say = words[language], labels = 160, unit = 60, top = 60, height = 84, gap = 62;
  const work = [{ kind: 'forward', begin: 0, end: 2.6, label: say.forward }, { kind: 'backward', begin: 2.6, end: 6.6, label: say.backward }];
  const after = { kind: 'forward', begin: 13, end: 15.6, label: say.next };
  const rows = [
    { label: say.main, spans: [...work, { kind: 'communication', begin: 7.6, end: 9.4, label: say.sum }, { kind: 'update', begin: 9.4, end: 11.4, label: say.update }, after] },
    ...[1, 2].map((n) => ({ label: say.other(n), spans: [...work, { kind: 'waiting', begin: 6.6, end: 13, label: say.waits }, after] })),
  ];
  const x = (time) => labels + time * unit, edge = (row, below) => top + row * (height + gap) + (below ? height : 0);
  const transfer = (row, from, to, up) => arrow(up ? [[x(from), edge(row)], [x(to), edge(0, true)]] : [[x(from), edge(0, true)], [x(to), edge(row)]],
    { stroke: up ? colours.communication : colours.send, line: 4 });
  return picture(1160, 540,
    lanes(rows, { y: top, labels, unit, height, gap, size: 24, until: 15.8 }),
    transfer(1, 6.62, 7.58, true), transfer(2, 6.62, 8.4, true), transfer(1, 11.42, 12.4, false), transfer(2, 10.9, 12.98, false),
    text(x(6.45), edge(0, true) + gap / 2, say.gradients, { anchor: 'end', size: 26, weight: 700, fill: colours.communication }),
    text(x(12.7), edge(0, true) + gap / 2, say.parameters, { anchor: 'start', size: 26, weight: 700, fill: colours.send }),
    box(x(0), 8, 13 * unit - 4, 34, say.iteration, { fill: 'none', stroke: colours.line, size: 22, radius: 6 }),
    timeAxis(labels, 470, 15.8 * unit - 60, say.time));
}
