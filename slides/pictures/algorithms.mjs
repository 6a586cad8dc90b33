// SPDX-License-Identifier: Apache-2.0
// Direct and Winograd convolution, layer by layer and pass by pass.
import { chart, colourScale } from './parts/chart.mjs';
import { readResult } from '../build/results.mjs';
import { colours } from './parts/svg.mjs';

const words = {
  en: { direct: 'direct', winograd: 'Winograd', passes: { forward: 'forward', 'backward weights': 'weight gradients', 'backward data': 'data gradients' }, title: (b) => `ms, batch size ${b}` },
  ja: { direct: '直接法', winograd: 'Winograd', passes: { forward: '順伝播', 'backward weights': '重みの勾配', 'backward data': '入力の勾配' }, title: (b) => `ms（バッチサイズ ${b}）` },
};

/** "64x32x16x16 -> 64x64x16x16" is 32 channels to 64 at 16 x 16. */
function layerOf(shapes) {
  const [, from, height, width, to] = /^\d+x(\d+)x(\d+)x(\d+) -> \d+x(\d+)x/.exec(shapes);
  return `${from}→${to}, ${height}×${width}`;
}

export default function draw(language) {
  const result = readResult('algorithms.json'), say = words[language];
  const seen = new Map();  // layers of the same shape take the same time: the first stands for them
  for (const { shapes, pass, milliseconds } of result.passes) if (!seen.has(`${shapes} ${pass}`)) seen.set(`${shapes} ${pass}`, { layer: layerOf(shapes), pass: say.passes[pass], milliseconds });
  const values = [...seen.values()].flatMap(({ layer, pass, milliseconds }) => Object.entries(milliseconds).map(([algorithm, { median }]) => ({ layer, pass, algorithm: say[algorithm] ?? algorithm, median })));
  const kinds = [[say.direct, colours.load], [say.winograd, colours.compute]];
  return chart({ data: { values }, facet: { column: { field: 'pass', type: 'nominal', sort: Object.values(say.passes), title: null, header: { labelFontSize: 24, labelFontWeight: 600 } } }, spacing: 40,
    spec: { width: 285, height: 340, mark: { type: 'bar', cornerRadiusEnd: 2 }, encoding: {
      y: { field: 'layer', type: 'nominal', sort: null, title: null, axis: { labelFontSize: 20, domain: false, ticks: false } },
      yOffset: { field: 'algorithm', type: 'nominal', sort: kinds.map(([name]) => name) },
      x: { field: 'median', type: 'quantitative', title: say.title(result.batchsize), axis: { titleFontSize: 20, labelFontSize: 20, tickCount: 3 } },
      color: { field: 'algorithm', type: 'nominal', scale: colourScale(kinds) } } } }, result, language, { kinds });
}
