// One device against two on a time axis: the same training in half as many iterations, each a little longer; the main device updates.
import { colours, legend, picture, text } from './parts/svg.mjs';
import { chain, lanes, measure, timeAxis } from './parts/lanes.mjs';

const words = {
  en: { one: 'one device', first: 'device 0', second: 'device 1', forward: 'forward', backward: 'backward', gather: 'exchange',
    update: 'update', wait: 'waiting', time: 'time', saved: 'saved', single: 'One device: 4 iterations of 32 images', multi: 'Two devices: 2 iterations of 2 × 32 images' },
  ja: { one: '1デバイス', first: 'デバイス0', second: 'デバイス1', forward: '順伝播', backward: '逆伝播', gather: '勾配の交換',
    update: '更新', wait: '待ち', time: '時間', saved: '短縮', single: '1デバイス：32枚 × 4反復', multi: '2デバイス：（2 × 32枚）× 2反復' },
};

export default function draw(language) {
  const say = words[language], labels = 150, unit = 49;
  const iteration = [['forward', 1.6, ''], ['backward', 2.6, ''], ['update', 0.6, '']];
  const together = [iteration[0], iteration[1], ['communication', 1, ''], iteration[2]];
  const single = chain(0, Array(4).fill(iteration).flat()), multi = chain(0, Array(2).fill(together).flat());
  const other = multi.map((span) => (span.kind === 'update' ? { ...span, kind: 'waiting' } : span));  // only the main device updates
  const long = single.at(-1).end, short = multi.at(-1).end, at = (time) => labels + time * unit;
  return picture(1160, 500,
    text(0, 22, say.single, { anchor: 'start', size: 26, weight: 600 }),
    lanes([{ label: say.one, spans: single }], { y: 52, labels, unit, height: 70, until: long }),
    text(0, 186, say.multi, { anchor: 'start', size: 26, weight: 600 }),
    lanes([{ label: say.first, spans: multi }, { label: say.second, spans: other }], { y: 216, labels, unit, height: 70, gap: 14, until: long }),
    measure(at(short), at(long), 293, say.saved, { size: 28, stroke: colours.ink }),
    timeAxis(labels, 396, long * unit, say.time),
    legend(labels, 462, [[colours.forward, say.forward], [colours.backward, say.backward], [colours.communication, say.gather], [colours.update, say.update], [colours.waiting, say.wait]], { size: 24 }));
}
