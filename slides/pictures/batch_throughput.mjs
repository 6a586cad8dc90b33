// SPDX-License-Identifier: Apache-2.0
// An iteration's time is a straight line over the batch size; images a second follow from it.
import { readResult } from '../build/results.mjs';
import { axes, curve, dot, whisker } from './parts/plot.mjs';
import { sourceOf } from './parts/source.mjs';
import { colours, picture, text } from './parts/svg.mjs';

const words = {
  en: { batch: 'batch size B', time: 'ms an iteration', rate: 'images/s', line: (a, b) => `a + b B\na = ${a} ms, b = ${b} ms`, curve: 'B / (a + b B)', limit: (n) => `1 / b = ${n}`, runs: (n) => `median and spread of ${n} runs; line through the smallest and the largest`, off: (percent) => `between:\nup to ${percent} % too low` },
  ja: { batch: 'バッチサイズ B', time: '1反復の時間（ms）', rate: '枚/秒', line: (a, b) => `a + b B\na = ${a} ms、b = ${b} ms`, curve: 'B / (a + b B)', limit: (n) => `1 / b = ${n}`, runs: (n) => `${n}回の中央値と幅。直線は最小と最大の2点から`, off: (percent) => `間の点では\n最大 ${percent} % 短い予測` },
};

export default function draw(language) {
  const result = readResult('batch_throughput.json'), say = words[language];
  const points = result.runs.map(({ batchsize, images_per_second: { median, min, max } }) => ({ batchsize, rate: { median, min, max },
    ms: { median: 1000 * batchsize / median, min: 1000 * batchsize / max, max: 1000 * batchsize / min } }));
  const small = points[0], large = points.at(-1);
  const b = (large.ms.median - small.ms.median) / (large.batchsize - small.batchsize), a = small.ms.median - b * small.batchsize;
  const off = Math.max(...points.map(({ batchsize, ms }) => 100 * (1 - (a + b * batchsize) / ms.median)));
  const left = axes(110, 60, 420, 340, { from: 0, to: 260, ticks: [0, 64, 128, 256].map((n) => [n, String(n)]), title: say.batch }, { from: 0, to: 2200, ticks: [0, 1000, 2000].map((n) => [n, n.toLocaleString('en-US')]), title: say.time });
  const right = axes(690, 60, 440, 340, { from: 0.9, to: 290, log: true, ticks: points.map(({ batchsize }) => [batchsize, String(batchsize)]), title: say.batch }, { from: 0, to: 150, ticks: [0, 50, 100, 150].map((n) => [n, String(n)]), title: say.rate });
  const rate = (batch) => 1000 * batch / (a + b * batch);
  const marks = ({ at }, key) => points.map((point) => whisker(at, point.batchsize, point[key], colours.soft) + dot(at(point.batchsize, point[key].median), colours.compute));
  return picture(1160, 540, left.svg, right.svg,
    curve(left.at, (batch) => a + b * batch, [0, 256], { stroke: colours.update }), marks(left, 'ms'), text(130, 120, say.line(a.toFixed(0), b.toFixed(1)), { anchor: 'start', size: 24, weight: 600, fill: '#7a5200' }), text(330, 330, say.off(off.toFixed(0)), { anchor: 'start', size: 22, fill: '#7a5200' }),
    curve(right.at, rate, [1, 256], { log: true, stroke: colours.update }), curve(right.at, () => 1000 / b, [1, 256], { log: true, stroke: colours.soft, dash: '8 6', line: 3 }),
    marks(right, 'rate'), text(700, right.at(1, 1000 / b)[1] - 18, say.limit((1000 / b).toFixed(0)), { anchor: 'start', size: 22, fill: colours.soft }), text(right.at(12, 1)[0] + 14, right.at(1, 56)[1], say.curve, { anchor: 'start', size: 24, weight: 600, fill: '#7a5200' }),
    text(0, 520, say.runs(result.rounds), { anchor: 'start', size: 20, fill: colours.soft, class: 'source' }), text(1156, 520, sourceOf(result, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
