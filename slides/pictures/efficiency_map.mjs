// SPDX-License-Identifier: Apache-2.0
// What pays: how much is computed for each byte that is exchanged, against how fast bytes travel. Lines of equal efficiency, computed.
import { readQuoted } from '../build/results.mjs';
import { ring } from '../build/ring.mjs';
import { vgg } from '../build/vgg.mjs';
import { axes, curve, dot } from './parts/plot.mjs';
import { colours, picture, text } from './parts/svg.mjs';

const words = {
  en: { link: 'bandwidth between devices', work: 'FLOP computed for each byte exchanged', at: (e) => `${e} %`, vgg: (size, batch) => `VGG ${size} × ${size}, batch ${batch}`, pays: 'it pays', not: 'the network is waited for',
    formula: (t, n) => `computed: compute / (compute + exchange); ${t} TFLOP/s a device, n = ${n}, no overlap` },
  ja: { link: 'デバイス間の帯域幅', work: '通信1バイトあたりの演算量（FLOP）', at: (e) => `${e} %`, vgg: (size, batch) => `VGG ${size} × ${size}、バッチ ${batch}`, pays: '効果が出る', not: '通信待ちが主',
    formula: (t, n) => `計算値：計算 / (計算 + 通信)、1台 ${t} TFLOP/s、n = ${n}、オーバーラップなし` },
};
const n = 4;

export default function draw(language) {
  const say = words[language], { images_per_second: rate } = readQuoted().reedbush, speed = rate * 3 * vgg(256).flop;
  const { svg, at } = axes(150, 50, 930, 350, { from: 1, to: 1000, log: true, ticks: [1, 10, 100, 1000].map((g) => [g, `${g.toLocaleString('en-US')} Gbit/s`]), title: say.link },
    { from: 1e2, to: 1e6, log: true, ticks: [[1e2, '100'], [1e3, '1,000'], [1e4, '10,000'], [1e5, '100,000']], title: say.work });
  const needed = (efficiency, gbit) => efficiency / (1 - efficiency) * ring(n).share * speed / (gbit * 1.25e8);
  const lines = [[0.5, colours.wrong], [0.8, colours.soft], [0.95, colours.ink]];
  const places = [[32, 32], [32, 512], [256, 32]].map(([size, batch]) => ({ size, batch, work: batch * 3 * vgg(size).flop / vgg(size).bytes }));
  return picture(1160, 500, svg,
    lines.map(([efficiency, stroke]) => curve(at, (gbit) => needed(efficiency, gbit), [Math.max(1, needed(efficiency, 1) / 1e6), Math.min(1000, needed(efficiency, 1) / 1e2)], { log: true, stroke, line: 5 }) +
      text(at(24, 1)[0], at(1, needed(efficiency, 24))[1] - 22, say.at(100 * efficiency), { anchor: 'start', size: 24, weight: 700, fill: stroke === colours.update ? '#7a5200' : stroke })),
    places.map(({ size, batch, work }) => dot(at(10, work), colours.ink) + text(at(10, work)[0] - 16, at(10, work)[1] + (size > 32 ? -16 : 16), say.vgg(size, batch), { anchor: 'end', size: 22, weight: 600, stroke: '#ffffff', strokeWidth: 7, paintOrder: 'stroke' })),
    text(1070, 84, say.pays, { anchor: 'end', size: 28, weight: 700, fill: colours.ink }), text(170, 372, say.not, { anchor: 'start', size: 28, weight: 700, fill: colours.wrong }),
    text(0, 484, say.formula((speed / 1e12).toFixed(1), n), { anchor: 'start', size: 22, fill: colours.soft }));
}
