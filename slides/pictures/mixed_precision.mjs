// SPDX-License-Identifier: Apache-2.0
// Mixed precision: products in 16 bits, weights and their update in 32, as the kit does with --precision bf16.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';

const words = {
  en: { weights: 'weights', copy: 'copy', forward: 'forward', backward: 'backward', gradients: 'gradients', update: 'update', half: '16 bits: half of the bytes', full: '32 bits: small updates aren\'t lost', exchange: 'all-reduce' },
  ja: { weights: '重み', copy: '変換', forward: '順伝播', backward: '逆伝播', gradients: '勾配', update: '更新', half: '16ビット：データ量は半分', full: '32ビット：小さな更新を失わない', exchange: 'all-reduce' },
};

export default function draw(language) {
  const say = words[language], size = 26, weight = 600;
  const node = (x, y, label, fill, width = 190) => box(x, y, width, 84, label, { fill, size, weight, radius: 12 });
  return picture(1160, 540,
    box(0, 10, 1160, 210, '', { fill: '#e6f1fa', radius: 16 }), text(28, 44, say.half, { anchor: 'start', size: 26, weight: 700, fill: colours.forward }),
    box(0, 290, 1160, 210, '', { fill: '#fbf2dc', radius: 16 }), text(28, 468, say.full, { anchor: 'start', size: 26, weight: 700, fill: '#7a5200' }),
    node(80, 90, say.weights, '#ffffff'), node(400, 90, say.forward, colours.forward), node(660, 90, say.backward, colours.backward), node(920, 90, say.gradients, '#ffffff'),
    node(80, 330, say.weights, '#ffffff'), node(440, 330, say.update, colours.update), node(870, 330, say.exchange, colours.communication, 260),
    arrow([[274, 132], [394, 132]]), arrow([[594, 132], [654, 132]]), arrow([[854, 132], [914, 132]]),
    arrow([[1015, 178], [1015, 324]], { stroke: colours.communication, line: 4 }), arrow([[864, 372], [636, 372]]), arrow([[434, 372], [276, 372]]),
    arrow([[175, 324], [175, 180]]), text(196, 254, say.copy, { anchor: 'start', size: 24, fill: colours.soft }));
}
