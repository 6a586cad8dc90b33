// Two devices: task 1, and task 2 by communicator on one node and on two (simulated) nodes.
import { bars } from './parts/bars.mjs';
import { readResult } from '../build/results.mjs';
import { colours } from './parts/svg.mjs';

const words = {
  en: { title: (n) => `images/s (median and spread of ${n} rounds)`, one: 'task 1: 1 process', nodes: (n) => (n === 1 ? 'task 2: 1 node' : 'task 2: 2 nodes') },
  ja: { title: (n) => `枚/秒（${n}回の中央値と幅）`, one: 'タスク1：1プロセス', nodes: (n) => (n === 1 ? 'タスク2：1ノード' : 'タスク2：2ノード') },
};

export default function draw(language) {
  const result = readResult('speedup.json'), say = words[language];
  const rows = result.runs.filter(({ devices }) => devices === 2).map((run) => ({ label: run.communicator ? `${say.nodes(run.nodes)}, ${run.communicator}` : say.one, value: run.images_per_second,
    words: run.images_per_second.median.toFixed(0), colour: { flat: colours.backward, naive: colours.load }[run.communicator] ?? colours.compute }));
  return bars(rows, { title: say.title(result.rounds), result, language });
}
