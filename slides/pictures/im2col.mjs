// SPDX-License-Identifier: Apache-2.0
// Convolution as a matrix product: each patch of the picture becomes a column. The numbers are computed.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';

const words = {
  en: { picture: 'image', filter: 'filter', matrix: 'a column a patch', result: 'result' },
  ja: { picture: '画像', filter: 'フィルタ', matrix: 'パッチごとに1列', result: '結果' },
};
const image = [[1, 2, 0, 1], [0, 1, 3, 1], [2, 1, 0, 2], [1, 0, 1, 1]], filter = [[1, 0], [2, 1]], size = 3;
const tints = ['#bcd9f0', '#f3d58d', '#f0b9c8', '#d8cdee', '#c9e4cf', '#f7cfae', '#cfd6e1', '#b9e0e6', '#e3e0a5'];

export default function draw(language) {
  const say = words[language], cell = 41;
  const grid = (x, y, rows, fill) => rows.map((row, i) => row.map((value, j) => box(x + j * cell, y + i * cell, cell - 2, cell - 2, String(value), { fill: fill(i, j), radius: 4, size: 22 })));
  const places = Array.from({ length: size * size }, (_, k) => [Math.floor(k / size), k % size]);
  const columns = [0, 1, 2, 3].map((e) => places.map(([i, j]) => image[i + (e >> 1)][j + (e & 1)]));
  const weights = filter.flat();
  const result = places.map((_, k) => weights.reduce((sum, weight, e) => sum + weight * columns[e][k], 0));
  return picture(560, 500,
    text(84, 18, say.picture, { size: 24, weight: 600 }), grid(0, 40, image, (i, j) => (i < 2 && j < 2 ? tints[0] : i >= 2 && j >= 2 ? tints[8] : '#eef1f5')),
    text(268, 18, say.filter, { size: 24, weight: 600 }), grid(228, 40, filter, () => colours.update),
    arrow([[130, 212], [130, 250], [270, 250], [270, 274]], { line: 3 }), arrow([[248, 126], [248, 226], [34, 226], [34, 336]], { stroke: colours.update, line: 3 }),
    text(400, 252, say.matrix, { size: 24, weight: 600 }),
    grid(192, 280, columns, (_, k) => tints[k]),
    grid(0, 280 + 1.5 * cell, [weights], () => colours.update),
    text(178, 280 + 2 * cell, '×', { size: 26 }),
    text(64, 476, say.result, { size: 24, weight: 600 }), grid(192, 456, [result], (_, k) => tints[k]),
    text(176, 476, '=', { size: 26 }));
}
