// Training speed by batch size, and the curve B / (a + b B) through the smallest and the largest.
import { chart, colourScale } from './parts/chart.mjs';
import { readResult } from '../build/results.mjs';
import { colours } from './parts/svg.mjs';

const words = {
  en: { x: 'batch size B', y: 'images/s, VGG on one thread', measured: 'measured (median and spread)', line: (a, b) => `B / (a + b B): a = ${a} ms an iteration, b = ${b} ms a picture` },
  ja: { x: 'バッチサイズ B', y: '枚/秒（VGG、1スレッド）', measured: '測定値（中央値と幅）', line: (a, b) => `B / (a + b B)：反復ごとに a = ${a} ms、1枚ごとに b = ${b} ms` },
};

export default function draw(language) {
  const result = readResult('batch_throughput.json'), say = words[language];
  const points = result.runs.map(({ batchsize, images_per_second }) => ({ batchsize, ...images_per_second }));
  const small = points[0], large = points.at(-1), seconds = ({ batchsize, median }) => batchsize / median;
  const b = (seconds(large) - seconds(small)) / (large.batchsize - small.batchsize), a = seconds(small) - b * small.batchsize;
  const curve = Array.from({ length: 101 }, (_, i) => small.batchsize * (large.batchsize / small.batchsize) ** (i / 100)).map((batchsize) => ({ batchsize, rate: batchsize / (a + b * batchsize) }));
  const kinds = [[say.measured, colours.compute], [say.line((1000 * a).toFixed(1), (1000 * b).toFixed(1)), colours.update]];
  const colour = (i) => ({ datum: kinds[i][0], scale: colourScale(kinds) });
  const x = { field: 'batchsize', type: 'quantitative', title: say.x, scale: { type: 'log', base: 2, nice: false, padding: 30 }, axis: { values: points.map(({ batchsize }) => batchsize), grid: false, labelOverlap: false } };
  const y = { type: 'quantitative', title: say.y, scale: { domainMin: 0 } };
  return chart({ layer: [
    { data: { values: curve }, mark: { type: 'line', strokeDash: [10, 6] }, encoding: { x, y: { field: 'rate', ...y }, color: colour(1) } },
    { data: { values: points }, mark: { type: 'rule', strokeWidth: 3, opacity: 0.6 }, encoding: { x, y: { field: 'min', ...y }, y2: { field: 'max' }, color: colour(0) } },
    { data: { values: points }, mark: 'point', encoding: { x, y: { field: 'median', ...y }, color: colour(0) } },
  ] }, result, language, { kinds });
}
