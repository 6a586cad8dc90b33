// SPDX-License-Identifier: Apache-2.0
// Code as large as it can be: short lines for the back row, long ones as far as a slide is wide.

/** Pixels of a slide: what a line of code may be wide, and code with its frame and the text beside it high. */
const height = 540;
const frame = 44;
const lineHeight = 1.42;
const characterWidth = 0.5; // of the font's size, in Noto Sans Mono CJK; a CJK character is twice as wide
const textLine = 66;

/**
 * The font's size in pixels for the code blocks (texts) of a slide of these classes, beside `nTextLines` lines of other text below
 * the heading. What doesn't fit at the smallest size overflows, and the check says so.
 */
export function codeSize(blocks, classes, nTextLines) {
  if (/split|wide/.test(classes)) return 24;
  const lines = blocks.flatMap((text) => text.split('\n'));
  const columns = Math.max(...lines.map(columnsOf));
  const forCode = height - textLine * nTextLines - (frame + 18) * blocks.length;
  const fitting = Math.min(widthOn(classes) / columns / characterWidth, forCode / lines.length / lineHeight);
  return Math.max(smallestOn(classes), Math.min(30, Math.floor(fitting)));
}

/** How many columns of code of this size, or at its smallest, a slide of these classes is wide. */
export const columnsOn = (classes, size = smallestOn(classes)) => Math.floor((/split|wide/.test(classes) ? 0 : widthOn(classes)) / size / characterWidth) || Infinity;

/** Code in pixels where a slide has room: its lines are broken for it. */
export const roomySize = 24;

const smallestOn = (classes) => (classes.includes('dense') ? 21 : 22);
const widthOn = (classes) => (classes.includes('code') ? 1192 : 1160) - 50;

/** The columns that a line takes: a CJK sign is two. */
export const columnsOf = (line) => [...line].reduce((sum, character) => sum + (character.codePointAt(0) > 0x2e7f ? 2 : 1), 0);
