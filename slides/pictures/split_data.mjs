// SPDX-License-Identifier: Apache-2.0
// An epoch on two devices: with the whole set on each, it trains on everything twice; split, each takes half.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';

const words = {
  en: { set: 'training data', whole: 'Each device has the whole set', split: 'Each device has its random share', device: (n) => `device ${n}`,
    twice: 'an epoch = 2 × the images\nno time is saved', half: 'an epoch = the set, once\nhalf of the iterations' },
  ja: { set: '学習データ', whole: '各デバイスに全データ', split: '各デバイスにランダムな一部', device: (n) => `デバイス${n}`,
    twice: '1エポック＝学習データの2倍\n時間は短くならない', half: '1エポック＝学習データ1回分\n反復数は半分' },
};

// A fixed shuffle: which device gets each of the twelve pictures.
const share = [0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1];
const colourOf = [colours.forward, colours.update];

export default function draw(language) {
  const say = words[language], cell = 27;
  const strip = (x, y, ids) => ids.map((id, i) => box(x + i * (cell + 4), y, cell, 56, '', { fill: colourOf[share[id]], radius: 4 })).join('');
  const all = share.map((_, id) => id), of = (device) => all.filter((id) => share[id] === device);
  const half = (x, title, parts, note, good) => {
    const width = 520, middle = x + width / 2, stripAt = (n) => middle - (n * (cell + 4) - 4) / 2;
    return [
      text(middle, 20, title, { size: 28, weight: 700 }),
      text(middle, 70, say.set, { size: 24, fill: colours.soft }), strip(stripAt(12), 92, all),
      parts.map((ids, device) => {
        const y = 232 + device * 104, begin = x + 152;
        return arrow([[middle, 152], [middle, 178], [x + 4, 178], [x + 4, y + 28], [x + 18, y + 28]].slice(0, 5), { stroke: colours.soft }) +
          text(x + 26, y + 28, say.device(device), { anchor: 'start', size: 24, weight: 600 }) + strip(begin, y, ids);
      }),
      text(middle, 470, note, { size: 28, weight: 700, fill: good ? colours.ink : colours.wrong }),
    ];
  };
  return picture(1160, 540, half(0, say.whole, [all, all], say.twice, false),
    box(578, 10, 3, 500, '', { fill: colours.line, radius: 0 }), half(618, say.split, [of(0), of(1)], say.half, true));
}
