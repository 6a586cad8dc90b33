// SPDX-License-Identifier: Apache-2.0
// Loading between the iterations, against loading ahead while the device computes.
import { colours, legend, picture, text } from './parts/svg.mjs';
import { lanes, measure, timeAxis } from './parts/lanes.mjs';

const words = {
  en: { between: 'Load, then compute', ahead: 'Load ahead', loader: 'CPU', device: 'GPU', load: 'load a batch', compute: 'compute', idle: 'idle', time: 'time', saved: 'saved' },
  ja: { between: '読み込んでから計算', ahead: '先に読み込んでおく', loader: 'CPU', device: 'GPU', load: 'バッチの読み込み', compute: '計算', idle: '空き', time: '時間', saved: '短縮' },
};

export default function draw(language) {
  const say = words[language], labels = 90, load = 2, compute = 3.2, n = 3, end = n * (load + compute), unit = 1000 / end;
  const step = load + compute, batch = (k) => String(k + 1), counts = Array.from({ length: n }, (_, k) => k);
  const loads = (begin) => ({ label: say.loader, spans: counts.map((k) => ({ kind: 'load', begin: begin(k), end: begin(k) + load, label: batch(k) })) });
  const computes = (begin) => ({ label: say.device, spans: counts.map((k) => ({ kind: 'compute', begin: begin(k), end: begin(k) + compute, label: batch(k) })) });
  const group = (y, title, rows) => [text(0, y, title, { anchor: 'start', size: 26, weight: 700 }),
    lanes(rows, { y: y + 26, labels, unit, height: 62, gap: 8, size: 26, until: end, ground: colours.waiting })];
  return picture(1160, 540,
    group(18, say.between, [loads((k) => k * step), computes((k) => k * step + load)]),
    group(222, say.ahead, [loads((k) => (k ? load + (k - 1) * compute : 0)), computes((k) => load + k * compute)]),
    measure(labels + (load + n * compute) * unit, labels + end * unit, 344, say.saved, { size: 26 }),
    timeAxis(labels, 410, end * unit - 50, say.time),
    legend(labels, 478, [[colours.load, say.load], [colours.compute, say.compute], [colours.waiting, say.idle]], { size: 24 }));
}
