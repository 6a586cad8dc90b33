// SPDX-License-Identifier: Apache-2.0
// Hybrid parallelism: model parallel within each node, data parallel between nodes.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';
import { layers, pictures } from './parts/network.mjs';

const words = {
  en: { node: (n) => `node ${n}`, device: (n) => `device ${n}`, images: (n) => `images ${n}`, within: 'within a node: layers split,\nactivations at each pair of layers', between: 'between nodes: copies,\ngradients once an iteration', slow: 'network' },
  ja: { node: (n) => `ノード${n}`, device: (n) => `デバイス${n}`, images: (n) => `画像 ${n}`, within: 'ノード内：層を分割し\n層の組ごとに中間出力を通信', between: 'ノード間：同じものを複製し\n反復ごとに勾配を通信', slow: 'ネットワーク' },
};

export default function draw(language) {
  const say = words[language], red = colours.communication, wide = 505, second = 655, fills = [colours.forward, colours.backward];
  const deviceAt = (x, y, n) => box(x + 130, y, 350, 122, '', { fill: '#ffffff', stroke: fills[n], line: 3, radius: 12 }) + text(x + 146, y + 24, say.device(n), { anchor: 'start', size: 20, weight: 600 }) +
    layers(x + 154, y + 46, 4, { width: 46, gap: 40, height: 60, fill: () => fills[n] });
  const nodeAt = (x, n) => [box(x, 0, wide, 420, '', { fill: colours.ground, stroke: colours.line, radius: 16 }), text(x + 22, 32, say.node(n), { anchor: 'start', size: 26, weight: 700 }),
    pictures(x + 36, 178, 3, { fill: n ? colours.soft : colours.load }), text(x + 64, 262, say.images(n), { size: 20, weight: 600 }),
    deviceAt(x, 56, 0), deviceAt(x, 262, 1),
    [1, 3].map((i) => arrow([[x + 177 + i * 86, 182], [x + 177 + i * 86, 258]], { stroke: red, line: 4, head: 'both' }))];
  return picture(1160, 540, nodeAt(0, 0), nodeAt(second, 1),
    [117, 323].map((y) => arrow([[wide - 20, y], [second + 126, y]], { stroke: red, line: 9, head: 'both' })),
    text(580, 200, say.slow, { size: language === 'ja' ? 20 : 24, weight: 700, fill: red }),
    text(wide / 2, 480, say.within, { size: 24, weight: 600 }), text(second + wide / 2, 480, say.between, { size: 24, weight: 600 }));
}
