// SPDX-License-Identifier: Apache-2.0
// The learning rate with linear scaling and warm-up: computed for k = 8, 5 epochs of warm-up and decays at 30 and 40.
import { box, colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { rate: 'learning rate', epoch: 'epoch', warm: 'warm-up', base: 'base', scaled: 'k × base' },
  ja: { rate: '学習率', epoch: 'エポック', warm: 'ウォームアップ', base: '元の値', scaled: '元の値 × k' },
};
const k = 8, warmUp = 5, epochs = 50;
const rate = (epoch) => (epoch < warmUp ? 1 + (k - 1) * epoch / warmUp : k * 0.1 ** [30, 40].filter((at) => epoch >= at).length);

export default function draw(language) {
  const say = words[language], left = 70, right = 540, top = 70, bottom = 420;
  const x = (epoch) => left + (right - left) * epoch / epochs, y = (value) => bottom - (bottom - top) * value / (k * 1.05);
  const points = [];
  for (let epoch = 0; epoch <= epochs; epoch += 0.05) points.push([x(epoch), y(rate(epoch))]);
  return picture(560, 500,
    box(x(0), top - 10, x(warmUp) - x(0), bottom - top + 10, '', { fill: colours.waiting, radius: 0 }),
    rule([[left, top - 10], [left, bottom], [right, bottom]], { stroke: colours.soft, line: 2 }),
    rule([[left, y(1)], [right, y(1)]], { stroke: colours.line, line: 2, dash: '7 6' }), rule([[left, y(k)], [right, y(k)]], { stroke: colours.line, line: 2, dash: '7 6' }),
    rule(points, { stroke: colours.compute, line: 5 }),
    text(right, y(k) - 20, say.scaled, { anchor: 'end', size: 24, weight: 600 }), text(right, y(1) - 20, say.base, { anchor: 'end', size: 24, weight: 600 }),
    text(0, 24, say.rate, { anchor: 'start', size: 24, weight: 600 }),
    text(x(warmUp) + 10, (top + bottom) / 2, say.warm, { anchor: 'start', size: 24, weight: 700, fill: colours.ink }),
    [0, 5, 30, 40, 50].map((epoch) => text(x(epoch), bottom + 22, String(epoch), { size: 22, fill: colours.soft })),
    text((left + right) / 2, 476, say.epoch, { size: 24, fill: colours.soft }));
}
