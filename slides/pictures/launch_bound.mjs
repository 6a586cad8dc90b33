// SPDX-License-Identifier: Apache-2.0
// Small batches: the GPU waits for the host's launches. Large ones: the host waits for the GPU.
import { colours, legend, picture, text } from './parts/svg.mjs';
import { lanes, timeAxis } from './parts/lanes.mjs';

const words = {
  en: { small: 'Small batch: the host is the limit', large: 'Large batch: the GPU is the limit', host: 'host', gpu: 'GPU', launch: 'launch', kernel: 'kernel', idle: 'waiting', time: 'time' },
  ja: { small: 'バッチが小さい：ホストが律速', large: 'バッチが大きい：GPU が律速', host: 'ホスト', gpu: 'GPU', launch: '起動', kernel: 'カーネル', idle: '待ち', time: '時間' },
};

export default function draw(language) {
  const say = words[language], labels = 110, launch = 1, end = 16, unit = 1000 / end;
  const rows = (kernel, n) => {
    const launches = Array.from({ length: n }, (_, k) => ({ kind: 'load', begin: k * launch, end: (k + 1) * launch, label: String(k + 1) }));
    let free = 0;
    const kernels = launches.map((one, k) => {
      const begin = Math.max(free, one.end);
      free = begin + kernel;
      return { kind: 'compute', begin, end: free, label: String(k + 1) };
    });
    return [{ label: say.host, spans: launches }, { label: say.gpu, spans: kernels }];
  };
  const group = (y, title, spans) => [text(0, y, title, { anchor: 'start', size: 26, weight: 700 }),
    lanes(spans, { y: y + 26, labels, unit, height: 62, gap: 8, size: 24, until: end, ground: colours.waiting })];
  return picture(1160, 540, group(18, say.small, rows(0.45, 15)), group(222, say.large, rows(3, 5)),
    timeAxis(labels, 410, end * unit - 60, say.time),
    legend(labels, 478, [[colours.load, say.launch], [colours.compute, say.kernel], [colours.waiting, say.idle]], { size: 24 }));
}
