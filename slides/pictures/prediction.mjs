// SPDX-License-Identifier: Apache-2.0
// Task 6: the speedup that it predicts for one batch on more and more devices, and how far off its predictions were where it can measure.
import { readResult } from '../build/results.mjs';
import { axes, dot, whisker } from './parts/plot.mjs';
import { linkInWords, sourceOf } from './parts/source.mjs';
import { colours, legend, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { devices: 'devices', speedup: 'times as fast as one', ideal: 'ideal', predicted: 'predicted', measured: 'measured', ring: (speedup) => `ring: ${speedup}`, chosen: (speedup) => `chosen: ${speedup}`, cases: ['1 device,\ntwice the batch', '2 devices,\ntwice the batch'], time: 'ms an iteration',
    how: (batch, network, n) => `${batch} images in all, 4 devices a node; between nodes ${network} (assumed); right: median and spread of ${n} runs` },
  ja: { devices: 'デバイス数', speedup: '1台の何倍速いか', ideal: '理想', predicted: '予測', measured: '実測', ring: (speedup) => `リング：${speedup}`, chosen: (speedup) => `選択：${speedup}`, cases: ['1台、\nバッチ2倍', '2台、\nバッチ2倍'], time: '1反復（ms）',
    how: (batch, network, n) => `全体で ${batch} 枚、1ノード4台。ノード間の回線は ${network}（仮定）。右は ${n} 回の中央値と幅` },
};

export default function draw(language) {
  const say = words[language], result = readResult('prediction.json'), { errors, curve } = result, [one] = curve;
  const few = 32, speedups = (name) => curve.filter(({ devices }) => devices >= few).map((point) => [point.devices, one[name] / point[name]]);
  const line = (points, colour, words, dx, dy) => [rule(points.map(([x, y]) => left.at(x, y)), { stroke: colour, line: 5 }), points.map(([x, y]) => dot(left.at(x, y), colour, 5)),
    text(left.at(...points.at(-1))[0] + dx, left.at(...points.at(-1))[1] + dy, words(points.at(-1)[1].toFixed(0)), { anchor: 'end', size: 22, weight: 700 })];
  const ticks = [32, 64, 128, 256, 512, 1024].map((n) => [n, String(n)]);
  const left = axes(80, 86, 560, 320, { from: few, to: 1024, log: true, ticks, title: say.devices }, { from: 24, to: 1024, log: true, ticks, title: say.speedup }, { size: 20 });
  const most = Math.max(...errors.flatMap(({ predicted, measured }) => [predicted.max, measured.max])) * 1.15, step = 10 ** Math.floor(Math.log10(most / 2)), tick = [1, 2, 5, 10].map((k) => k * step).find((one) => most / one < 5);
  const right = axes(790, 86, 350, 320, { from: 0, to: 2, ticks: [], title: '' }, { from: 0, to: most, ticks: Array.from({ length: Math.floor(most / tick) + 1 }, (_, k) => [k * tick, String(k * tick)]), title: say.time }, { size: 20 });
  return picture(1160, 540, legend(420, 20, [[colours.backward, say.predicted], [colours.ink, say.measured]], { size: 24 }), left.svg, right.svg,
    rule([left.at(few, few), left.at(1024, 1024)], { stroke: colours.soft, dash: '8 6' }), text(left.at(128, 128)[0] - 8, left.at(128, 128)[1] - 22, say.ideal, { anchor: 'end', size: 20, fill: colours.soft }),
    line(speedups('with_ring'), colours.backward, say.ring, 0, 36), line(speedups('with_chosen'), colours.backward, say.chosen, -64, -6),
    errors.map(({ predicted, measured }, i) => [[predicted, 0.35, colours.backward], [measured, 0.65, colours.ink]].map(([value, x, colour]) => [whisker(right.at, i + x, value, colour), dot(right.at(i + x, value.median), colour, 10)])
      .concat(text(right.at(i + 0.5, 0)[0], 446, say.cases[i], { size: 20, weight: 600 }), text(right.at(i + 0.5, 0)[0], right.at(0, Math.max(predicted.max, measured.max))[1] - 22, `${predicted.median > measured.median ? '+' : '−'}${Math.abs(100 * (predicted.median / measured.median - 1)).toFixed(0)} %`, { size: 24, weight: 700 }))),
    text(0, 500, say.how(result.shared_batch.toLocaleString('en'), linkInWords(result.network), errors[0].measured.values.length), { anchor: 'start', size: 20 }), text(1156, 528, sourceOf(result, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
