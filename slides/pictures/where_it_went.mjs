// SPDX-License-Identifier: Apache-2.0
// From 2.00 to the speedup that was measured on two devices, cause by cause: computed from the evaluation's share and from a trace.
import { readResult } from '../build/results.mjs';
import { sourceOf } from './parts/source.mjs';
import { box, colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { ideal: 'two devices', evaluate: 'evaluation\non one device', wait: 'waiting for\nthe slower one', exchange: 'gather, update,\nsend, and gaps', rest: 'the rest', measured: 'measured',
    how: 'evaluation: computed; waiting, exchange and gaps: two iterations of a trace; measured: median of 7 rounds; the rest is what remains' },
  ja: { ideal: '2デバイス', evaluate: '評価は\n1台だけ', wait: '遅い方を\n待つ', exchange: '集約・更新・\n送信とすき間', rest: '残り', measured: '実測',
    how: '評価は計算値、待ちと集約などはトレースの2反復、実測は7回の中央値、残りはその差' },
};
const testShare = 0.2;  // test images for each training image, in the synthetic set
const forwardShare = 1 / 3;  // of what a training image costs

/** { ideal, evaluate, wait, exchange, measured }: the speedup of task 1 after each cause. */
export function causes(speedup = readResult('speedup.json'), trace = readResult('timeline.json')) {
  const { iterations_us: iterations, spans } = trace.tasks.find(({ task }) => task === 'multi_gpu');
  const computing = (device) => spans.filter((span) => span.device === device && ['load', 'forward', 'backward'].includes(span.name)).reduce((sum, { us }) => sum + us, 0);
  const [one, other] = [computing(0), computing(1)], whole = iterations.reduce((sum, [, us]) => sum + us, 0);
  const evaluation = testShare * forwardShare, after = (training) => (1 + evaluation) / (training + evaluation);
  const balanced = 0.5, waiting = balanced * Math.max(one, other) / ((one + other) / 2);
  const measured = speedup.runs.find(({ devices, communicator }) => devices === 2 && !communicator).speedup.median;
  return { ideal: 2, evaluate: after(balanced), wait: after(waiting), exchange: after(waiting * whole / Math.max(one, other)), measured };
}

export default function draw(language) {
  const say = words[language], { ideal, evaluate, wait, exchange, measured } = causes();
  const least = 1.6, height = (value) => (value - least) / (ideal - least) * 300, ground = 370, step = 190, wide = 150;
  const steps = [['ideal', least, ideal, colours.load], ['evaluate', evaluate, ideal, colours.evaluate], ['wait', wait, evaluate, colours.waiting], ['exchange', exchange, wait, colours.communication], ['rest', measured, exchange, colours.snapshot], ['measured', least, measured, colours.compute]];
  return picture(1160, 500, steps.map(([name, low, top, fill], i) => {
    const x = 10 + i * step, [bottom, up] = [low, top].map((value) => ground - height(value)), whole = name === 'ideal' || name === 'measured';
    return [box(x, Math.min(up, bottom), wide, Math.max(Math.abs(bottom - up), 4), '', { fill, radius: 4, stroke: colours.soft, line: 1 }),
      text(x + wide / 2, Math.min(up, bottom) - 20, whole ? top.toFixed(2) : `${low > top ? '+' : '−'}${Math.abs(top - low).toFixed(2)}`, { size: 28, weight: 700 }),
      text(x + wide / 2, ground + 42, say[name], { size: 22, weight: 600 }), i < 5 ? rule([[x + wide, ground - height(name === 'ideal' ? top : low)], [x + step, ground - height(name === 'ideal' ? top : low)]], { stroke: colours.soft, line: 2, dash: '6 5' }) : ''];
  }), rule([[0, ground], [1150, ground]], { stroke: colours.soft, line: 2 }), [1.7, 1.8, 1.9].map((value) => text(1150, ground - height(value), value.toFixed(1), { anchor: 'end', size: 20, fill: colours.soft })),
  text(0, 456, say.how, { anchor: 'start', size: 18, fill: colours.soft, class: 'source' }), text(1156, 486, sourceOf(readResult('speedup.json'), language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
