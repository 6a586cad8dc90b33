// Test accuracy by batch size after the same epochs, with the learning rate as it is and scaled with the batch; and how many updates 60 % takes.
import { readResult } from '../build/results.mjs';
import { axes, dot } from './parts/plot.mjs';
import { sourceOf } from './parts/source.mjs';
import { colours, legend, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { size: 'batch size', accuracy: (n) => `test accuracy after ${n} epochs`, updates: (goal) => `updates until ${goal} %`, fixed: (rate) => `learning rate ${rate}`, scaled: 'scaled with the batch size', chance: 'guessing', never: (size) => `from ${size} on: not reached`,
    runs: (n) => `mean, and band from the least to the most, of ${n} training runs; hollow: 1 run, no band` },
  ja: { size: 'バッチサイズ', accuracy: (n) => `${n}エポック後のテスト精度`, updates: (goal) => `${goal} % までの更新回数`, fixed: (rate) => `学習率 ${rate}`, scaled: 'バッチサイズに比例', chance: '当て推量', never: (size) => `${size} 以上：未達`,
    runs: (n) => `${n}回の学習の平均と幅（帯）。白抜きは1回だけ（幅なし）` },
};
const goal = 0.6, chance = 0.1;
const hollow = ([x, y], stroke) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="8" fill="#ffffff" stroke="${stroke}" stroke-width="4"/>`;

export default function draw(language) {
  const say = words[language], result = readResult('batch_accuracy.json'), { base, runs, epoch, n_images: images } = result;
  const sizes = [...new Set(runs.map(({ batchsize }) => batchsize))], ticks = sizes.map((n) => [n, String(n)]);
  const left = axes(90, 96, 470, 300, { from: 14, to: 2500, log: true, ticks, title: say.size }, { from: 0, to: 0.75, ticks: [0, 0.2, 0.4, 0.6].map((a) => [a, `${100 * a} %`]), title: say.accuracy(epoch) }, { size: 20 });
  const right = axes(690, 96, 440, 300, { from: 14, to: 2500, log: true, ticks, title: say.size }, { from: 50, to: 5000, log: true, ticks: [100, 1000].map((n) => [n, n.toLocaleString('en-US')]), title: say.updates(100 * goal) }, { size: 20 });
  const kinds = [[false, colours.compute, say.fixed(base.learnrate)], [true, colours.update, say.scaled]];
  const series = kinds.map(([scaled, colour]) => ({ colour, points: runs.filter((run) => run.scaled === scaled || run.batchsize === base.batchsize) }));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const updates = ({ accuracy, batchsize }) => accuracy.map((epochs) => epochs.findIndex((one) => one >= goal) + 1).filter((n) => n).map((n) => n * Math.ceil(images / batchsize));
  const mark = (at, run, value, colour) => (run.accuracy.length === 1 ? hollow(at(run.batchsize, value), colour) : dot(at(run.batchsize, value), colour));
  const band = ({ colour, points }) => {
    const measured = points.filter(({ accuracy }) => accuracy.length > 1), edge = (key, list) => list.map(({ batchsize, last }) => left.at(batchsize, last[key]).map((n) => n.toFixed(1)).join(','));
    return `<polygon points="${[...edge('min', measured), ...edge('max', [...measured].reverse())].join(' ')}" fill="${colour}" fill-opacity="0.25"/>`;
  };
  const counts = runs.map(({ accuracy }) => accuracy.length).filter((n) => n > 1);
  return picture(1160, 540, legend(4, 18, kinds.map(([, colour, said]) => [colour, said]), { size: 24 }), left.svg, right.svg,
    rule([left.at(14, chance), left.at(2500, chance)], { stroke: colours.soft, dash: '8 6', line: 3 }), text(left.at(14, chance)[0] + 8, left.at(14, chance)[1] - 16, say.chance, { anchor: 'start', size: 20, fill: colours.soft }),
    series.map((one) => [band(one), rule(one.points.map(({ batchsize, last }) => left.at(batchsize, mean(last.values))), { stroke: one.colour, line: 4 }), one.points.map((run) => mark(left.at, run, mean(run.last.values), one.colour))]),
    series.map(({ colour, points }) => {
      const reached = points.filter((run) => updates(run).length === run.accuracy.length);
      return [rule(reached.map((run) => right.at(run.batchsize, mean(updates(run)))), { stroke: colour, line: 4 }), reached.map((run) => mark(right.at, run, mean(updates(run)), colour))];
    }),
    series.map(({ colour, points }, i) => {
      const never = points.find((run) => updates(run).length < run.accuracy.length);
      return never ? text(1130, 120 + 30 * i, say.never(never.batchsize), { anchor: 'end', size: 21, weight: 600, fill: colour === colours.update ? '#7a5200' : colour }) : '';
    }),
    text(0, 498, say.runs(Math.min(...counts)), { anchor: 'start', size: 20, weight: 600, class: 'few-runs' }), text(1156, 526, sourceOf(result, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
