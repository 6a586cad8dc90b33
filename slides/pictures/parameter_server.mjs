// SPDX-License-Identifier: Apache-2.0
// A parameter server: all gradients go through one link.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';

const words = {
  en: { server: 'server', worker: (n) => `worker ${n}`, load: 'n × E bytes in,\nn × E bytes out' },
  ja: { server: 'サーバ', worker: (n) => `ワーカー${n}`, load: '受信 n × E バイト\n送信 n × E バイト' },
};

export default function draw(language) {
  const say = words[language], n = 4;
  const y = (i) => 40 + i * 110;
  return picture(560, 500,
    Array.from({ length: n }, (_, i) => box(0, y(i), 160, 66, say.worker(i), { fill: colours.forward, size: 24, weight: 600 }) +
      arrow([[166, y(i) + 33], [352, 238 + (i - 1.5) * 14]], { stroke: colours.communication, line: 5, head: 'both' })),
    box(360, 176, 200, 124, say.server, { fill: colours.update, size: 30, weight: 700, radius: 12 }),
    text(460, 372, say.load, { size: 24, weight: 700, fill: colours.communication }));
}
