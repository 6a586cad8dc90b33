// A pipeline of four stages and four micro-batches: all forward, then all backward; computed, idle places seen.
import { colours, legend, picture, text } from './parts/svg.mjs';
import { lanes, timeAxis } from './parts/lanes.mjs';

const words = {
  en: { stage: (n) => `device ${n}`, forward: 'forward', backward: 'backward', idle: 'idle', time: 'time', share: (p) => `idle: ${p} of the time, with 4 stages and 4 micro-batches` },
  ja: { stage: (n) => `デバイス${n}`, forward: '順伝播', backward: '逆伝播', idle: '空き', time: '時間', share: (p) => `空き：時間の${p}（4段、マイクロバッチ4個の場合）` },
};

export default function draw(language) {
  const say = words[language], stages = 4, batches = 4, back = 2;
  const forwardEnd = stages + batches - 1, end = forwardEnd + (stages + batches - 1) * back, unit = 990 / end;
  const rows = Array.from({ length: stages }, (_, stage) => {
    const spans = [];
    for (let batch = 0; batch < batches; ++batch) {
      spans.push({ kind: 'forward', begin: stage + batch, end: stage + batch + 1, label: String(batch + 1) });
      const begin = forwardEnd + (stages - 1 - stage + batch) * back;
      spans.push({ kind: 'backward', begin, end: begin + back, label: String(batch + 1) });
    }
    return { label: say.stage(stage), spans };
  });
  const idle = 1 - batches * (1 + back) / end;
  return picture(1160, 540,
    lanes(rows, { y: 10, labels: 150, unit, height: 74, gap: 18, size: 28, ground: colours.waiting }),
    timeAxis(150, 392, end * unit - 50, say.time),
    legend(150, 446, [[colours.forward, say.forward], [colours.backward, say.backward], [colours.waiting, say.idle]], { size: 24 }),
    text(150, 504, say.share(`${Math.round(100 * idle)} %`), { anchor: 'start', size: 28, weight: 700 }));
}
