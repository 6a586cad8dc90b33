// SPDX-License-Identifier: Apache-2.0
// What ./odori compare measured: an exchange by each communicator beside what its messages should take over this link.
import { readResult } from '../build/results.mjs';
import { axes, dot } from './parts/plot.mjs';
import { linkInWords, sourceOf } from './parts/source.mjs';
import { colours, legend, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { time: 'ms an exchange', messages: 'messages', megabytes: 'MB', predicted: 'predicted', measured: 'measured', sent: 'busiest rank, to the other node',
    how: ({ ranks, nodes, gradient_bytes: bytes, simulated_link: link, rounds, machine }) => `${ranks} ranks on ${nodes} nodes, played by ${machine.cores} cores; gradients ${(bytes / 1e6).toFixed(1)} MB; simulated link ${linkInWords(link)}; median and range of ${rounds} rounds` },
  ja: { time: '通信1回（ms）', messages: 'メッセージ', megabytes: 'MB', predicted: '予測', measured: '実測', sent: '最も多く送るランクから他ノードへ',
    how: ({ ranks, nodes, gradient_bytes: bytes, simulated_link: link, rounds, machine }) => `${nodes}ノード × ${ranks / nodes}ランクを${machine.cores}コアで模擬。勾配 ${(bytes / 1e6).toFixed(1)} MB、シミュレートした回線 ${linkInWords(link)}。${rounds}回の中央値と幅` },
};

export default function draw(language) {
  const say = words[language], result = readResult('compare.json');
  const ways = result.exchanges.filter(({ predicted_milliseconds: predicted }) => predicted > 0).sort((a, b) => a.predicted_milliseconds - b.predicted_milliseconds);
  const most = 1.05 * Math.max(...ways.map(({ milliseconds }) => milliseconds.most)), tick = [5, 10, 20, 50, 100].find((one) => most / one < 6);
  const step = 43, top = 84, height = ways.length * step, { svg, at } = axes(220, top, 600, height, { from: 0, to: most, ticks: Array.from({ length: Math.floor(most / tick) + 1 }, (_, i) => [i * tick, String(i * tick)]), title: '' },
    { from: ways.length, to: 0, ticks: [], title: '' });
  const [messagesAt, megabytesAt] = [960, 1100];
  return picture(1160, 480, legend(220, 20, [[colours.backward, say.predicted], [colours.ink, say.measured]], { size: 22 }), text(220, 60, say.time, { anchor: 'start', size: 22, weight: 600 }),
    text(1156, 26, say.sent, { anchor: 'end', size: 20, fill: colours.soft }), text(messagesAt, 60, say.messages, { size: 22, weight: 600 }), text(megabytesAt, 60, say.megabytes, { size: 22, weight: 600 }),
    svg, ways.map(({ name, milliseconds: { median, least, most: longest }, predicted_milliseconds: predicted, sent_to_other_nodes: sent }, i) => {
      const y = at(0, i + 0.5)[1];
      return [rule([[220, y], [820, y]], { stroke: '#e3e7ee', line: 2 }), text(204, y, name, { anchor: 'end', size: 22, mono: true }), rule([[at(least, 0)[0], y], [at(longest, 0)[0], y]], { stroke: colours.ink, line: 4 }), dot([at(median, 0)[0], y], colours.ink, 10),
        rule([[at(predicted, 0)[0], y - 15], [at(predicted, 0)[0], y + 15]], { stroke: colours.backward, line: 6 }), text(messagesAt, y, String(sent.messages), { size: 24, weight: 600 }), text(megabytesAt, y, (sent.bytes / 1e6).toFixed(1), { size: 24, weight: 600 })];
    }),
    text(0, top + height + 50, say.how(result), { anchor: 'start', size: 20 }), text(1156, 458, sourceOf(result, language), { anchor: 'end', size: 18, fill: colours.soft, class: 'source' }));
}
