// SPDX-License-Identifier: Apache-2.0
// Devices as rows on a time axis, as the timeline page shows them: the same colours for the same work.
import { arrow, box, colours, rule, text, widthOf } from './svg.mjs';

const colourOf = (kind) => colours[kind] ?? colours.waiting;

/**
 * `rows` are { label, spans: [{ kind, begin, end, label }] }: kind is a name of the palette (forward, backward, communication,
 * update, waiting, ...), times are in any unit, `unit` pixels each. A label is left out where it doesn't fit;
 * `ground` shows where nothing is done. Returns SVG.
 */
export function lanes(rows, { x = 0, y = 0, labels = 150, unit, height = 54, gap = 18, size = 20, until, ground = colours.ground } = {}) {
  const end = until ?? Math.max(...rows.flatMap((row) => row.spans.map((span) => span.end)));
  return rows.map((row, i) => {
    const top = y + i * (height + gap);
    return text(x, top + height / 2, row.label, { anchor: 'start', size: row.size ?? 22, weight: 600 }) +
      box(x + labels, top, end * unit, height, '', { fill: ground, radius: 4 }) +
      row.spans.map((span) => spanOf(span, { x: x + labels, top, unit, height, size })).join('');
  }).join('');
}

function spanOf({ kind, begin, end, label = '', fill = colourOf(kind) }, { x, top, unit, height, size }) {
  const width = (end - begin) * unit - 2, fits = widthOf(label.split('\n')[0], size) < width;
  return box(x + begin * unit + 1, top, width, height, fits ? label : '', { fill, radius: 4, size, weight: 500 });
}

/** Spans one after the other from `begin` on: [[kind, length, label], ...]; a null kind leaves a gap. */
export function chain(begin, parts) {
  let at = begin;
  return parts.map(([kind, length, label]) => ({ kind, begin: at, end: (at += length), label })).filter((span) => span.kind);
}

/** The axis below: an arrow with a word at its end. */
export const timeAxis = (x, y, length, word) =>
  arrow([[x, y], [x + length, y]], { stroke: colours.soft, line: 2 }) + text(x + length + 10, y, word, { anchor: 'start', size: 20, fill: colours.soft });

/** A measure from one time to another: |<-- words -->|. */
export const measure = (fromX, toX, y, words, { stroke = colours.ink, size = 22, below } = {}) =>
  rule([[fromX, y - 12], [fromX, y + 12]], { stroke, line: 2 }) + rule([[toX, y - 12], [toX, y + 12]], { stroke, line: 2 }) +
  arrow([[fromX + 2, y], [toX - 2, y]], { stroke, line: 2, head: 'both' }) +
  text((fromX + toX) / 2, y + (below ? 24 : -22), words, { size, fill: stroke, weight: 600 });

