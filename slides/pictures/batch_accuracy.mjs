// Test accuracy by batch size after the same epochs, with the learning rate as it is and scaled with the batch size.
import { colours } from './parts/svg.mjs';
import { chart, colourScale } from './parts/chart.mjs';
import { readResult } from '../build/results.mjs';

const words = {
  en: { size: 'batch size', accuracy: (n, seeds) => `test accuracy after ${n} epochs (median and spread of ${seeds} trainings)`, fixed: 'learning rate 0.05', scaled: 'learning rate scaled with the batch size' },
  ja: { size: 'バッチサイズ', accuracy: (n, seeds) => `${n}エポック後のテスト精度（${seeds}回の中央値と幅）`, fixed: '学習率 0.05 のまま', scaled: '学習率をバッチサイズに比例' },
};

export default function draw(language) {
  const result = readResult('batch_accuracy.json'), say = words[language];
  const base = result.base.batchsize;
  const values = result.runs.flatMap(({ batchsize, scaled, last }) => (batchsize === base ? [say.fixed, say.scaled] : [scaled ? say.scaled : say.fixed])
    .map((kind) => ({ kind, batchsize, median: last.median, min: last.min, max: last.max })));
  const sizes = [...new Set(values.map(({ batchsize }) => batchsize))];
  const x = { field: 'batchsize', type: 'quantitative', scale: { type: 'log', base: 2, nice: false, padding: 40 }, axis: { values: sizes, title: say.size, grid: false, labelOverlap: false } };
  const kinds = [[say.fixed, colours.compute], [say.scaled, colours.communication]];
  const y = { scale: { zero: false }, axis: { format: '.0%', tickCount: 6 } };
  return chart({ data: { values }, encoding: { x, color: { field: 'kind', type: 'nominal', scale: colourScale(kinds) } }, layer: [
    { mark: { type: 'rule', strokeWidth: 3, opacity: 0.55 }, encoding: { y: { field: 'min', type: 'quantitative', title: say.accuracy(result.epoch, result.seeds), ...y }, y2: { field: 'max' } } },
    { mark: 'line', encoding: { y: { field: 'median', type: 'quantitative', ...y } } },
    { mark: 'point', encoding: { y: { field: 'median', type: 'quantitative', ...y }, shape: { field: 'kind', type: 'nominal' } } },
  ] }, result, language, { kinds });
}
