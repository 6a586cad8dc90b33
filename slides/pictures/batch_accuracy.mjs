// Test accuracy by batch size after the same epochs, with the learning rate as it is and scaled with the batch size.
import { colours } from './parts/svg.mjs';
import { chart, colourScale } from './parts/chart.mjs';
import { readResult } from '../build/results.mjs';

const words = {
  en: { size: 'batch size', accuracy: (n, seeds) => `test accuracy after ${n} epochs (median and spread of ${seeds} trainings)`, fixed: (rate) => `learning rate ${rate}`, scaled: 'learning rate scaled with the batch size' },
  ja: { size: 'バッチサイズ', accuracy: (n, seeds) => `${n}エポック後のテスト精度（${seeds}回の中央値と幅）`, fixed: (rate) => `学習率 ${rate} のまま`, scaled: '学習率をバッチサイズに比例' },
};

export default function draw(language) {
  const result = readResult('batch_accuracy.json'), said = words[language], say = { ...said, fixed: said.fixed(result.base.learnrate) };
  const base = result.base.batchsize;
  const counts = result.runs.map(({ accuracy }) => accuracy.length), [least, most] = [Math.min(...counts), Math.max(...counts)];
  const trainings = least === most ? `${most}` : `${least}–${most}`;
  const values = result.runs.flatMap(({ batchsize, scaled, last }) => (batchsize === base ? [say.fixed, say.scaled] : [scaled ? say.scaled : say.fixed])
    .map((kind) => ({ kind, batchsize, median: last.median, min: last.min, max: last.max })));
  const sizes = [...new Set(values.map(({ batchsize }) => batchsize))];
  const x = { field: 'batchsize', type: 'quantitative', scale: { type: 'log', base: 2, nice: false, padding: 40 }, axis: { values: sizes, title: say.size, grid: false, labelOverlap: false } };
  const kinds = [[say.fixed, colours.compute], [say.scaled, colours.communication]];
  const y = { scale: { zero: false }, axis: { format: '.0%', tickCount: 6 } };
  return chart({ data: { values }, encoding: { x, color: { field: 'kind', type: 'nominal', scale: colourScale(kinds) } }, layer: [
    { mark: { type: 'rule', strokeWidth: 3, opacity: 0.55 }, encoding: { y: { field: 'min', type: 'quantitative', title: say.accuracy(result.epoch, trainings), ...y }, y2: { field: 'max' } } },
    { mark: 'line', encoding: { y: { field: 'median', type: 'quantitative', ...y } } },
    { mark: 'point', encoding: { y: { field: 'median', type: 'quantitative', ...y }, shape: { field: 'kind', type: 'nominal' } } },
  ] }, result, language, { kinds });
}
