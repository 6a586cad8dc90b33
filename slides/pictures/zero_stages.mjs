// SPDX-License-Identifier: Apache-2.0
// What each of four devices keeps without ZeRO and in its three stages, and what that takes and sends.
import { box, colours, legend, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { stages: ['data parallel', 'ZeRO-1', 'ZeRO-2', 'ZeRO-3'], device: (n) => `device ${n}`, memory: 'bytes of a\nparameter', sent: 'sent,\n× (n−1)/n',
    parts: ['parameters', 'gradients', "Adam's state"], foot: 'fp32; E: bytes of the parameters; n: devices, here 4; ZeRO-3 gathers layers for use' },
  ja: { stages: ['データ並列', 'ZeRO-1', 'ZeRO-2', 'ZeRO-3'], device: (n) => `デバイス${n}`, memory: '1パラメータの\nバイト数', sent: '送信量\n× (n−1)/n',
    parts: ['パラメータ', '勾配', 'Adam の状態'], foot: 'fp32。E：パラメータのバイト数、n：デバイス数（ここでは4）。ZeRO-3 は使う層を集める' },
};
const parts = [[4, colours.forward], [4, colours.backward], [8, colours.update]];  // bytes; in stage s the last s are sharded
const n = 4, left = 200, width = 160, gap = 14;
const isSharded = (part, stage) => part >= parts.length - stage;
const sent = ['2 E', '2 E', '2 E', '3 E'];

/** "8 + 8/n" and, for n devices, its value. */
function bytesOf(stage) {
  const sum = (sharded) => parts.reduce((total, [bytes], i) => total + (isSharded(i, stage) === sharded ? bytes : 0), 0);
  const formula = [sum(false) || '', sum(true) ? `${sum(true)}/n` : ''].filter(Boolean).join(' + ');
  return { formula, value: sum(false) + sum(true) / n };
}

export default function draw(language) {
  const say = words[language], total = parts.reduce((sum, [bytes]) => sum + bytes, 0), unit = width / total;
  const bar = (x, y, device, stage) => {
    let at = x;
    return parts.map(([bytes, fill], i) => {
      const here = at, wide = bytes * unit, own = isSharded(i, stage) ? [here + device * wide / n, wide / n] : [here, wide];
      at += wide;
      return box(here, y, wide, 62, '', { fill: colours.waiting, radius: 0 }) + box(own[0], y, own[1], 62, '', { fill, radius: 0 });
    }).join('') + box(x, y, width, 62, '', { fill: 'none', stroke: colours.soft, radius: 0 });
  };
  const memoryAt = 978, sentAt = 1096;
  return picture(1160, 540,
    Array.from({ length: n }, (_, device) => text(left + device * (width + gap) + width / 2, 34, say.device(device), { size: 22, weight: 600 })),
    text(memoryAt, 34, say.memory, { size: 20, weight: 600 }), text(sentAt, 34, say.sent, { size: 20, weight: 600 }),
    say.stages.map((name, stage) => {
      const y = 76 + stage * 96, { formula, value } = bytesOf(stage);
      return [text(0, y + 31, name, { anchor: 'start', size: 26, weight: 700 }), Array.from({ length: n }, (_, device) => bar(left + device * (width + gap), y, device, stage)),
        text(memoryAt, y + 31, stage ? `${formula}\n= ${value}` : formula, { size: 22, weight: 600 }), text(sentAt, y + 31, sent[stage], { size: 26, weight: 700, fill: colours.communication })];
    }),
    rule([[0, 460], [1160, 460]], { stroke: colours.line, line: 2 }),
    legend(0, 486, say.parts.map((part, i) => [parts[i][1], `${part}: ${parts[i][0]} B`]), { size: 22 }),
    text(0, 524, say.foot, { anchor: 'start', size: 20, fill: colours.soft }));
}
