// SPDX-License-Identifier: Apache-2.0
// What diagrams are made of: text, boxes, arrows. All sizes are in the slide's pixels.
import { colours } from '../../theme/palette.mjs';

export { colours };

/** A whole picture of this size. */
export const picture = (width, height, ...parts) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" fill="${colours.ink}" ` +
  `font-family="'Noto Sans CJK JP','Noto Sans JP','Hiragino Sans','Yu Gothic',Meiryo,'Noto Sans',sans-serif" ` +
  `stroke-linejoin="round" font-size="22">${parts.flat(Infinity).join('\n')}</svg>`;

const escape = (words) => String(words).replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);
const attributes = (values) => Object.entries(values).filter(([, value]) => value !== undefined && value !== false)
  .map(([name, value]) => ` ${name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}="${value}"`).join('');

/** How wide a line of text comes out, near enough to tell whether it fits: a CJK sign is as wide as high. */
export const widthOf = (words, size = 22) =>
  [...String(words)].reduce((sum, sign) => sum + (sign.codePointAt(0) > 0x2e7f ? 1 : sign === ' ' ? 0.25 : /[A-Z0-9W%=]/.test(sign) ? 0.62 : 0.55), 0) * size;

/** Black or white, whichever is easier to read on this colour. */
export function inkOn(colour) {
  const part = (at) => (parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2;
  const light = 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
  return 1.05 / (light + 0.05) > 4.5 ? '#ffffff' : colours.ink;
}

/** One or more lines (parted by \n) round the middle `y`; `anchor` is start, middle or end. */
export function text(x, y, words, { size = 22, anchor = 'middle', weight, fill, leading = 1.3, mono, ...more } = {}) {
  const lines = String(words).split('\n');
  return lines.map((line, i) =>
    `<text x="${x}" y="${(y + (i - (lines.length - 1) / 2) * size * leading + size * 0.36).toFixed(1)}"` + attributes({
      fontSize: size === 22 ? undefined : size, textAnchor: anchor === 'start' ? undefined : anchor, fontWeight: weight, fill,
      fontFamily: mono && "'Noto Sans Mono CJK JP','DejaVu Sans Mono',Menlo,Consolas,monospace", ...more }) + `>${escape(line)}</text>`).join('');
}

/** A rectangle, with a label in its middle. */
export function box(x, y, width, height, label = '', { fill = colours.ground, stroke = 'none', line = 2, radius = 8, dash, opacity, ...style } = {}) {
  const shape = `<rect` + attributes({ x, y, width, height, rx: radius, fill, stroke, strokeWidth: stroke === 'none' ? undefined : line, strokeDasharray: dash, opacity }) + '/>';
  return label === '' ? shape : shape + text(x + width / 2, y + height / 2, label, { fill: fill.startsWith('#') ? inkOn(fill) : undefined, ...style });
}

/** A line through these points, [[x, y], ...], with an arrow's head at its end, or at both. */
export function arrow(points, { stroke = colours.soft, line = 3, dash, head = 'end' } = {}) {
  const size = 5 + 3 * line;
  const tip = ([x, y], [fromX, fromY]) => {
    const angle = Math.atan2(y - fromY, x - fromX), at = (turn) => `${(x - size * Math.cos(angle + turn)).toFixed(1)},${(y - size * Math.sin(angle + turn)).toFixed(1)}`;
    return `<polygon points="${x},${y} ${at(0.42)} ${at(-0.42)}" fill="${stroke}"/>`;
  };
  const short = ([x, y], [fromX, fromY]) => {
    const length = Math.hypot(x - fromX, y - fromY) || 1, by = Math.min(size * 0.7, length);
    return [x - (x - fromX) / length * by, y - (y - fromY) / length * by];
  };
  const drawn = points.map((point) => [...point]);
  if (head === 'end' || head === 'both') drawn[drawn.length - 1] = short(points.at(-1), points.at(-2));
  if (head === 'both') drawn[0] = short(points[0], points[1]);
  return `<polyline` + attributes({ points: drawn.map((p) => p.map((n) => +n.toFixed(1)).join(',')).join(' '), fill: 'none', stroke, strokeWidth: line, strokeDasharray: dash }) + '/>' +
    (head === 'none' ? '' : tip(points.at(-1), points.at(-2))) + (head === 'both' ? tip(points[0], points[1]) : '');
}

/** A line without a head. */
export const rule = (points, style = {}) => arrow(points, { ...style, head: 'none' });

/** Coloured squares with words, in a row from x on; [[colour, words], ...]. */
export function legend(x, y, entries, { size = 20, gap = 34 } = {}) {
  let at = x;
  return entries.map(([colour, words]) => {
    const here = at;
    at += 28 + widthOf(words, size) + gap;
    return box(here, y - 10, 20, 20, '', { fill: colour, radius: 4 }) + text(here + 28, y, words, { size, anchor: 'start' });
  }).join('');
}
