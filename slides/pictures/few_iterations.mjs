// Why few iterations show little speedup: what doesn't get shorter weighs more in a short training.
import { colours, legend, picture, text } from './parts/svg.mjs';
import { chain, lanes, measure } from './parts/lanes.mjs';

const words = {
  en: { fixed: 'set-up: data, memory, kernels', training: 'iterations', short: 'Short training', long: 'Long training', one: '1 device', two: '2 devices',
    times: (long, short, n) => `${long} / ${short} = ${n} x as fast` },
  ja: { fixed: '準備：データ・メモリ・カーネル', training: '反復', short: '短い学習', long: '長い学習', one: '1デバイス', two: '2デバイス',
    times: (long, short, n) => `${long} / ${short} = ${n} 倍` },
};

export default function draw(language) {
  const say = words[language], labels = 130, unit = 40, setUp = 3;
  const rows = (iterations) => [iterations, iterations / 2].map((length, i) => ({ label: [say.one, say.two][i],
    spans: chain(0, [['load', setUp, ''], ['compute', length, say.training]]) }));
  const speedup = (n) => say.times(`(${setUp} + ${n})`, `(${setUp} + ${n / 2})`, ((setUp + n) / (setUp + n / 2)).toFixed(1));
  const group = (y, title, iterations) => [
    text(0, y, title, { anchor: 'start', size: 26, weight: 600 }),
    lanes(rows(iterations), { y: y + 26, labels, unit, height: 58, gap: 10, size: 22, until: setUp + iterations }),
    measure(labels + (setUp + iterations / 2) * unit, labels + (setUp + iterations) * unit, y + 123, '', {}),
    text(iterations < 10 ? labels + (setUp + iterations) * unit + 30 : labels + (setUp + iterations * 0.75) * unit, iterations < 10 ? y + 88 : y + 170, speedup(iterations),
      { anchor: iterations < 10 ? 'start' : 'middle', size: 30, weight: 700, fill: colours.communication }),
  ];
  return picture(1160, 500, group(20, say.short, 4), group(228, say.long, 22),
    legend(labels, 474, [[colours.load, say.fixed], [colours.compute, say.training]], { size: 24 }));
}
