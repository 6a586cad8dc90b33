// The speedup of whole commands, by how many pictures were trained on.
import { chart } from './parts/chart.mjs';
import { readResult } from '../build/results.mjs';
import { colours } from './parts/svg.mjs';

const words = {
  en: { x: 'pictures trained on', y: 'two devices: times as fast, whole command', seconds: (a, b) => `${a} s / ${b} s`, ideal: 'twice as fast' },
  ja: { x: '学習した画像の枚数', y: '2デバイスで何倍速いか（コマンド全体）', seconds: (a, b) => `${a} 秒 / ${b} 秒`, ideal: '2倍' },
};

/** Which round's speedup is the median, or nearest to it. */
const middleOf = ({ median, values }) => values.reduce((best, value, i) => (Math.abs(value - median) < Math.abs(values[best] - median) ? i : best), 0);
const written = (seconds) => seconds.toFixed(seconds < 10 ? 2 : 1);

export default function draw(language) {
  const result = readResult('short_and_long.json'), say = words[language];
  const values = result.runs.map(({ images, seconds, speedup }) => {
    const round = middleOf(speedup);  // whose seconds have this speedup
    return { images, ...speedup, words: [speedup.median.toFixed(2), say.seconds(...seconds.map(({ values }) => written(values[round])))] };
  });
  const x = { field: 'images', type: 'quantitative', title: say.x, scale: { type: 'log', nice: false, padding: 90 }, axis: { values: values.map(({ images }) => images), format: ',', grid: false, labelOverlap: false } };
  const y = { type: 'quantitative', title: say.y, scale: { domain: [0, 2.2] }, axis: { values: [0, 0.5, 1, 1.5, 2], format: '.1f' } };
  return chart({ data: { values }, layer: [
    { data: { values: [{ two: 2, words: say.ideal }] }, mark: { type: 'rule', strokeWidth: 3, strokeDash: [8, 6], color: colours.soft }, encoding: { y: { field: 'two', ...y } } },
    { mark: { type: 'rule', strokeWidth: 3, opacity: 0.55, color: colours.compute }, encoding: { x, y: { field: 'min', ...y }, y2: { field: 'max' } } },
    { mark: { type: 'line', color: colours.compute }, encoding: { x, y: { field: 'median', ...y } } },
    { mark: { type: 'point', color: colours.compute }, encoding: { x, y: { field: 'median', ...y } } },
    { mark: { type: 'text', dy: 46, lineBreak: '\n', fontSize: 22, fontWeight: 600, lineHeight: 28 }, encoding: { x, y: { field: 'min', ...y }, text: { field: 'words' } } },
  ] }, result, language);
}
