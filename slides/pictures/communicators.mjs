// Communicators compared on one node and on two (simulated) nodes.
import { bars } from './parts/bars.mjs';
import { readResult } from '../build/results.mjs';
import { colours } from './parts/svg.mjs';

const words = {
  en: { title: (n) => `images/s (median and spread of ${n} rounds)`, nodes: (n) => (n === 1 ? '1 node x 2 ranks' : '2 nodes x 1 rank') },
  ja: { title: (n) => `枚/秒（${n}回の中央値と幅）`, nodes: (n) => (n === 1 ? '1ノード × 2ランク' : '2ノード × 1ランク') },
};

export default function draw(language) {
  const result = readResult('speedup.json'), say = words[language];
  const rows = result.runs.filter(({ communicator }) => communicator).map((run) => ({ label: `${say.nodes(run.nodes)}, ${run.communicator}`, value: run.images_per_second,
    words: run.images_per_second.median.toFixed(0), colour: run.communicator === 'flat' ? colours.communication : colours.hidden }));
  return bars(rows, { title: say.title(result.rounds), result, language });
}
