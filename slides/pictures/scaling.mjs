// SPDX-License-Identifier: Apache-2.0
// Strong and weak scaling: what n devices buy when the batch in all stays as it is, and when each device keeps its own. Computed by ./odori predict.
import { readComputed, readQuoted } from '../build/results.mjs';
import { axes, dot } from './parts/plot.mjs';
import { colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { n: 'devices', speedup: 'times as fast as one device', ideal: 'ideal', weak: 'weak: 32 images a device', strong: 'strong: 32 images in all', then: '2018, measured,\n4 epochs',
    formula: (link) => `./odori predict: VGG 256 × 256 on P100, ${link} between all, compute / n or compute, plus the ring's exchange` },
  ja: { n: 'デバイス数', speedup: '1台の何倍速いか', ideal: '理想', weak: '弱スケーリング：1台に32枚', strong: '強スケーリング：全体で32枚', then: '2018年の実測\n（4エポック）',
    formula: (link) => `./odori predict の計算値：VGG 256 × 256、P100、どの間も ${link}。計算（または計算 / n）+ リングの通信` },
};

export default function draw(language) {
  const say = words[language], { images_per_second: rate, seconds_4_epochs: [one, two], images_per_second_2_nodes: four } = readQuoted().reedbush, { rows, network } = readComputed('scaling.json');
  const link = network.replace('gbit,', ' Gbit/s, ').replace('us', ' µs'), [weak, strong] = ['weak', 'strong'].map((kind) => rows.filter((row) => row[kind]).map((row) => [row.devices, row[kind]]));
  const { svg, at } = axes(90, 46, 760, 340, { from: 1, to: 64, log: true, ticks: [1, 2, 4, 8, 16, 32, 64].map((n) => [n, String(n)]), title: say.n }, { from: 0.8, to: 64, log: true, ticks: [1, 2, 4, 8, 16, 32, 64].map((n) => [n, String(n)]), title: say.speedup });
  const beside = (points, words, fill) => text(at(...points.at(-1))[0] + 16, at(...points.at(-1))[1], words, { anchor: 'start', size: 22, weight: 600, fill });
  return picture(1160, 500, svg, rule([at(1, 1), at(64, 64)], { stroke: colours.soft, dash: '8 6' }), rule(weak.map((point) => at(...point)), { stroke: colours.compute, line: 5 }), rule(strong.map((point) => at(...point)), { stroke: colours.snapshot, line: 5 }),
    text(866, at(64, 64)[1] - 10, say.ideal, { anchor: 'start', size: 22, fill: colours.soft }), beside(weak, say.weak, colours.forward), beside(strong, say.strong, colours.ink),
    [[2, one / two], [4, four / rate]].map(([n, speedup]) => dot(at(n, speedup), colours.ink) + text(at(n, speedup)[0] - 14, at(n, speedup)[1] - 18, speedup.toFixed(2), { anchor: 'end', size: 22, weight: 600 })),
    dot([880, 200], colours.ink), text(900, 200, say.then, { anchor: 'start', size: 22 }), text(4, 484, say.formula(link), { anchor: 'start', size: 20, fill: colours.soft }));
}
