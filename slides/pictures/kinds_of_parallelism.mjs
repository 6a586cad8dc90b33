// SPDX-License-Identifier: Apache-2.0
// The same small network on two devices, in three ways: by data, within layers, by layers.
import { arrow, box, colours, picture, rule, text } from './parts/svg.mjs';
import { layers, pictures } from './parts/network.mjs';

const words = {
  en: { device: (n) => `device ${n}`, titles: ['Data', 'Model: within layers', 'Model: by layers'],
    notes: ['whole network on each,\nits own images', 'tensor: each layer cut,\nthe same images', 'pipeline: layers dealt out,\nbatches cut up'],
    what: ['gradients\nonce an iteration', 'activations\neach layer', 'activations\nat the seam'] },
  ja: { device: (n) => `デバイス${n}`, titles: ['データ並列', 'モデル並列：層の中', 'モデル並列：層ごと'],
    notes: ['全体をそれぞれが持ち\nデータは別々', 'テンソル並列：各層を分割し\nデータは同じ', 'パイプライン並列：層を分担し\nバッチを小分け'],
    what: ['反復ごとに\n勾配', '層ごとに\n中間出力', '境目で\n中間出力'] },
};
const first = colours.forward, second = colours.backward;

export default function draw(language) {
  const say = words[language], width = 360, wide = { width: 40, gap: 24 };
  const frame = (x, y, n) => box(x, y, width, 128, '', { fill: colours.ground, stroke: n ? second : first, line: 3, radius: 12 }) +
    text(x + width / 2, y + (n ? 150 : -20), say.device(n), { size: 22, weight: 600, fill: n ? '#2a6f9f' : first });
  const exchange = (x, y) => arrow([[x, y], [x, y + 66]], { stroke: colours.communication, line: 5, head: 'both' });
  const column = (k) => {
    const x = k * 400, a = 104, b = 304, net = x + 104;
    const inner = [
      () => [pictures(x + 20, a + 34, 3), pictures(x + 20, b + 34, 3, { fill: colours.soft }), layers(net, a + 14, 4, { ...wide, height: 100, fill: () => first }),
        layers(net, b + 14, 4, { ...wide, height: 100, fill: () => second }), exchange(x + 220, 235)],
      () => [pictures(x + 20, a + 34, 3), pictures(x + 20, b + 34, 3), layers(net, a + 60, 4, { ...wide, height: 60, fill: () => first }),
        layers(net, b + 8, 4, { ...wide, height: 60, fill: () => second }), [0, 1, 2, 3].map((i) => exchange(net + 20 + i * 64, 235))],
      () => [pictures(x + 20, a + 34, 3), layers(net, a + 14, 4, { ...wide, height: 100, upTo: 2, fill: () => first }),
        layers(net, b + 14, 4, { ...wide, height: 100, from: 2, fill: () => second }),
        arrow([[net + 84, a + 118], [net + 84, 268], [net + 148, 268], [net + 148, b + 12]], { stroke: colours.communication, line: 5, head: 'both' })],
    ][k]();
    return [text(x + width / 2, 22, say.titles[k], { size: 28, weight: 700 }), frame(x, a, 0), frame(x, b, 1), inner,
      text(x + width / 2, 508, say.notes[k], { size: 22 }),
      text(x + (k === 1 ? 0 : k === 0 ? 196 : 176), 268, k === 1 ? '' : say.what[k], { anchor: 'end', size: 20, weight: 600, fill: colours.communication })];
  };
  return picture(1160, 540, [0, 1, 2].map(column), text(512, 268, say.what[1], { anchor: 'end', size: 20, weight: 600, fill: colours.communication }),
    [380, 780].map((x) => rule([[x, 10], [x, 530]], { stroke: colours.line, line: 2 })));
}
