// SPDX-License-Identifier: Apache-2.0
// Data parallelism: every device has the whole network and its own share of the data.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';
import { layers, pictures } from './parts/network.mjs';

const words = {
  en: { device: (n) => `device ${n}`, gradients: 'gradients', data: 'data' },
  ja: { device: (n) => `デバイス${n}`, gradients: '勾配を共有', data: 'データ' },
};

export default function draw(language) {
  const say = words[language];
  const device = (n, y) => box(0, y, 560, 196, '', { fill: colours.ground, stroke: colours.line, radius: 14 }) +
    text(20, y + 26, say.device(n), { anchor: 'start', size: 26, weight: 700 }) +
    pictures(26, y + 76, 4, { fill: n ? colours.soft : colours.load }) + arrow([[104, y + 108], [150, y + 108]]) +
    layers(160, y + 46, 5, { height: 124, width: 46, gap: 32 });
  return picture(560, 500, device(0, 0), device(1, 304),
    arrow([[350, 202], [350, 298]], { stroke: colours.communication, line: 6, head: 'both' }),
    text(376, 250, say.gradients, { anchor: 'start', size: 28, weight: 700, fill: colours.communication }),
    text(66, 250, say.data, { size: 26, fill: colours.soft }), arrow([[66, 230], [66, 202]], { line: 2 }), arrow([[66, 270], [66, 298]], { line: 2 }));
}
