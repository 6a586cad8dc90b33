// SPDX-License-Identifier: Apache-2.0
// Why a short training gains little: seconds are a fixed part and a part for each image, fitted on one device and on two.
import { readQuoted, readResult } from '../build/results.mjs';
import { axes, curve, dot, whisker } from './parts/plot.mjs';
import { sourceOf } from './parts/source.mjs';
import { colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { length: 'how long the training is on one device', speedup: 'two devices: times as fast, whole command', then: '2018: GPUs', now: 'this kit: CPU devices', lines: (one, two) => `1 device: ${one}\n2 devices: ${two}`, line: (a, b, unit) => `${a} s + ${b} s ${unit}`,
    epoch: 'an epoch', thousand: 'a thousand images', limit: (x) => `limit ${x}`, runs: (n) => `kit: median and spread of ${n} runs` },
  ja: { length: '1デバイスでの学習の長さ', speedup: '2デバイスで何倍速いか（コマンド全体）', then: '2018年：GPU', now: 'このキット：CPU デバイス', lines: (one, two) => `1デバイス：${one}\n2デバイス：${two}`, line: (a, b, unit) => `${a} 秒 + ${unit} ${b} 秒`,
    epoch: '1エポック', thousand: '1,000枚', limit: (x) => `上限 ${x}`, runs: (n) => `キット：${n}回の中央値と幅` },
};

/** The line through points [x, y] with the smallest sum of squares: [at 0, for each x]. */
export function fitted(points) {
  const mean = (key) => points.reduce((sum, point) => sum + point[key], 0) / points.length, [x, y] = [mean(0), mean(1)];
  const slope = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  return [y - slope * x, slope];
}

/** Both lines, seconds over epochs (or thousands of images), and what they say of a training that lasts this long on one device. */
export function linesOf(one, two) {
  const [[a, b], [c, d]] = [fitted(one), fitted(two)];
  return { one: [a, b], two: [c, d], limit: b / d, speedup: (seconds) => seconds / (c + d * (seconds - a) / b) };
}

export default function draw(language) {
  const say = words[language], result = readResult('short_and_long.json'), { seconds_4_epochs: few, seconds_50_epochs: many } = readQuoted().reedbush;
  const then = linesOf(...[0, 1].map((i) => [[4, few[i]], [50, many[i]]]));
  const now = linesOf(...[0, 1].map((i) => result.runs.map(({ images, seconds }) => [images / 1000, seconds[i].median])));
  const { svg, at } = axes(90, 60, 610, 350, { from: 0.7, to: 5000, log: true, ticks: [[1, '1 s'], [10, '10 s'], [100, '100 s'], [1000, '1,000 s']], title: say.length }, { from: 1, to: 2.05, ticks: [1, 1.2, 1.4, 1.6, 1.8, 2].map((n) => [n, n.toFixed(1)]), title: say.speedup });
  const beside = (y, title, { one, two, limit }, unit, colour) => [text(730, y, title, { anchor: 'start', size: 25, weight: 700, fill: colour }),
    text(730, y + 54, say.lines(...[one, two].map(([a, b]) => say.line(a.toFixed(1), b.toFixed(2), unit))), { anchor: 'start', size: 20 }), text(730, y + 106, say.limit(limit.toFixed(2)), { anchor: 'start', size: 24, weight: 600, fill: colour })];
  const drawn = ({ limit, speedup }, range, colour) => curve(at, speedup, range, { log: true, stroke: colour }) + rule([at(range[0], limit), at(5000, limit)], { stroke: colour, line: 2, dash: '8 6' });
  return picture(1160, 540, svg, drawn(then, [60, 5000], colours.forward), drawn(now, [0.9, 400], colours.update),
    [few, many].map(([one, two]) => dot(at(one, one / two), colours.forward) + text(at(one, 1)[0] + 14, at(1, one / two)[1] + 24, (one / two).toFixed(2), { anchor: 'start', size: 22, weight: 600, fill: colours.forward })),
    result.runs.map(({ seconds, speedup }) => whisker(at, seconds[0].median, speedup, colours.soft) + dot(at(seconds[0].median, speedup.median), colours.update)),
    beside(80, say.then, then, say.epoch, colours.forward), beside(270, say.now, now, say.thousand, '#7a5200'),
    text(0, 524, say.runs(result.rounds), { anchor: 'start', size: 18, fill: colours.soft, class: 'source' }), text(1156, 524, sourceOf(result, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
