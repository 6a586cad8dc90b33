// SPDX-License-Identifier: Apache-2.0
// The colours of slides and pictures, those of the timeline page: compute, communication and waiting look alike everywhere.
import { readFileSync } from 'node:fs';

export const colours = JSON.parse(readFileSync(new URL('palette.json', import.meta.url)));

/** The colours as CSS variables, for the theme. */
export const asCss = () =>
  `:root { ${Object.entries(colours).map(([name, colour]) => `--${name}: ${colour};`).join(' ')} }\n`;
