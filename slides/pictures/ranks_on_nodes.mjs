// SPDX-License-Identifier: Apache-2.0
// Two nodes of two ranks: how a communicator numbers them, and which device each takes.
import { box, colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { node: (n) => `node ${n}`, device: (n) => `device ${n}`, network: 'network', takes: 'each takes the device intra_rank of its node' },
  ja: { node: (n) => `ノード${n}`, device: (n) => `デバイス${n}`, network: 'ネットワーク', takes: '各ランクは、自分のノードのデバイス intra_rank を使う' },
};

export default function draw(language) {
  const say = words[language], wide = 505, second = 655;
  const rankAt = (node, intra, x) => {
    const rank = node * 2 + intra;
    return box(x, 84, 224, 192, '', { fill: '#ffffff', stroke: colours.forward, line: 3, radius: 12 }) +
      text(x + 112, 120, `rank = ${rank}`, { size: 30, weight: 700, mono: true }) +
      box(x + 14, 152, 196, 50, `intra_rank = ${intra}`, { fill: colours.forward, size: 22, weight: 600, mono: true }) +
      text(x + 112, 238, `inter_rank = ${node}`, { size: 22, mono: true, fill: colours.soft }) +
      rule([[x + 112, 278], [x + 112, 322]], { stroke: colours.forward, line: 4 }) +
      box(x + 22, 322, 180, 66, say.device(intra), { fill: colours.backward, size: 26, weight: 600, radius: 10 });
  };
  const nodeAt = (node, x) => box(x, 8, wide, 404, '', { fill: colours.ground, stroke: colours.line, radius: 16 }) +
    text(x + 28, 44, say.node(node), { anchor: 'start', size: 28, weight: 700 }) + [0, 1].map((intra) => rankAt(node, intra, x + 18 + intra * 244)).join('');
  return picture(1160, 540, nodeAt(0, 0), nodeAt(1, second),
    rule([[wide, 210], [second, 210]], { stroke: colours.communication, line: 6 }),
    text(580, 182, say.network, { size: language === 'ja' ? 20 : 24, weight: 600, fill: colours.communication }),
    rule([[0, 450], [1160, 450]], { stroke: colours.line, line: 2 }),
    text(28, 492, 'size = 4', { anchor: 'start', size: 30, weight: 700, mono: true }),
    text(1132, 492, say.takes, { anchor: 'end', size: 26 }));
}
