// SPDX-License-Identifier: Apache-2.0
// Two measured iterations of each task, device by device, as ./odori timeline shows them.
import { box, colours, legend, picture, text } from './parts/svg.mjs';
import { lanes } from './parts/lanes.mjs';
import { sourceOf } from './parts/source.mjs';
import { hatched, rowsOf } from './parts/trace.mjs';
import { readResult } from '../build/results.mjs';

const words = {
  en: { tasks: { multi_gpu: 'Task 1: one process, two devices', multi_node: 'Task 2: two ranks' }, device: (n) => `device ${n}`, rank: (n) => `rank ${n}`, forward: 'forward', backward: 'backward',
    communication: 'exchange', update: 'update', load: 'load', waiting: 'waiting', inside: 'waiting in the all-reduce', iteration: (n) => `iteration ${n}` },
  ja: { tasks: { multi_gpu: 'タスク1：1プロセス、2デバイス', multi_node: 'タスク2：2ランク' }, device: (n) => `デバイス${n}`, rank: (n) => `ランク${n}`, forward: '順伝播', backward: '逆伝播',
    communication: '通信', update: '更新', load: 'データ読込', waiting: '待ち', inside: 'all-reduce の中の待ち', iteration: (n) => `反復${n}` },
};

function task({ task: name, first_iteration, iterations_us, spans }, y, say) {
  const end = Math.max(...spans.map(({ begin_us, us }) => begin_us + us)), labels = 140, unit = 1005 / end;
  const rows = rowsOf(spans, unit, ({ rank, device }) => (name === 'multi_gpu' ? say.device(device) : say.rank(rank)), say);
  return [text(0, y, say.tasks[name], { anchor: 'start', size: 26, weight: 700 }),
    iterations_us.map(([begin, length], i) => text(labels + (begin + length / 2) * unit, y + 38, `${say.iteration(first_iteration + i)}, ${(length / 1000).toFixed(0)} ms`, { size: 20, fill: colours.soft }) +
      box(labels + begin * unit + 2, y + 54, length * unit - 4, 3, '', { fill: colours.soft, radius: 0 })),
    lanes(rows, { y: y + 64, labels, unit, height: 58, gap: 8, size: 22, until: end, ground: colours.waiting })];
}

export default function draw(language) {
  const result = readResult('timeline.json'), say = words[language];
  return picture(1160, 540, hatched, result.tasks.map((one, i) => task(one, 16 + i * 232, say)),
    legend(0, 478, ['load', 'forward', 'backward', 'communication', 'update', 'waiting'].map((kind) => [colours[kind], say[kind]]).concat([['url(#hatched)', say.inside]]), { size: 22, gap: 22 }),
    text(1156, 528, sourceOf(result, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
