// SPDX-License-Identifier: Apache-2.0
// Horizontal bars of medians, with their spread and their figure: a chart of a few runs.
import { colours } from './svg.mjs';
import { chart } from './chart.mjs';

/**
 * `rows` are { label, value: { median, min, max }, words, colour }; `title` says what is measured, with its unit. A figure that
 * would lie on the line of `ideal` stands beyond it.
 */
export function bars(rows, { title, result, language, height = 540, ideal }) {
  const most = Math.max(ideal ?? 0, ...rows.map(({ value }) => value.max));
  const values = rows.map(({ label, value, words, colour }) => ({ label, words, colour, ...value, wordsAt: ideal && value.max > 0.8 * ideal ? most : value.max }));
  const y = { field: 'label', type: 'nominal', sort: null, title: null, scale: { paddingInner: 0.32 }, axis: { labelFontSize: 24, domain: false, ticks: false, labelPadding: 16 } };
  const x = { type: 'quantitative', scale: { domain: [0, most * 1.12], nice: false }, axis: { title, tickCount: 5, titleAnchor: 'start' } };
  return chart({ data: { values }, encoding: { y }, layer: [
    ...(ideal ? [{ data: { values: [{ ideal }] }, mark: { type: 'rule', strokeWidth: 3, strokeDash: [8, 6], color: colours.soft }, encoding: { x: { field: 'ideal', ...x }, y: null } }] : []),
    { mark: 'bar', encoding: { x: { field: 'median', ...x }, color: { field: 'colour', type: 'nominal', scale: null } } },
    { mark: { type: 'rule', strokeWidth: 3, color: colours.ink }, encoding: { x: { field: 'min', ...x }, x2: { field: 'max' } } },
    { mark: { type: 'text', align: 'left', dx: 14, fontSize: 26, fontWeight: 700 }, encoding: { x: { field: 'wordsAt', ...x }, text: { field: 'words' } } },
  ] }, result, language, { height });
}

/** What a run of speedup.json is called. */
export const nameOf = (run, language) =>
  `${language === 'ja' ? run.name_ja : run.name}${run.communicator ? (language === 'ja' ? `、${run.communicator}` : `, ${run.communicator}`) : ''}`;
