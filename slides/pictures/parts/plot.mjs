// SPDX-License-Identifier: Apache-2.0
// Curves on axes, for pictures that compute what they draw.
import { colours, rule, text } from './svg.mjs';

/**
 * Axes at (x, y) of this size, for `xs` and `ys`: { from, to, log, ticks: [[value, words], ...], title }. Gives the drawn `svg`
 * and at(x, y), the point of two values.
 */
export function axes(x, y, width, height, xs, ys, { size = 22 } = {}) {
  const part = ({ from, to, log }, value) => (log ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from));
  const at = (a, b) => [x + part(xs, a) * width, y + height - part(ys, b) * height];
  const svg = [
    ys.ticks.map(([value, words]) => rule([[x, at(xs.from, value)[1]], [x + width, at(xs.from, value)[1]]], { stroke: '#e3e7ee', line: 2 }) +
      text(x - 12, at(xs.from, value)[1], words, { anchor: 'end', size })),
    xs.ticks.map(([value, words]) => rule([[at(value, ys.from)[0], y + height], [at(value, ys.from)[0], y + height + 8]], { stroke: colours.soft, line: 2 }) +
      text(at(value, ys.from)[0], y + height + 26, words, { size })),
    rule([[x, y + height], [x + width, y + height]], { stroke: colours.soft, line: 2 }),
    text(x - 60, y - 28, ys.title, { anchor: 'start', size: size + 1, weight: 600 }), text(x + width, y + height + 60, xs.title, { anchor: 'end', size: size + 1, weight: 600 }),
  ].flat().join('');
  return { svg, at };
}

/** The line y = f(x) over these axes, from one x to another. */
export function curve(at, f, [from, to], { log, ...style } = {}) {
  const values = Array.from({ length: 61 }, (_, i) => (log ? from * (to / from) ** (i / 60) : from + (to - from) * (i / 60)));
  return rule(values.map((value) => at(value, f(value))), { line: 4, ...style });
}

export const dot = ([x, y], fill, radius = 9) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${radius}" fill="${fill}"/>`;

/** From the least to the most that was measured, through a point. */
export const whisker = (at, x, { min, max }, stroke) => rule([at(x, min), at(x, max)], { stroke, line: 4 });
