// Two devices of one node: one process that drives both, against a process for each.
import { bars } from './parts/bars.mjs';
import { readResult } from '../build/results.mjs';
import { colours } from './parts/svg.mjs';

const words = {
  en: { title: (n) => `images/s (median and spread of ${n} rounds)`, one: 'task 1: one process', two: (c) => `task 2: two ranks, ${c}` },
  ja: { title: (n) => `枚/秒（${n}回の中央値と幅）`, one: 'タスク1：1プロセス', two: (c) => `タスク2：2ランク、${c}` },
};

export default function draw(language) {
  const result = readResult('speedup.json'), say = words[language];
  const rows = result.runs.filter(({ devices, nodes }) => devices === 2 && nodes === 1).map((run) => ({ label: run.communicator ? say.two(run.communicator) : say.one,
    value: run.images_per_second, words: run.images_per_second.median.toFixed(0), colour: { naive: colours.hidden, flat: colours.communication }[run.communicator] ?? colours.compute }));
  return bars(rows, { title: say.title(result.rounds), result, language });
}
