// SPDX-License-Identifier: Apache-2.0
// Strategies of task 5 over a simulated link: two measured iterations of rank 0 in each, and what of the exchange is exposed.
import { readResult } from '../build/results.mjs';
import { lanes } from './parts/lanes.mjs';
import { linkInWords, sourceOf } from './parts/source.mjs';
import { colours, legend, picture, text } from './parts/svg.mjs';

const words = {
  en: { ways: { synchronous: 'after backward', overlapped: 'during backward', 'half precision': '16 bits, after backward' }, forward: 'forward', backward: 'backward', update: 'update', communication: 'exposed exchange', hidden: 'hidden exchange', load: 'load',
    exposed: (part, ms) => `${ms} ms an iteration: ${part} ms exposed`, how: (n, link) => `rank 0 of task 2's program, one trace of two iterations each (the least disturbed of ${n}); simulated link of ${link}` },
  ja: { ways: { synchronous: '逆伝播の後に通信', overlapped: '逆伝播の途中で通信', 'half precision': '16ビット、逆伝播の後' }, forward: '順伝播', backward: '逆伝播', update: '更新', communication: '隠れていない通信', hidden: '隠れた通信', load: 'データ読込',
    exposed: (part, ms) => `1反復 ${ms} ms、うち隠れていない通信 ${part} ms`, how: (n, link) => `タスク2のプログラムのランク0、2反復の記録1つずつ（${n}回のうち最も乱れの少ないもの）。シミュレートした回線 ${link}` },
};

/** An exchange in parts: hidden where the rank computes meanwhile, exposed where it doesn't. */
export function exchangeOf(spans) {
  const computing = spans.filter(({ name }) => ['load', 'forward', 'backward'].includes(name));
  return spans.filter(({ name }) => name === 'allreduce').flatMap(({ begin_us: from, us }) => {
    const until = from + us, cuts = [...new Set([from, until, ...computing.flatMap((one) => [one.begin_us, one.begin_us + one.us])])].filter((at) => at >= from && at <= until).sort((a, b) => a - b);
    return cuts.slice(1).map((end, i) => ({ begin: cuts[i], end, hidden: computing.some((one) => one.begin_us <= cuts[i] && one.begin_us + one.us >= end) }));
  });
}

const iterationsIn = (spans) => spans.filter(({ name }) => name === 'forward').length;

export default function draw(language) {
  const say = words[language], result = readResult('overlap.json');
  const ways = result.ways.filter(({ way }) => way in say.ways);
  const ends = ways.map(({ spans }) => Math.max(...spans.map(({ begin_us, us }) => begin_us + us))), unit = 1150 / Math.max(...ends), high = 44;
  const way = ({ way: name, spans: all }, i) => {
    const y = 6 + i * 146, spans = all.filter(({ rank }) => rank === 0), spanOf = (kind, begin, end) => ({ kind, begin, end: Math.max(end, begin + 3 / unit), label: '' });
    const rows = [spans.filter((one) => one.name !== 'allreduce').map((one) => spanOf(one.name, one.begin_us, one.begin_us + one.us)), exchangeOf(spans).map(({ begin, end, hidden }) => spanOf(hidden ? 'hidden' : 'communication', begin, end))];
    const exposed = exchangeOf(spans).filter(({ hidden }) => !hidden).reduce((sum, { begin, end }) => sum + end - begin, 0), ms = (us) => (us / 1000 / iterationsIn(spans)).toFixed(0);
    return [text(0, y + 8, say.ways[name], { anchor: 'start', size: 24, weight: 700 }), text(1150, y + 8, say.exposed(ms(exposed), ms(ends[i])), { anchor: 'end', size: 24, weight: 600 }),
      lanes(rows.map((one) => ({ label: '', spans: one })), { y: y + 26, labels: 0, unit, height: high, gap: 3, until: ends[i] })];
  };
  return picture(1160, 540, ways.map(way), legend(0, 466, ['load', 'forward', 'backward', 'update', 'communication', 'hidden'].map((kind) => [colours[kind], say[kind]]), { size: 22, gap: 24 }),
    text(0, 500, say.how(result.tries, linkInWords(result.link)), { anchor: 'start', size: 18, fill: colours.soft, class: 'source few-runs' }), text(1156, 528, sourceOf(result, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
