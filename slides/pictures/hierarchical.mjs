// SPDX-License-Identifier: Apache-2.0
// Hierarchical all-reduce: within the nodes, between them, within them again.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';

const words = {
  en: { node: (n) => `node ${n}`, steps: ['1. add within the node', '2. all-reduce between nodes', '3. pass on within the node'], fast: 'fast links: NVLink, PCIe', slow: 'slow link: network', rank: (n) => `rank ${n}` },
  ja: { node: (n) => `ノード${n}`, steps: ['1. ノード内で加算', '2. ノード間で all-reduce', '3. ノード内に配布'], fast: '速い経路：NVLink、PCIe', slow: '遅い経路：ネットワーク', rank: (n) => `ランク${n}` },
};

export default function draw(language) {
  const say = words[language], width = 360, column = 400;
  const rank = (x, y, n, active) => box(x, y, 108, 62, say.rank(n), { fill: active ? colours.forward : colours.backward, size: 22, weight: 600 });
  const step = (k) => {
    const x = k * column, at = (node) => 84 + node * 212, left = x + 26, right = x + width - 134;
    return [
      text(x + width / 2, 24, say.steps[k], { size: 25, weight: 700 }),
      [0, 1].map((node) => [box(x, at(node), width, 160, '', { fill: colours.ground, stroke: colours.line, radius: 14 }),
        text(x + width - 22, at(node) + 26, say.node(node), { anchor: 'end', size: 22, weight: 600, fill: colours.soft }),
        rank(left, at(node) + 66, node * 2, true), rank(right, at(node) + 66, node * 2 + 1, k === 2)]),
      k === 1 ? arrow([[left + 54, at(0) + 132], [left + 54, at(1) + 62]], { stroke: colours.communication, line: 7, head: 'both' })
        : [0, 1].map((node) => arrow(k ? [[left + 112, at(node) + 97], [right - 4, at(node) + 97]] : [[right - 4, at(node) + 97], [left + 112, at(node) + 97]], { stroke: k ? colours.send : colours.communication, line: 5 })),
      text(x + width / 2, 498, k === 1 ? say.slow : say.fast, { size: 24, weight: 600, fill: k === 1 ? colours.communication : colours.soft }),
    ];
  };
  return picture(1160, 540, [0, 1, 2].map(step));
}
