// SPDX-License-Identifier: Apache-2.0
// One all-reduce on 2 to 1,024 simulated ranks: the ring that task 3 writes and the kit's tree, as dots, and what the formulas say, as lines.
import { readComputed } from '../build/results.mjs';
import { axes, dot } from './parts/plot.mjs';
import { colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { ranks: 'ranks, 8 a node', time: 'one all-reduce of the VGG\'s gradients', ring: 'ring', tree: 'tree', hierarchical: 'hierarchical', dots: 'dots: task 3\'s ring and the kit\'s tree, run on simulated ranks; lines: formulas', foot: 'virtual time, not measured; computed by' },
  ja: { ranks: 'ランク数（1ノード8）', time: 'VGG の勾配の all-reduce 1回', ring: 'リング', tree: '木', hierarchical: '階層型', dots: '点：タスク3のリングとキットの木を、シミュレートしたランクで実行。線：式', foot: '仮想時間（実測ではない）。計算：' },
};

export default function draw(language) {
  const say = words[language], { command, points } = readComputed('simulation.json');
  const last = points.at(-1), shades = { tree_formula: colours.communication, hierarchical: colours.soft, ring_formula: colours.send };
  const ticks = points.filter((_, i) => i % 3 === 0 || i + 1 === points.length).map(({ ranks }) => [ranks, ranks.toLocaleString('en')]);
  const { svg, at } = axes(110, 50, 820, 370, { from: points[0].ranks, to: last.ranks, log: true, ticks, title: say.ranks },
    { from: 0, to: 20, ticks: [0, 5, 10, 15, 20].map((ms) => [ms, `${ms} ms`]), title: say.time });
  return picture(1160, 540, svg,
    Object.entries(shades).map(([name, stroke]) => rule(points.map((point) => at(point.ranks, point[name])), { stroke, line: 4 })),
    points.map(({ ranks, ring, tree }) => [dot(at(ranks, tree), colours.communication, 8), dot(at(ranks, ring), colours.send, 8)]),
    [['ring', 'ring_formula'], ['tree', 'tree_formula'], ['hierarchical', 'hierarchical']].map(([name, line]) =>
      text(948, at(last.ranks, last[line])[1], say[name], { anchor: 'start', size: 24, weight: 700, fill: shades[line] })),
    text(0, 500, say.dots, { anchor: 'start', size: 22, fill: colours.soft }),
    text(0, 528, `${say.foot} ${command}`, { anchor: 'start', size: 18, fill: colours.soft, class: 'source' }));
}
