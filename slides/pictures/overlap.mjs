// The ways of task 5 over a simulated link: two measured iterations of rank 0 in each, and what of the exchange is exposed.
import { readResult } from '../build/results.mjs';
import { lanes } from './parts/lanes.mjs';
import { linkInWords, sourceOf } from './parts/source.mjs';
import { colours, legend, picture, text } from './parts/svg.mjs';

const words = {
  en: { ways: { synchronous: 'after backward', overlapped: 'during backward', 'double-buffered': 'one iteration late', 'half precision': '16 bits, after backward' }, forward: 'forward', backward: 'backward', update: 'update', communication: 'exposed exchange', hidden: 'hidden exchange', load: 'load',
    exposed: (part, ms) => `${ms} ms: ${part} % exposed`, how: (n, link) => `lanes: rank 0, two iterations of task 2's program; figures: task 5's, median of ${n} runs; simulated link of ${link}` },
  ja: { ways: { synchronous: '逆伝播の後に通信', overlapped: '逆伝播の途中で通信', 'double-buffered': '1反復遅れ', 'half precision': '16ビット、逆伝播の後' }, forward: '順伝播', backward: '逆伝播', update: '更新', communication: '隠れていない通信', hidden: '隠れた通信', load: 'データ読込',
    exposed: (part, ms) => `${ms} ms、うち隠れていない通信 ${part} %`, how: (n, link) => `図：タスク2のプログラムのランク0、2反復。数値：タスク5のプログラム、${n}回の中央値。シミュレートした回線 ${link}` },
};

/** An exchange in parts: hidden where the rank computes meanwhile, exposed where it doesn't. */
export function exchangeOf(spans) {
  const computing = spans.filter(({ name }) => ['load', 'forward', 'backward'].includes(name));
  return spans.filter(({ name }) => name === 'allreduce').flatMap(({ begin_us: from, us }) => {
    const until = from + us, cuts = [...new Set([from, until, ...computing.flatMap((one) => [one.begin_us, one.begin_us + one.us])])].filter((at) => at >= from && at <= until).sort((a, b) => a - b);
    return cuts.slice(1).map((end, i) => ({ begin: cuts[i], end, hidden: computing.some((one) => one.begin_us <= cuts[i] && one.begin_us + one.us >= end) }));
  });
}

export default function draw(language) {
  const say = words[language], result = readResult('overlap.json');
  const ends = result.ways.map(({ spans }) => Math.max(...spans.map(({ begin_us, us }) => begin_us + us))), unit = 1150 / Math.max(...ends), high = 32;
  const way = ({ way: name, spans: all, milliseconds, exposed }, i) => {
    const y = 6 + i * 112, spans = all.filter(({ rank }) => rank === 0), spanOf = (kind, begin, end) => ({ kind, begin, end: Math.max(end, begin + 3 / unit), label: '' });
    const rows = [spans.filter((one) => one.name !== 'allreduce').map((one) => spanOf(one.name, one.begin_us, one.begin_us + one.us)), exchangeOf(spans).map(({ begin, end, hidden }) => spanOf(hidden ? 'hidden' : 'communication', begin, end))];
    return [text(0, y + 8, say.ways[name], { anchor: 'start', size: 24, weight: 700 }), text(1150, y + 8, say.exposed(Math.round(100 * exposed.median / milliseconds.median), milliseconds.median.toFixed(1)), { anchor: 'end', size: 24, weight: 600 }),
      lanes(rows.map((one) => ({ label: '', spans: one })), { y: y + 26, labels: 0, unit, height: high, gap: 3, until: ends[i] })];
  };
  return picture(1160, 540, result.ways.map(way), legend(0, 466, ['load', 'forward', 'backward', 'update', 'communication', 'hidden'].map((kind) => [colours[kind], say[kind]]), { size: 22, gap: 24 }),
    text(0, 500, say.how(result.ways[0].milliseconds.values.length, linkInWords(result.link)), { anchor: 'start', size: 18, fill: colours.soft, class: 'source' }), text(1156, 528, sourceOf(result, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
