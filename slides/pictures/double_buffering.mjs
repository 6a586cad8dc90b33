// Double buffering: iteration k's gradients are exchanged during iteration k + 1 and applied after it, one update late.
import { arrow, colours, picture, text } from './parts/svg.mjs';
import { lanes, timeAxis } from './parts/lanes.mjs';

const words = {
  en: { compute: 'compute', exchange: 'exchange', time: 'time', gradients: (n) => `gradients ${n}`, late: 'each update takes the gradients of the iteration before', update: 'update' },
  ja: { compute: '計算', exchange: '通信', time: '時間', gradients: (n) => `勾配${n}`, late: '更新には、ひとつ前の反復の勾配を使う', update: '更新' },
};

export default function draw(language) {
  const say = words[language], labels = 130, unit = 62, top = 60, height = 84, gap = 80;
  const forward = 1.3, backward = 2.2, update = 0.6, n = 4, end = 16.2;
  const begin = (k) => (k ? forward + backward + (k - 1) * (forward + backward + update) : 0);
  const compute = Array.from({ length: n }, (_, k) => [
    { kind: 'forward', begin: begin(k), end: begin(k) + forward, label: `F${k + 1}` },
    { kind: 'backward', begin: begin(k) + forward, end: begin(k) + forward + backward, label: `B${k + 1}` },
    ...(k ? [{ kind: 'update', begin: begin(k) + forward + backward, end: begin(k) + forward + backward + update }] : [])]).flat();
  const exchange = Array.from({ length: n - 1 }, (_, k) => ({ kind: 'hidden', begin: begin(k) + forward + backward + 0.1, end: begin(k + 1) + forward + backward - 0.25, label: say.gradients(k + 1) }));
  const x = (time) => labels + time * unit;
  return picture(1160, 540,
    lanes([{ label: say.compute, spans: compute }, { label: say.exchange, spans: exchange }], { y: top, labels, unit, height, gap, size: 26, until: end }),
    exchange.map((span, k) => [arrow([[x(begin(k) + forward + backward - 0.3), top + height + 2], [x(span.begin + 0.35), top + height + gap - 2]], { stroke: colours.communication, line: 4 }),
      arrow([[x(span.end - 0.2), top + height + gap - 2], [x(begin(k + 1) + forward + backward + update / 2), top + height + 2]], { stroke: colours.communication, line: 4 })]),
    timeAxis(labels, 342, end * unit - 40, say.time),
    text(labels, 430, say.late, { anchor: 'start', size: 30, weight: 700, fill: colours.communication }));
}
