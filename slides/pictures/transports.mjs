// SPDX-License-Identifier: Apache-2.0
// Which way NCCL takes between GPUs: within a node and between nodes, from the fastest to the slowest.
import { arrow, box, colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { node: (n) => `node ${n}`, gpu: (n) => `GPU ${n}`, host: 'host memory', card: 'network card', good: 'fast', slow: 'slow',
    ways: [['via P2P/IPC', 'from GPU to GPU: NVLink or PCIe'], ['via SHM', 'through host memory'], ['via NET/IB', 'InfiniBand'], ['via NET/Socket', 'TCP/IP']] },
  ja: { node: (n) => `ノード${n}`, gpu: (n) => `GPU ${n}`, host: 'ホストのメモリ', card: 'ネットワークカード', good: '速い', slow: '遅い',
    ways: [['via P2P/IPC', 'GPU から GPU へ直接：NVLink か PCIe'], ['via SHM', 'ホストのメモリを経由'], ['via NET/IB', 'InfiniBand'], ['via NET/Socket', 'TCP/IP']] },
};
const colour = [colours.forward, colours.load, '#7a5200', colours.communication];

export default function draw(language) {
  const say = words[language], width = 470;
  const node = (n, x) => [box(x, 8, width, 300, '', { fill: colours.ground, stroke: colours.line, radius: 16 }),
    text(x + 24, 38, say.node(n), { anchor: 'start', size: 26, weight: 700 }),
    [0, 1].map((gpu) => box(x + 30 + gpu * 280, 70, 130, 70, say.gpu(2 * n + gpu), { fill: colours.backward, size: 26, weight: 600 })),
    box(x + 130, 182, 210, 50, say.host, { fill: colours.waiting, size: 22 }),
    box(n ? x + 14 : x + width - 206, 250, 192, 46, say.card, { fill: '#ffffff', stroke: colours.soft, size: language === 'ja' ? 20 : 22 }),
    arrow([[x + 164, 92], [x + 306, 92]], { stroke: colour[0], line: 6, head: 'both' }),
    arrow([[x + 110, 144], [x + 110, 206], [x + 126, 206]], { stroke: colour[1], line: 4 }), arrow([[x + 344, 206], [x + 362, 206], [x + 362, 144]], { stroke: colour[1], line: 4 })];
  return picture(1160, 540, node(0, 0), node(1, 690),
    arrow([[468, 262], [698, 262]], { stroke: colour[2], line: 6, head: 'both' }), arrow([[468, 286], [698, 286]], { stroke: colour[3], line: 4, head: 'both' }),
    say.ways.map(([name, meaning], i) => [rule([[0, 352 + i * 46], [54, 352 + i * 46]], { stroke: colour[i], line: i % 2 ? 4 : 6 }),
      text(74, 352 + i * 46, name, { anchor: 'start', size: 24, weight: 600, mono: true }), text(310, 352 + i * 46, meaning, { anchor: 'start', size: 24 })]));
}
