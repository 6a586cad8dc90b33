// SPDX-License-Identifier: Apache-2.0
// What task 4's sweep found: accuracy by batch after the same epochs, and the updates that an accuracy takes, for its three rates.
import { axes, dot } from './plot.mjs';
import { sourceOf } from './source.mjs';
import { colours, legend, picture, rule, text } from './svg.mjs';

const words = {
  en: { batch: 'images of an update', accuracy: (n) => `held-out accuracy after ${n} epochs`, updates: (goal) => `updates until ${goal} %`, fixed: 'fixed rate', scaled: 'scaled with the batch', warm_up: 'scaled, with warm-up', chance: 'guessing',
    runs: (n) => `median and range of ${n} training runs a point`, all: 'right: where every run got there' },
  ja: { batch: '1回の更新の枚数', accuracy: (n) => `${n}エポック後の検証精度`, updates: (goal) => `${goal} % までの更新回数`, fixed: '学習率は固定', scaled: 'バッチに比例', warm_up: '比例＋ウォームアップ', chance: '当て推量',
    runs: (n) => `各点は ${n} 回の学習の中央値と範囲`, all: '右：全回が到達した点のみ' },
};
const kinds = [['fixed', colours.compute], ['scaled', colours.update], ['warm_up', colours.ink]];
const spread = (values) => ({ min: Math.min(...values), max: Math.max(...values), median: [...values].sort((a, b) => a - b)[values.length >> 1] });

/** Of each training run of a point: how many updates it had made at the end of the first epoch with this accuracy; undefined if none had it. */
export const updatesUntil = (goal, { by_epoch: runs, updates }) => runs.map((epochs) => epochs.findIndex((accuracy) => accuracy >= goal) + 1)
  .map((epoch, i) => (epoch ? Math.ceil(updates * epoch / runs[i].length) : undefined));

/** Two panels of a result of solutions/04_large_batch/sweep.py; `top`: where the left one's axis ends. */
export function byBatch(language, result, { goal, top, dataset }) {
  const say = words[language], { points, seeds } = result, batches = [...new Set(points.map(({ batch }) => batch))].sort((a, b) => a - b);
  const epochs = points[0].by_epoch[0].length, smallest = points.find(({ batch }) => batch === batches[0]), images = smallest.updates * smallest.batch / epochs;
  const x = { from: batches[0] / 1.3, to: batches.at(-1) * 1.3, log: true, ticks: batches.map((n) => [n, n.toLocaleString('en-US')]), title: say.batch };
  const percents = [0, 0.2, 0.4, 0.6, 0.8].filter((part) => part <= top);
  const left = axes(80, 96, 480, 300, x, { from: 0, to: top, ticks: percents.map((part) => [part, `${Math.round(100 * part)} %`]), title: say.accuracy(epochs) }, { size: 20 });
  const all = points.flatMap((point) => updatesUntil(goal, point)).filter(Boolean), [from, to] = [Math.min(...all) / 2, Math.max(...all) * 2];
  const right = axes(690, 96, 440, 300, x, { from, to, log: true, ticks: [10, 100, 1000].filter((n) => n >= from && n <= to).map((n) => [n, n.toLocaleString('en-US')]), title: say.updates(Math.round(100 * goal)) }, { size: 20 });
  const series = ({ at }, list, colour) => {
    const edge = (key, some) => some.map(({ batch, [key]: value }) => at(batch, value).map((n) => n.toFixed(1)).join(','));
    return [`<polygon points="${[...edge('min', list), ...edge('max', [...list].reverse())].join(' ')}" fill="${colour}" fill-opacity="0.2"/>`,
      rule(list.map(({ batch, median }) => at(batch, median)), { stroke: colour, line: 5 }), list.map(({ batch, median }) => dot(at(batch, median), colour))];
  };
  const drawn = kinds.map(([name, colour]) => {
    const mine = points.filter(({ schedule }) => schedule === name).sort((a, b) => a.batch - b.batch);
    const reached = mine.map((point) => ({ batch: point.batch, updates: updatesUntil(goal, point) })).filter(({ updates }) => updates.every(Boolean));
    return [series(left, mine.map(({ batch, accuracy }) => ({ batch, ...accuracy })), colour), series(right, reached.map(({ batch, updates }) => ({ batch, ...spread(updates) })), colour)];
  });
  return picture(1160, 540, legend(4, 18, kinds.map(([name, colour]) => [colour, say[name]]), { size: 24 }), left.svg, right.svg,
    rule([left.at(x.from, 0.1), left.at(x.to, 0.1)], { stroke: colours.soft, dash: '8 6', line: 3 }), text(left.at(x.from, 0.1)[0] + 8, left.at(x.from, 0.1)[1] + 16, say.chance, { anchor: 'start', size: 20, fill: colours.soft }), drawn,
    text(0, 498, `${say.runs(seeds)} · ${say.all}`, { anchor: 'start', size: 20, weight: 600, class: seeds < 3 && 'few-runs' }), text(1156, 526, sourceOf({ ...result, dataset, n_images: images, model: 'tiny' }, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
