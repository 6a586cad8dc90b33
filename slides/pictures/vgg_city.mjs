// SPDX-License-Identifier: Apache-2.0
// The VGG as a city: a bar a layer, multiply-adds up, parameters down, as lib/model builds it.
import { vgg } from '../build/vgg.mjs';
import { box, colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { up: (sum, flop) => `million multiply-adds forward: ${sum} in all, ${flop} GFLOP`, down: (sum) => `million parameters: ${sum} in all`, dense: 'dense' },
  ja: { up: (sum, flop) => `順伝播の積和（百万回）：合計 ${sum}、${flop} GFLOP`, down: (sum) => `パラメータ（百万個）：合計 ${sum}`, dense: '全結合' },
};
const millions = (n, digits = 1) => (n / 1e6).toFixed(digits);

export default function draw(language) {
  const say = words[language], { layers, products, flop, parameters } = vgg(), step = 72, left = 44, ground = 226, high = 150;
  const most = { products: Math.max(...layers.map((one) => one.products)), parameters: Math.max(...layers.map((one) => one.parameters)) };
  const bar = (one, i) => {
    const x = left + i * step, up = high * one.products / most.products, down = high * one.parameters / most.parameters;
    return [box(x, ground - up, step - 14, Math.max(up, 2), '', { fill: colours.compute, radius: 3 }), box(x, ground + 34, step - 14, Math.max(down, 2), '', { fill: colours.update, radius: 3 }),
      text(x + step / 2 - 7, ground - up - 16, millions(one.products), { size: 21, weight: 600 }),
      text(x + step / 2 - 7, ground + 34 + down + 16, one.parameters < 5e5 ? millions(one.parameters, 2) : millions(one.parameters), { size: 21, weight: 600 }),
      text(x + step / 2 - 7, ground + 18, String(one.outputs), { size: 21, fill: colours.soft })];
  };
  const blocks = [...new Set(layers.map(({ block }) => block))].map((block) => {
    const own = layers.map((one, i) => ({ ...one, i })).filter((one) => one.block === block), x = left + own[0].i * step, width = own.length * step - 14;
    return rule([[x, 442], [x + width, 442]], { stroke: colours.soft, line: 3 }) + text(x + width / 2, 464, block === 'dense' ? say.dense : `${own[0].size} × ${own[0].size}`, { size: 22, weight: 600 });
  });
  return picture(1160, 480, text(0, 16, say.up(millions(products), (flop / 1e9).toFixed(2)), { anchor: 'start', size: 24, weight: 700, fill: colours.forward }), layers.map(bar), blocks,
    text(0, 420, say.down(millions(parameters)), { anchor: 'start', size: 24, weight: 700, fill: '#7a5200' }));
}
