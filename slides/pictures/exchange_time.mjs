// How long an all-reduce takes by how much is exchanged: latency first, bandwidth then; computed.
import { vgg } from '../build/vgg.mjs';
import { axes, curve, dot } from './parts/plot.mjs';
import { colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { bytes: 'gradients, E', time: 'time of an exchange', formula: (n, us) => `computed: 2 (n − 1)/n × E / bandwidth + 2 (n − 1) × ${us} µs, n = ${n}`, link: (g) => `${g} Gbit/s` },
  ja: { bytes: '勾配 E', time: '通信1回の時間', formula: (n, us) => `計算値：2 (n − 1)/n × E / 帯域幅 + 2 (n − 1) × ${us} µs、n = ${n}`, link: (g) => `${g} Gbit/s` },
};
const n = 4, latency = 50e-6;
const seconds = (bytes, gbit) => 2 * (n - 1) / n * bytes / (gbit * 1.25e8) + 2 * (n - 1) * latency;

export default function draw(language) {
  const say = words[language], shades = { 1: colours.send, 10: colours.communication, 100: '#a04a66' };
  const { svg, at } = axes(150, 50, 810, 370, { from: 1e3, to: 1e9, log: true, ticks: [[1e3, '1 KB'], [1e5, '100 KB'], [1e6, '1 MB'], [1e7, '10 MB'], [1e8, '100 MB'], [1e9, '1 GB']], title: say.bytes },
    { from: 1e-4, to: 1e2, log: true, ticks: [[1e-3, '1 ms'], [1e-2, '10 ms'], [1e-1, '100 ms'], [1, '1 s'], [10, '10 s']], title: say.time });
  const networks = [32, 256].map((size) => ({ size, bytes: vgg(size).bytes }));
  return picture(1160, 500, svg,
    networks.map(({ size, bytes }) => rule([at(bytes, 1e-4), at(bytes, 30)], { stroke: colours.soft, line: 2, dash: '6 6' }) + text(at(bytes, 40)[0] + (size > 32 ? 6 : -6), at(bytes, 40)[1] + 4, `VGG ${size} × ${size}`, { anchor: size > 32 ? 'start' : 'end', size: 21, weight: 600 })),
    Object.entries(shades).map(([gbit, stroke]) => curve(at, (bytes) => seconds(bytes, gbit), [1e3, 1e9], { log: true, stroke, line: 5 }) +
      networks.map(({ bytes }) => dot(at(bytes, seconds(bytes, gbit)), stroke)) + text(974, at(1e9, seconds(1e9, gbit))[1], say.link(gbit), { anchor: 'start', size: 24, weight: 700, fill: stroke })),
    text(0, 484, say.formula(n, latency * 1e6), { anchor: 'start', size: 22, fill: colours.soft }));
}
