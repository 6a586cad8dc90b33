// SPDX-License-Identifier: Apache-2.0
// The frame that opens and closes the day: one short training on one device, and the same on two, from begin to end.
import { readResult } from '../../build/results.mjs';
import { lanes, measure } from './lanes.mjs';
import { sourceOf } from './source.mjs';
import { colours, legend, picture, rule, text } from './svg.mjs';
import { rowsOf } from './trace.mjs';

const words = {
  en: { one: 'one device', main: 'device 0', other: 'device 1', load: 'load', forward: 'forward', backward: 'backward', communication: 'exchange', hidden: 'hidden exchange', update: 'update', evaluate: 'evaluation',
    waiting: 'waiting', iterations: (n) => `${n} iterations`, saved: 'saved', run: 'one run', fast: (x) => `${x} times as fast` },
  ja: { one: '1デバイス', main: 'デバイス0', other: 'デバイス1', load: 'データ読込', forward: '順伝播', backward: '逆伝播', communication: '通信', hidden: '隠れた通信', update: '更新', evaluate: '評価',
    waiting: '待ち', iterations: (n) => `${n} 反復`, saved: '短縮', run: '1回の実行', fast: (x) => `${x}倍の速さ` },
};
const kinds = ['load', 'forward', 'backward', 'communication', 'hidden', 'update', 'evaluate', 'waiting'];
const milliseconds = (us) => `${Math.round(us / 1000).toLocaleString('en-US')} ms`;

/** The spans of a run, and when its training and its evaluation end; with their figures if it is `named`. */
export function frame(language, { named = false } = {}) {
  const say = words[language], result = readResult('opening.json'), labels = 150, [one, two] = result.runs.map((run) => ({ ...run, ...endsOf(run) })), unit = 1000 / one.end, x = (us) => labels + us * unit;
  const rows = (run, y, label, height) => lanes(rowsOf(run.spans, unit, label), { y, labels, unit, height, gap: 8, until: run.end, ground: colours.waiting });
  const phases = (run, y, [at, below, anchor]) => [measure(x(0), x(run.trained), y, `${say.iterations(run.iterations)}: ${milliseconds(run.trained)}`, { size: 22 }),
    text(at, below, `${say.evaluate}: ${milliseconds(run.end - run.trained)}`, { size: 22, anchor, weight: 600 })];
  return picture(1160, 540, rows(one, 66, () => say.one, 84), rows(two, 244, ({ device }) => (device ? say.other : say.main), 66),
    named ? [phases(one, 44, [x(one.end), 172, 'end']), phases(two, 222, [x(two.end) + 14, 262, 'start']), measure(x(two.end), x(one.end), 330, say.saved, { size: 24 }), text((x(two.end) + x(one.end)) / 2, 366, say.fast((one.end / two.end).toFixed(2)), { size: 26, weight: 700 }), [one, two].map(({ end }) => rule([[x(end), 192], [x(end), 384]], { stroke: colours.soft, line: 2, dash: '6 5' }))] : '',
    legend(0, 444, kinds.map((kind) => [colours[kind], say[kind]]), { size: 22, gap: 20 }), text(0, 500, named ? say.run : '', { anchor: 'start', size: 20, class: 'few-runs' }),
    text(1156, 528, sourceOf(result, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}

/** When the training of a run ends and its evaluation begins, and the end of all. */
export function endsOf({ spans }) {
  const ends = spans.map(({ begin_us, us }) => begin_us + us), evaluations = spans.filter(({ name }) => name === 'evaluate');
  return { end: Math.max(...ends), trained: Math.min(Math.max(...ends), ...evaluations.map(({ begin_us }) => begin_us)) };
}
