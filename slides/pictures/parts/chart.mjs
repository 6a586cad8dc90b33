// SPDX-License-Identifier: Apache-2.0
// Charts, drawn by Vega-Lite, in the slides' type and colours, with machine and date in the corner.
import * as vega from 'vega';
import { compile } from 'vega-lite';
import { colours, legend, picture, text, widthOf } from './svg.mjs';
import { sourceOf } from './source.mjs';

// Vega estimates widths without a canvas; ours knows Japanese.
vega.textMetrics.width = (item, words) => widthOf(words ?? item.text, item.fontSize ?? 22);

const axis = { labelFontSize: 22, titleFontSize: 24, titleFontWeight: 600, labelColor: colours.ink, titleColor: colours.ink, gridColor: '#e3e7ee', domainColor: colours.soft,
  tickColor: colours.soft, labelPadding: 8, titlePadding: 14, labelLimit: 0, titleLimit: 0 };
const config = {
  font: 'Noto Sans CJK JP', background: null, view: { stroke: null }, axis, axisY: { domain: false, ticks: false, titleAngle: 0, titleAlign: 'left', titleAnchor: 'end', titleX: 0, titleY: -18 },
  legend: { disable: true },
  text: { fontSize: 22, fill: colours.ink }, bar: { cornerRadiusEnd: 4 }, line: { strokeWidth: 4 }, point: { size: 160, filled: true, opacity: 1 },
};

/**
 * The picture of a Vega-Lite `spec` (its data inline) of this size, from a result file. `kinds`, [[words, colour], ...], are
 * the legend above it; the last 30 pixels are the source's.
 */
export async function chart(spec, result, language, { width = 1160, height = 540, kinds = [] } = {}) {
  const above = kinds.length ? 48 : 0;
  const size = spec.facet ? {} : { width, height: height - 30 - above, autosize: { type: 'fit', contains: 'padding' } };  // facets give their own
  const full = { ...spec, ...size, padding: { left: 4, top: spec.facet ? 4 : 40, right: 12, bottom: 4 }, config };
  const view = new vega.View(vega.parse(compile(full).spec), { renderer: 'none' });
  const drawn = await view.toSVG();
  view.finalize();
  return picture(width, height, legend(4, 20, kinds.map(([said, colour]) => [colour, said]), { size: 24 }), drawn.replace(/<svg /, `<svg x="0" y="${above}" `).replaceAll('sans-serif', "'Noto Sans CJK JP',sans-serif"),
    text(width - 4, height - 12, sourceOf(result, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}

/** A scale that gives each kind its colour: [[words, colour], ...]. */
export const colourScale = (kinds) => ({ domain: kinds.map(([words]) => words), range: kinds.map(([, colour]) => colour) });
