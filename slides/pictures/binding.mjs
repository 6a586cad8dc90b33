// SPDX-License-Identifier: Apache-2.0
// A node of two sockets: ranks bound to the socket that their GPU hangs on, and a rank on the wrong one.
import { arrow, box, colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { socket: (n) => `socket ${n}`, memory: 'memory', rank: (n) => `rank ${n}`, gpu: (n) => `GPU ${n}`, good: 'bound near their GPUs', bad: 'not bound: across the link' },
  ja: { socket: (n) => `ソケット${n}`, memory: 'メモリ', rank: (n) => `ランク${n}`, gpu: (n) => `GPU ${n}`, good: 'GPU の近くに固定', bad: '固定なし：リンクを越える' },
};

export default function draw(language) {
  const say = words[language];
  const node = (x, places, title, good) => {
    const socketX = (n) => x + n * 276, gpuX = (n) => socketX(n >> 1) + 12 + (n & 1) * 118, gpuY = 388;
    const seen = [0, 0];
    return [
      text(x + 262, 24, title, { size: 28, weight: 700, fill: good ? colours.ink : colours.wrong }),
      [0, 1].map((n) => [box(socketX(n), 62, 248, 252, '', { fill: colours.ground, stroke: colours.soft, line: 3, radius: 14 }),
        text(socketX(n) + 124, 90, say.socket(n), { size: 24, weight: 600 }),
        box(socketX(n) + 24, 114, 200, 48, say.memory, { fill: colours.waiting, size: 22 })]),
      rule([[socketX(0) + 248, 138], [socketX(1), 138]], { stroke: colours.soft, line: 8 }),
      [0, 1, 2, 3].map((n) => box(gpuX(n), gpuY, 106, 66, say.gpu(n), { fill: colours.backward, size: 24, weight: 600 })),
      places.map((socket, rank) => {
        const place = seen[socket]++, rx = socketX(socket) + 12 + place * 118, far = socket !== rank >> 1;
        return box(rx, 196, 106, 60, say.rank(rank), { fill: far ? colours.wrong : colours.forward, size: 22, weight: 600 }) +
          arrow([[rx + 53, 260], [gpuX(rank) + 53, gpuY - 4]], { stroke: far ? colours.wrong : colours.forward, line: far ? 5 : 4 });
      }),
    ];
  };
  return picture(1160, 500, node(0, [0, 0, 1, 1], say.good, true), rule([[580, 10], [580, 480]], { stroke: colours.line, line: 2 }),
    node(636, [1, 0, 1, 0], say.bad, false));
}
