// SPDX-License-Identifier: Apache-2.0
// What a job script's select line asks for: nodes, processes on each, threads of each.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';

const words = {
  en: { node: (n) => `node ${n}`, process: (n) => `process ${n}`, thread: '1 thread', chunks: 'nodes', processes: 'processes a node', threads: 'threads a process' },
  ja: { node: (n) => `ノード${n}`, process: (n) => `プロセス${n}`, thread: '1スレッド', chunks: 'ノード数', processes: 'ノードごとのプロセス数', threads: 'プロセスごとのスレッド数' },
};

export default function draw(language) {
  const say = words[language], size = 40, sign = size * 0.5;
  const line = '#PBS -l select=2:mpiprocs=2:ompthreads=1', from = 580 - line.length * sign / 2;
  const at = (part) => from + (line.indexOf(part) + part.length / 2) * sign;
  const parts = [['select=2', say.chunks, colours.forward], ['mpiprocs=2', say.processes, colours.ink], ['ompthreads=1', say.threads, '#7a5200']];
  const process = (n, x, y) => box(x, y, 220, 116, '', { fill: '#ffffff', stroke: colours.ink, line: 3, radius: 10 }) +
    text(x + 110, y + 36, say.process(n), { size: 24, weight: 600 }) + box(x + 40, y + 64, 140, 38, say.thread, { fill: colours.update, size: 22, radius: 6 });
  const node = (n, x) => box(x, 250, 540, 214, '', { fill: colours.ground, stroke: colours.forward, line: 3, radius: 14 }) +
    text(x + 24, 282, say.node(n), { anchor: 'start', size: 26, weight: 700, fill: colours.forward }) + [0, 1].map((i) => process(2 * n + i, x + 30 + i * 256, 320)).join('');
  return picture(1160, 500,
    box(from - 24, 14, line.length * sign + 48, 76, '', { fill: colours.ground, radius: 10 }),
    text(from, 52, line, { anchor: 'start', size, mono: true, textLength: line.length * sign }),
    parts.map(([part, meaning, colour]) => box(at(part) - part.length * sign / 2, 78, part.length * sign, 6, '', { fill: colour, radius: 2 }) +
      arrow([[at(part), 90], [at(part), 134]], { stroke: colour })),
    parts.map(([part, meaning, colour], i) => text(at(part) + [-70, -30, 120][i], 162, meaning, { size: 26, weight: 600, fill: colour })),
    node(0, 0), node(1, 620));
}
