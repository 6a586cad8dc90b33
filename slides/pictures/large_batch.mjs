// Task 4: held-out accuracy by batch after the same epochs, with the rate fixed, scaled, and scaled with warm-up.
import { readResult } from '../build/results.mjs';
import { axes, dot } from './parts/plot.mjs';
import { sourceOf } from './parts/source.mjs';
import { colours, legend, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { batch: 'images of an update', accuracy: 'held-out accuracy', fixed: 'fixed rate', scaled: 'scaled with the batch', warm_up: 'scaled, with warm-up', chance: 'guessing', runs: (n) => `median, and band from the least to the most, of ${n} training runs a point` },
  ja: { batch: '1回の更新の枚数', accuracy: '検証精度', fixed: '学習率は固定', scaled: 'バッチに比例', warm_up: '比例＋ウォームアップ', chance: '当て推量', runs: (n) => `各点は ${n} 回の学習の中央値、帯は最小から最大` },
};
const kinds = [['fixed', colours.compute], ['scaled', colours.update], ['warm_up', colours.ink]];

export default function draw(language) {
  const say = words[language], result = readResult('measured.json', 'solutions/04_large_batch'), { points, seeds } = result, batches = [...new Set(points.map(({ batch }) => batch))].sort((a, b) => a - b);
  const { svg, at } = axes(90, 96, 1040, 300, { from: batches[0] / 1.2, to: batches.at(-1) * 1.2, log: true, ticks: batches.map((n) => [n, n.toLocaleString('en-US')]), title: say.batch }, { from: 0, to: 1, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1].map((a) => [a, `${Math.round(100 * a)} %`]), title: say.accuracy });
  const of = (schedule) => points.filter((point) => point.schedule === schedule).sort((a, b) => a.batch - b.batch), edge = (key, list) => list.map(({ batch, accuracy }) => at(batch, accuracy[key]).map((n) => n.toFixed(1)).join(','));
  return picture(1160, 540, legend(4, 18, kinds.map(([name, colour]) => [colour, say[name]]), { size: 24 }), svg,
    rule([at(batches[0], 0.1), at(batches.at(-1), 0.1)], { stroke: colours.soft, dash: '8 6', line: 3 }), text(at(batches[0], 0.1)[0] + 8, at(batches[0], 0.1)[1] + 16, say.chance, { anchor: 'start', size: 20, fill: colours.soft }),
    kinds.map(([name, colour]) => `<polygon points="${[...edge('min', of(name)), ...edge('max', [...of(name)].reverse())].join(' ')}" fill="${colour}" fill-opacity="0.2"/>`),
    kinds.map(([name, colour]) => [rule(of(name).map(({ batch, accuracy }) => at(batch, accuracy.median)), { stroke: colour, line: 5 }), of(name).map(({ batch, accuracy }) => dot(at(batch, accuracy.median), colour))]),
    text(0, 498, say.runs(seeds), { anchor: 'start', size: 20, weight: 600 }), text(1156, 526, sourceOf({ ...result, model: 'tiny', dataset: 'synthetic' }, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
