// SPDX-License-Identifier: Apache-2.0
// Winograd's minimal filtering F(2x2, 3x3): sixteen products instead of thirty-six for four outputs.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';

const words = {
  en: { tile: '4 × 4 inputs', filter: '3 × 3 filter', out: '2 × 2 outputs', direct: 'direct: 4 × 9 = 36 products', winograd: 'Winograd: 4 × 4 = 16 products', add: 'transform:\nadditions', back: 'transform\nback' },
  ja: { tile: '4 × 4 の入力', filter: '3 × 3 のフィルタ', out: '2 × 2 の出力', direct: '直接法：4 × 9 = 36 回の積', winograd: 'Winograd：4 × 4 = 16 回の積', add: '変換\n（加減算）', back: '逆変換' },
};

export default function draw(language) {
  const say = words[language], cell = 36;
  const grid = (x, y, n, fill) => Array.from({ length: n * n }, (_, k) => box(x + (k % n) * cell, y + Math.floor(k / n) * cell, cell - 3, cell - 3, '', { fill, radius: 4 }));
  return picture(560, 500,
    text(0, 18, say.tile, { size: 22, weight: 600, anchor: 'start' }), grid(0, 40, 4, colours.backward),
    text(0, 236, say.filter, { size: 22, weight: 600, anchor: 'start' }), grid(18, 258, 3, colours.update),
    arrow([[150, 112], [224, 160]]), arrow([[132, 310], [224, 240]]), text(214, 96, say.add, { size: 20, fill: colours.soft }),
    grid(234, 128, 4, colours.forward), text(305, 295, '16 ×', { size: 26, weight: 700, fill: colours.forward }),
    arrow([[384, 200], [480, 200]]), text(434, 150, say.back, { size: 20, fill: colours.soft }),
    grid(488, 164, 2, colours.forward), text(560, 268, say.out, { size: 22, weight: 600, anchor: 'end' }),
    text(280, 424, say.direct, { size: 26, fill: colours.soft }), text(280, 470, say.winograd, { size: 28, weight: 700, fill: colours.forward }));
}
