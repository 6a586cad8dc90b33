// SPDX-License-Identifier: Apache-2.0
// Asynchronous training with a parameter server: each worker sends when it is ready and fetches what is newest.
import { arrow, colours, picture, text } from './parts/svg.mjs';
import { lanes, timeAxis } from './parts/lanes.mjs';

const words = {
  en: { server: 'parameter\nserver', worker: (n) => `worker ${n}`, time: 'time', gradients: 'gradients', parameters: 'parameters', on: (n) => `on W${n}` },
  ja: { server: 'パラメータ\nサーバ', worker: (n) => `ワーカー${n}`, time: '時間', gradients: '勾配', parameters: 'パラメータ', on: (n) => `W${n}で計算` },
};
const seconds = [[3.2, 3.4, 3.1, 3.3], [4.4, 4.2, 4.3], [5.6, 5.5]];  // of each worker
const shift = 0.35;  // a message's way

export default function draw(language) {
  const say = words[language], labels = 150, unit = 70, top = 10, height = 70, gap = 52, end = 14.2;
  const sends = seconds.flatMap((row, worker) => {
    let at = 0.5;
    return row.map((length) => ({ worker, begin: at, end: (at += length), next: (at += 2 * shift) }));
  }).sort((a, b) => a.end - b.end);
  let version = 0;
  const begins = seconds.map(() => 0);  // the version that each worker computes on
  for (const send of sends) {
    send.on = begins[send.worker];
    send.version = ++version;
    begins[send.worker] = version;
  }
  const x = (time) => labels + time * unit, y = (row) => top + row * (height + gap);
  const shown = sends.filter((send) => send.next < end);
  const server = [{ kind: 'update', begin: 0, end: shown[0].end + shift, label: 'W0' },
    ...shown.map((send, i) => ({ kind: 'update', begin: send.end + shift, end: Math.min(end, (shown[i + 1]?.end ?? end) + shift), label: `W${send.version}` }))];
  const rows = [{ label: say.server, spans: server.map((span) => ({ ...span, fill: '#f6dfa9' })) },
    ...seconds.map((_, worker) => ({ label: say.worker(worker), spans: sends.filter((send) => send.worker === worker && send.begin < end)
      .map((send) => ({ kind: 'compute', begin: send.begin, end: Math.min(send.end, end) })) }))];
  return picture(1160, 540,
    lanes(rows, { y: top, labels, unit, height, gap, size: 24, until: end }),
    shown.map((send) => arrow([[x(send.end), y(send.worker + 1)], [x(send.end + shift), y(0) + height]], { stroke: colours.communication }) +
      arrow([[x(send.end + shift), y(0) + height], [x(send.next), y(send.worker + 1)]], { stroke: colours.send, dash: '7 5' })),
    shown.map((send) => text((x(send.begin) + x(send.end)) / 2, y(send.worker + 1) + height / 2, say.on(send.on),
      { size: 24, weight: 600, fill: '#ffffff', stroke: colours.compute, strokeWidth: 9, paintOrder: 'stroke' })),
    timeAxis(labels, y(3) + height + 26, end * unit - 50, say.time),
    arrow([[150, 520], [200, 520]], { stroke: colours.communication }), text(212, 520, say.gradients, { anchor: 'start', size: 24 }),
    arrow([[400, 520], [450, 520]], { stroke: colours.send, dash: '7 5' }), text(462, 520, say.parameters, { anchor: 'start', size: 24 }));
}
