// Exchange after backward, against exchange of each layer's gradients while backward goes on.
import { colours, legend, picture, text } from './parts/svg.mjs';
import { lanes, measure, timeAxis } from './parts/lanes.mjs';

const words = {
  en: { after: 'Exchange after backward', during: 'Exchange while backward goes on', compute: 'compute', exchange: 'exchange', exposed: 'exposed', hidden: 'hidden communication',
    shown: 'exposed communication', time: 'time', forward: 'forward', backward: 'backward', update: 'update', saved: 'saved' },
  ja: { after: '逆伝播が終わってから交換', during: '逆伝播の途中で交換', compute: '計算', exchange: '通信', exposed: '隠れない', hidden: '計算に隠れた通信',
    shown: '隠れていない通信', time: '時間', forward: '順伝播', backward: '逆伝播', update: '更新', saved: '短縮' },
};

export default function draw(language) {
  const say = words[language], labels = 130, unit = 62, end = 15.6;
  const compute = (update) => ({ label: say.compute, spans: [{ kind: 'forward', begin: 0, end: 3, label: say.forward },
    ...[4, 3, 2, 1].map((layer, i) => ({ kind: 'backward', begin: 3 + i * 1.75, end: 4.75 + i * 1.75, label: String(layer) })),
    { kind: 'update', begin: update, end: update + 1.2, label: '' }] });
  const bucket = (layer, begin, length, hidden) => ({ kind: hidden ? 'hidden' : 'communication', begin, end: begin + length, label: String(layer) });
  const late = [4, 3, 2, 1].map((layer, i) => bucket(layer, 10 + i * 1.1, 1.1, false));
  const early = [bucket(4, 4.75, 1.1, true), bucket(3, 6.5, 1.1, true), bucket(2, 8.25, 1.1, true), bucket(1, 10, 1.1, false)];
  const group = (y, title, spans, update) => [text(0, y, title, { anchor: 'start', size: 26, weight: 700 }),
    lanes([compute(update), { label: say.exchange, spans }], { y: y + 26, labels, unit, height: 60, gap: 8, size: 24, until: end })];
  return picture(1160, 540, group(18, say.after, late, 14.4), group(232, say.during, early, 11.1),
    measure(labels + 12.3 * unit, labels + 15.6 * unit, 322, say.saved, { size: 26 }),
    timeAxis(labels, 414, end * unit - 40, say.time),
    legend(labels, 480, [[colours.hidden, say.hidden], [colours.communication, say.shown], [colours.update, say.update]], { size: 24 }));
}
