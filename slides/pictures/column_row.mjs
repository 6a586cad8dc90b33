// SPDX-License-Identifier: Apache-2.0
// Tensor parallelism: a pair of layers over two devices, the first split by columns, the second by rows.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';

const words = {
  en: { device: (n) => `device ${n}`, columns: 'A by columns', rows: 'B by rows', same: 'the same', half: 'half of h', partial: 'a partial sum', sum: 'the sum', forward: 'forward:\nall-reduce', backward: 'backward:\nall-reduce of dx' },
  ja: { device: (n) => `デバイス${n}`, columns: 'A は列で分割', rows: 'B は行で分割', same: '共通', half: 'h の半分', partial: '部分和', sum: '和', forward: '順伝播：\nall-reduce', backward: '逆伝播：\ndx の all-reduce' },
};
const own = [colours.forward, colours.backward];

export default function draw(language) {
  const say = words[language];
  const whole = (x, y, width, height) => box(x, y, width, height, '', { fill: colours.waiting, stroke: colours.soft, radius: 2 });
  const sign = (x, y, s) => text(x, y, s, { size: 34, weight: 700 });
  const name = (x, y, s, more) => text(x, y, s, { size: 26, weight: 700, ...more });
  const x = 46, A = 236, h = 470, B = 676, part = 858, y = 1050;  // where each matrix begins
  const row = (n) => {
    const top = n * 290 + 52, middle = top + 65, fill = own[n];
    return [
      box(0, top - 42, 1160, 214, '', { fill: colours.ground, stroke: colours.line, radius: 14 }), text(14, top - 20, say.device(n), { anchor: 'start', size: 22, weight: 700, fill: colours.soft }),
      box(x, top + 5, 90, 120, '', { fill: colours.load, radius: 2 }), name(x + 45, middle, 'x'), sign(186, middle, '×'),
      whole(A, top + 20, 150, 90), box(A + n * 75, top + 20, 75, 90, '', { fill, radius: 2 }), name(A + 37 + n * 75, middle, `A${n}`, { fill: n ? colours.ink : '#ffffff' }),
      sign(426, middle, '→'), text(426, middle - 30, 'f', { size: 26, weight: 700 }),
      whole(h, top + 5, 150, 120), box(h + n * 75, top + 5, 75, 120, '', { fill, radius: 2 }), name(h + 37 + n * 75, middle, `h${n}`, { fill: n ? colours.ink : '#ffffff' }),
      sign(648, middle, '×'),
      whole(B, top - 5, 80, 140), box(B, top - 5 + n * 70, 80, 70, '', { fill, radius: 2 }), name(B + 40, top + 30 + n * 70, `B${n}`, { fill: n ? colours.ink : '#ffffff' }),
      sign(806, middle, '='),
      box(part, top + 5, 80, 120, '', { fill: '#ffffff', stroke: fill, line: 5, radius: 2 }), name(part + 40, middle, `y${n}`), sign(994, middle, '→'),
      box(y, top + 5, 80, 120, '', { fill: colours.load, radius: 2 }), name(y + 40, middle, 'y'),
    ];
  };
  const under = (at, s) => text(at, 205, s, { size: 20, weight: 600 });
  const red = colours.communication;
  return picture(1160, 540, row(0), row(1),
    under(x + 45, say.same), under(A + 75, say.columns), under(h + 75, say.half), under(B + 40, say.rows), under(part + 40, say.partial), under(y + 40, say.sum),
    arrow([[994, 152], [994, 366]], { stroke: red, line: 6, head: 'both' }), text(978, 266, say.forward, { anchor: 'end', size: 22, weight: 700, fill: red }),
    arrow([[x + 112, 152], [x + 112, 366]], { stroke: red, line: 6, head: 'both' }), text(x + 132, 264, say.backward, { anchor: 'start', size: 22, weight: 700, fill: red }));
}
