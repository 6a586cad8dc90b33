// SPDX-License-Identifier: Apache-2.0
// A small network, drawn as layers of boxes, and images that go in.
import { arrow, box, colours } from './svg.mjs';

/** `n` layers side by side from (x, y) on, joined by arrows; `fill(i)` colours layer i. Returns SVG. */
export function layers(x, y, n, { width = 44, height = 150, gap = 30, fill = () => colours.forward, upTo = n, from = 0, label = () => '' } = {}) {
  return Array.from({ length: n }, (_, i) => i).filter((i) => i >= from && i < upTo).map((i) => {
    const left = x + i * (width + gap);
    return box(left, y, width, height, label(i), { fill: fill(i), size: 20, radius: 6 }) +
      (i + 1 < upTo ? arrow([[left + width + 3, y + height / 2], [left + width + gap - 3, y + height / 2]], { line: 2 }) : '');
  }).join('');
}

/** A stack of `n` small pictures. */
export const pictures = (x, y, n, { size = 34, fill = colours.load } = {}) =>
  Array.from({ length: n }, (_, i) => box(x + i * 9, y + i * 9, size, size, '', { fill, stroke: '#ffffff', radius: 4 })).join('');
