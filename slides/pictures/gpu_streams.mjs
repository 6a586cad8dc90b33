// SPDX-License-Identifier: Apache-2.0
// A diagram of four words: a host launches kernels into two streams, with events between them; all-reduces are NCCL's.
import { arrow, box, colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { host: 'host', compute: 'stream 1', exchange: 'stream 2', backward: (n) => `backward ${n}`, reduce: 'all-reduce', update: 'update', time: 'time',
    said: [['kernel launch', 'returns at once; the GPU runs it later'], ['stream', 'a queue: its kernels run in order'],
      ['event', 'a stream waits for a mark in another one'], ['NCCL communicator', 'the ranks of an all-reduce']] },
  ja: { host: 'ホスト', compute: 'ストリーム1', exchange: 'ストリーム2', backward: (n) => `逆伝播 ${n}`, reduce: 'all-reduce', update: '更新', time: '時間',
    said: [['カーネルの起動', 'すぐに戻り、GPU は後で実行'], ['ストリーム', 'キュー：カーネルを順に実行'],
      ['イベント', '別のストリームの印を待つ'], ['NCCL コミュニケータ', 'all-reduce に参加するランク']] },
};

const number = (x, y, n) => `<circle cx="${x}" cy="${y}" r="19" fill="${colours.ink}"/>` + text(x, y, n, { size: 24, weight: 700, fill: '#ffffff' });

export default function draw(language) {
  const say = words[language], lanes = { host: 40, compute: 130, exchange: 240 }, high = 60;
  const kernel = (lane, from, to, label, fill) => box(from, lanes[lane], to - from, high, label, { fill, size: 22, weight: 600 });
  const launches = [200, 242, 284, 326, 368, 410].map((x, i) => box(x, lanes.host + 8, 34, high - 16, '', { fill: [1, 3].includes(i) ? colours.communication : i === 5 ? colours.update : colours.backward, radius: 4 }));
  const event = (from, to) => arrow([from, to], { stroke: colours.ink, line: 4, dash: '9 6' }) + `<circle cx="${from[0]}" cy="${from[1]}" r="8" fill="${colours.ink}"/>`;
  return picture(1160, 540,
    Object.entries(lanes).map(([lane, y]) => text(172, y + high / 2, say[lane], { anchor: 'end', size: 24, weight: 600 }) + rule([[190, y + high + 12], [1150, y + high + 12]], { stroke: colours.line, line: 2 })),
    launches,
    kernel('compute', 240, 400, say.backward(3), colours.backward), kernel('compute', 404, 564, say.backward(2), colours.backward), kernel('compute', 568, 728, say.backward(1), colours.backward),
    kernel('compute', 960, 1110, say.update, colours.update),
    kernel('exchange', 440, 690, say.reduce, colours.communication), kernel('exchange', 768, 920, say.reduce, colours.communication),
    event([400, lanes.compute + high], [440, lanes.exchange]), event([728, lanes.compute + high], [768, lanes.exchange]), event([920, lanes.exchange], [960, lanes.compute + high]),
    number(480, lanes.host + high / 2, 1), number(215, lanes.compute + high / 2 , 2), number(790, lanes.compute + high + 24, 3), number(415, lanes.exchange + high / 2, 4),
    text(1150, lanes.exchange + high + 30, `${say.time} →`, { anchor: 'end', size: 20, fill: colours.soft }),
    say.said.map(([word, meaning], i) => {
      const x = 30 + (i % 2) * 575, y = 390 + Math.floor(i / 2) * 90;
      return number(x + 19, y, i + 1) + text(x + 54, y - 15, word, { anchor: 'start', size: 26, weight: 700 }) + text(x + 54, y + 19, meaning, { anchor: 'start', size: 22 });
    }));
}
