// SPDX-License-Identifier: Apache-2.0
// Ring all-reduce of four ranks and four chunks, step by step: computed by doing it.
import { arrow, box, colours, picture, text } from './parts/svg.mjs';

const words = {
  en: { rank: (n) => `rank ${n}`, start: 'at first', scatter: (n) => `add ${n}`, gather: (n) => `pass on ${n}`, first: '3 steps: reduce-scatter', second: '3 steps: all-gather',
    a_rank: 'each rank has sent', colon: ': ', step: (n) => (n ? `step ${n} of 6` : 'at first: its own gradients'), number: 'Numbers: how many ranks are in the sum.',
    sent: 'sent', counter: (k) => (k ? `${k}/4 E` : '0'), bytes: 'Follow the yellow chunk. Each rank sends 2 × 3 chunks of E / 4: 2 (n − 1)/n E bytes for n ranks.' },
  ja: { rank: (n) => `ランク${n}`, start: 'はじめ', scatter: (n) => `加算 ${n}`, gather: (n) => `配布 ${n}`, first: '3段：reduce-scatter', second: '3段：all-gather',
    a_rank: '各ランクの送信量', colon: '：', step: (n) => (n ? `ステップ ${n} / 6` : 'はじめ：自分の勾配だけ'), number: '数字：何ランク分の和か',
    sent: '送信量', counter: (k) => (k ? `${k}/4 E` : '0'), bytes: '黄色のチャンクを追う。各ランクの送信量は E / 4 を 2 × 3 回＝2 (n − 1)/n E（n はランク数）。' },
};
const ranks = 4;
const tints = ['#ffffff', '#cfe4f5', '#8fc3ea', '#5fa8dc', colours.forward];  // by how many ranks are summed
const followed = ['#ffffff', '#fbf2dc', '#f6dfa9', '#eec66a', colours.update];  // the same of one chunk

/** What each rank holds after each step: sums[step][rank][chunk] = how many ranks' gradients; moved = the chunk that came in. */
function steps() {
  const state = Array.from({ length: ranks }, () => Array(ranks).fill(1)), all = [{ held: state.map((row) => [...row]), came: [] }];
  for (let step = 0; step < 2 * (ranks - 1); ++step) {
    const before = state.map((row) => [...row]), came = [];
    for (let rank = 0; rank < ranks; ++rank) {
      const from = (rank + ranks - 1) % ranks, adding = step < ranks - 1;
      const chunk = (from + (adding ? 0 : 1) - (adding ? step : step - (ranks - 1)) + 2 * ranks) % ranks;
      state[rank][chunk] = adding ? before[rank][chunk] + before[from][chunk] : before[from][chunk];
      came.push(chunk);
    }
    all.push({ held: state.map((row) => [...row]), came });
  }
  return all;
}

/** Seven frames, one after each step, and the last one with all of them. */
export default (language, frame = 8) => (frame > 7 ? overview(words[language]) : oneStep(words[language], frame - 1));

const ringLine = (stroke, line, dash) => (points) => arrow(points, { stroke, line, dash });

