// SPDX-License-Identifier: Apache-2.0
// An iteration of task 7 on an emulated GPU: two streams in virtual time, with an event after each layer and with one event in all.
import { readComputed } from '../build/results.mjs';
import { lanes, measure } from './parts/lanes.mjs';
import { colours, legend, picture, text } from './parts/svg.mjs';

const words = {
  en: { titles: ['An event after the backward of each layer', 'One event after all of backward'], compute: 'compute', communication: 'exchange',
    kinds: [['forward', 'forward'], ['backward', 'backward of a layer'], ['communication', 'all-reduce of a layer'], ['update', 'update']], foot: 'emulated GPU, virtual time, not measured; computed by' },
  ja: { titles: ['層の逆伝播ごとにイベント', '逆伝播がすべて終わってからイベント1つ'], compute: '計算', communication: '通信',
    kinds: [['forward', '順伝播'], ['backward', '層の逆伝播'], ['communication', '層の all-reduce'], ['update', '更新']], foot: 'エミュレートした GPU の仮想時間（実測ではない）。計算：' },
};
const kindOf = (mark) => (/\d/.test(mark) ? 'backward' : mark === 'u' ? 'update' : 'forward');

export default function draw(language) {
  const say = words[language], { command, timelines } = readComputed('streams.json'), labels = 130;
  const longest = Math.max(...timelines.map(({ milliseconds }) => milliseconds)), unit = (1156 - labels) / longest;
  const rows = ({ compute, communication }) => [[say.compute, compute, kindOf], [say.communication, communication, () => 'communication']]
    .map(([label, operations, kind]) => ({ label, spans: operations.map(({ mark, begin, end }) => ({ kind: kind(mark), begin, end, label: /\d/.test(mark) ? mark : '' })) }));
  return picture(1160, 540, timelines.map((timeline, i) => {
    const y = 8 + i * 232;
    return [text(0, y + 14, say.titles[i], { anchor: 'start', size: 26, weight: 700 }), lanes(rows(timeline), { y: y + 44, labels, unit, until: longest, height: 56, gap: 10 }),
      measure(labels, labels + timeline.milliseconds * unit, y + 184, `${timeline.milliseconds.toFixed(2)} ms`, { size: 24, below: true })];
  }), legend(0, 488, say.kinds.map(([kind, said]) => [colours[kind], said]), { size: 22 }),
  text(0, 524, `${say.foot} ${command}`, { anchor: 'start', size: 18, fill: colours.soft, class: 'source' }));
}
