// SPDX-License-Identifier: Apache-2.0
// Stale gradients: each was computed on older parameters than those it is applied to.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';

const words = {
  en: { computed: 'computed on', applied: 'applied to', stale: (n) => (n === 0 ? 'fresh' : `${n} updates old`) },
  ja: { computed: '計算に使った重み', applied: '適用した重み', stale: (n) => (n === 0 ? '最新' : `${n}更新分の遅れ`) },
};
// W101 = W100 - lambda dW97, W102 = W101 - lambda dW98, ...
const steps = [[100, 97], [101, 98], [102, 100], [103, 99]];

export default function draw(language) {
  const say = words[language], first = 97, last = 104, wide = 104, left = 40;
  const x = (version) => left + (version - first) * 138 + wide / 2;
  const boxes = (y, marked, colour) => all.map((v) => box(x(v) - wide / 2, y, wide, 62, `W${v}`, { fill: marked.includes(v) ? colour : colours.waiting, size: 28, weight: 600 })).join('');
  const all = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  return picture(1160, 540,
    text(left, 26, say.computed, { anchor: 'start', size: 26, weight: 600 }),
    boxes(52, steps.map(([, on]) => on), colours.backward),
    boxes(272, [100, 101, 102, 103, 104], colours.update),
    all.slice(3, -1).map((v) => arrow([[x(v) + wide / 2 + 2, 303], [x(v + 1) - wide / 2 - 2, 303]], { line: 3 })),
    steps.map(([to, on]) => arrow([[x(on), 118], [(x(to) + x(to + 1)) / 2, 290]], { stroke: colours.communication, line: 4 })),
    text(left, 244, say.applied, { anchor: 'start', size: 26, weight: 600 }),
    steps.map(([to, on], i) => text(i * 297, 408, `W${to + 1} = W${to} − λ ∆W${on}`, { anchor: 'start', size: 24 }) +
      text(i * 297, 456, say.stale(to - on), { anchor: 'start', size: 28, weight: 700, fill: colours.wrong })));
}