/** The ranks on a ring after this step, and on its arrows what has just travelled. */
function oneStep(say, step) {
  const { held, came } = steps()[step], cell = 76, high = 80, wide = ranks * cell;
  const corners = [[20, 40], [1140 - wide, 40], [1140 - wide, 400], [20, 400]], [low, up] = [40 + high / 2, 400 + high / 2];
  const ways = [[[36 + wide, low], [1124 - wide, low]], [[1140 - wide / 2, 56 + high], [1140 - wide / 2, 360]], [[1124 - wide, up], [36 + wide, up]], [[20 + wide / 2, 384], [20 + wide / 2, 76 + high]]];
  const moved = (from) => came[(from + 1) % ranks], is = (chunk) => chunk === 0;
  const fill = (chunk, sum) => (is(chunk) ? followed : tints)[sum];
  return picture(1160, 540,
    held.map((row, rank) => {
      const [x, y] = corners[rank];
      return [text(x, rank < 2 ? y - 22 : y + high + 24, say.rank(rank), { anchor: 'start', size: 26, weight: 600 }),
        row.map((sum, chunk) => box(x + chunk * cell, y, cell - 6, high, String(sum), { fill: fill(chunk, sum), stroke: came[rank] === chunk ? colours.communication : colours.line, line: came[rank] === chunk ? 6 : 2, radius: 6, size: 32, weight: 700 }))];
    }),
    ways.map((points, from) => {
      if (!step) return ringLine(colours.line, 3, '8 8')(points);
      const chunk = moved(from), sum = steps()[step - 1].held[from][chunk], [[ax, ay], [bx, by]] = points, [x, y] = [(ax + bx) / 2, (ay + by) / 2];
      return ringLine(is(chunk) ? colours.update : colours.communication, is(chunk) ? 8 : 4)(points) + box(x - 26, y - 24, 52, 48, String(sum), { fill: fill(chunk, sum), stroke: colours.ink, line: 2, radius: 6, size: 26, weight: 700 });
    }),
    text(580, 184, say.step(step), { size: 30, weight: 700 }),
    step ? text(580, 226, step < ranks ? 'reduce-scatter' : 'all-gather', { size: 26, fill: colours.soft }) : '',
    text(580, 280, `${say.a_rank}${say.colon}${say.counter(step)}`, { size: 26, weight: 600, fill: colours.communication }),
    Array.from({ length: 2 * (ranks - 1) }, (_, i) => box(580 - 3 * 60 + i * 60, 304, 54, 24, '', { fill: i < step ? colours.communication : colours.paper, stroke: colours.communication, radius: 3 })),
    text(580, 366, say.number, { size: 22, fill: colours.soft }));
}

function overview(say) {
  const left = 104, cell = 29, high = 64, column = 152, top = 104, gap = 24;
  const x = (step) => left + step * column, y = (rank) => top + rank * (high + gap);
  const name = (step) => (step === 0 ? say.start : step < ranks ? say.scatter(step) : say.gather(step - ranks + 1));
  return picture(1160, 540,
    box(x(1), 4, 3 * column - 34, 40, say.first, { fill: colours.communication, size: 24, weight: 600 }),
    box(x(4), 4, 3 * column - 34, 40, say.second, { fill: colours.send, size: 24, weight: 600 }),
    Array.from({ length: ranks }, (_, rank) => text(0, y(rank) + high / 2, say.rank(rank), { anchor: 'start', size: 24, weight: 600 })),
    steps().map(({ held, came }, step) => [
      text(x(step) + 2 * cell, 74, name(step), { size: 22, fill: colours.soft }),
      held.map((row, rank) => row.map((sum, chunk) => box(x(step) + chunk * cell, y(rank), cell - 3, high, String(sum), {
        fill: (chunk === 0 ? followed : tints)[sum], stroke: came[rank] === chunk ? colours.communication : colours.line, line: came[rank] === chunk ? 4 : 1.5, radius: 3, size: 22, weight: 600 }))),
      text(x(step) + 2 * cell, y(3) + high + 24, say.counter(step), { size: 22, weight: 600, fill: colours.communication }),
      step === 0 ? '' : held.map((_, rank) => rank === 0 ? arrow([[x(step) - 28, y(3) + high / 2], [x(step) - 6, y(0) + high / 2]], { stroke: colours.communication, line: 2, dash: '4 4' })
        : arrow([[x(step) - 28, y(rank - 1) + high / 2], [x(step) - 6, y(rank) + high / 2]], { stroke: colours.communication, line: 2 })),
    ]),
    text(0, y(3) + high + 24, say.sent, { anchor: 'start', size: 22, weight: 600, fill: colours.communication }),
    text(0, 506, say.bytes, { anchor: 'start', size: 25, weight: 600 }));
}
