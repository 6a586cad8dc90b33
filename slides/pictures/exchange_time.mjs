// SPDX-License-Identifier: Apache-2.0
// How long an all-reduce takes by how much is exchanged: latency first, bandwidth then: lines computed, points measured.
import { readResult } from '../build/results.mjs';
import { ringSeconds } from '../build/ring.mjs';
import { vgg } from '../build/vgg.mjs';
import { axes, curve, dot, whisker } from './parts/plot.mjs';
import { sourceOf } from './parts/source.mjs';
import { colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { bytes: 'gradients, E', time: 'time of an exchange', formula: (n, us) => `lines: 2 (n − 1)/n × E / bandwidth + 2 (n − 1) × ${us} µs, n = ${n}`, points: (n, cores, runs) => `points: measured, ${n} ranks on ${cores} cores, simulated links (median of ${runs} runs, least to most)`, link: (g) => `${g} Gbit/s` },
  ja: { bytes: '勾配 E', time: '通信1回の時間', formula: (n, us) => `線：2 (n − 1)/n × E / 帯域幅 + 2 (n − 1) × ${us} µs、n = ${n}`, points: (n, cores, runs) => `点：実測。${cores}コアで${n}ランク、回線はシミュレート（${runs}回の中央値と幅）`, link: (g) => `${g} Gbit/s` },
};

export default function draw(language) {
  const say = words[language], shades = { 1: colours.send, 10: colours.communication, 100: '#a04a66' };
  const result = readResult('exchange.json'), { ranks: n, latency_us: latency, points, rounds } = result, seconds = (bytes, gbit) => ringSeconds(n, bytes, gbit, latency / 1e6);
  const { svg, at } = axes(150, 50, 810, 340, { from: 1e3, to: 1e9, log: true, ticks: [[1e3, '1 KB'], [1e4, '10 KB'], [1e5, '100 KB'], [1e6, '1 MB'], [1e7, '10 MB'], [1e8, '100 MB'], [1e9, '1 GB']], title: say.bytes },
    { from: 3e-5, to: 1e2, log: true, ticks: [[1e-4, '100 µs'], [1e-3, '1 ms'], [1e-2, '10 ms'], [1e-1, '100 ms'], [1, '1 s'], [10, '10 s']], title: say.time });
  const networks = [32, 256].map((size) => ({ size, bytes: vgg(size).bytes }));
  return picture(1160, 540, svg,
    networks.map(({ size, bytes }) => rule([at(bytes, 3e-5), at(bytes, 30)], { stroke: colours.soft, line: 2, dash: '6 6' }) + text(at(bytes, 40)[0] + (size > 32 ? 6 : -6), at(bytes, 40)[1] + 4, `VGG ${size} × ${size}`, { anchor: size > 32 ? 'start' : 'end', size: 21, weight: 600 })),
    Object.entries(shades).map(([gbit, stroke]) => curve(at, (bytes) => seconds(bytes, gbit), [1e3, 1e9], { log: true, stroke, line: 5 }) +
      text(974, at(1e9, seconds(1e9, gbit))[1], say.link(gbit), { anchor: 'start', size: 24, weight: 700, fill: stroke })),
    points.map(({ gbit, bytes, seconds: seen }) => whisker(at, bytes, seen, shades[gbit]) + dot(at(bytes, seen.median), shades[gbit]) + dot(at(bytes, seen.median), '#ffffff', 4)),
    text(0, 468, say.formula(n, latency), { anchor: 'start', size: 22, fill: colours.soft }), text(0, 498, say.points(n, result.machine.cores, rounds), { anchor: 'start', size: 22, fill: colours.soft }),
    text(1156, 526, sourceOf(result, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
