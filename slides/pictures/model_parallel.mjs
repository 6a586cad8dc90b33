// SPDX-License-Identifier: Apache-2.0
// Model parallelism: one network over two devices, and the same data through both.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';
import { layers, pictures } from './parts/network.mjs';

const words = {
  en: { device: (n) => `device ${n}`, activations: 'activations, and\ntheir gradients' },
  ja: { device: (n) => `デバイス${n}`, activations: 'アクティベーション\n（中間出力）と勾配' },
};

export default function draw(language) {
  const say = words[language];
  const device = (n, y) => box(0, y, 560, 196, '', { fill: colours.ground, stroke: colours.line, radius: 14 }) +
    text(20, y + 26, say.device(n), { anchor: 'start', size: 26, weight: 700 });
  const grey = () => colours.waiting;
  return picture(560, 500, device(0, 0), device(1, 304),
    pictures(26, 76, 4), arrow([[104, 108], [150, 108]]),
    layers(160, 46, 5, { height: 124, width: 46, gap: 32, fill: grey }), layers(160, 46, 5, { height: 124, width: 46, gap: 32, upTo: 3 }),
    layers(160, 350, 5, { height: 124, width: 46, gap: 32, fill: grey }), layers(160, 350, 5, { height: 124, width: 46, gap: 32, from: 3 }),
    arrow([[339, 176], [339, 250], [417, 250], [417, 344]], { stroke: colours.communication, line: 6, head: 'both' }),
    text(320, 250, say.activations, { anchor: 'end', size: 26, weight: 700, fill: colours.communication }));
}
