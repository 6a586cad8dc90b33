// SPDX-License-Identifier: Apache-2.0
// Three ways between two GPUs of a node: NVLink, straight over PCIe, and through the host's memory.
import { readQuoted } from '../build/results.mjs';
import { arrow, box, colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { host: 'CPU and memory', titles: ['NVLink', 'PCIe, peer to peer', 'PCIe, through the host'], notes: ['P2P: from GPU to GPU', 'P2P: not through host memory', 'SHM: where P2P is off'], took: (ms, link) => `2018, ${link}: about ${ms} ms`, ways: 'an exchange between two GPUs, as the course\'s profiler showed it over NVLink and over PCIe' },
  ja: { host: 'CPU とメモリ', titles: ['NVLink', 'PCIe（P2P）', 'PCIe（ホスト経由）'], notes: ['P2P：GPU から GPU へ直接', 'P2P：ホストのメモリは通らない', 'SHM：P2P が使えないとき'], took: (ms, link) => `2018年、${link}：約 ${ms} ms`, ways: '2つの GPU の間の通信。講習会のプロファイラの画面から（NVLink と PCIe）' },
};

export default function draw(language) {
  const say = words[language], { exchange_ms: ms } = readQuoted().reedbush;
  const way = (i) => {
    const x = i * 400, used = (on) => ({ stroke: on ? colours.communication : colours.line, line: on ? 7 : 4 });
    return [text(x + 180, 22, say.titles[i], { size: 28, weight: 700 }),
      box(x + 70, 60, 220, 66, say.host, { fill: i === 2 ? '#ffffff' : colours.waiting, stroke: i === 2 ? colours.communication : 'none', line: 3, size: 24, weight: 600 }),
      box(x + 100, 176, 160, 52, 'PCIe', { fill: '#ffffff', stroke: i ? colours.communication : colours.soft, line: 3, size: 24, weight: 600 }), rule([[x + 180, 128], [x + 180, 174]], used(i === 2)),
      [0, 1].map((n) => [box(x + n * 230, 290, 130, 84, `GPU ${n}`, { fill: colours.backward, size: 26, weight: 700, radius: 12 }), rule([[x + 65 + n * 230, 288], [x + 140 + n * 80, 230]], used(i > 0))]),
      i ? '' : [318, 332, 346].map((y) => arrow([[x + 134, y], [x + 226, y]], { stroke: colours.communication, line: 5, head: 'both' })),
      text(x + 180, 404, say.notes[i], { size: 22 }), i < 2 ? text(i ? 780 : x + 180, 448, say.took(...(i ? [ms.pcie, 'PCIe'] : [ms.nvlink, 'NVLink'])), { size: 26, weight: 700 }) : ''];
  };
  return picture(1160, 500, [0, 1, 2].map(way), [380, 780].map((x) => rule([[x, 10], [x, 424]], { stroke: colours.line, line: 2 })), text(580, 488, say.ways, { size: 20, fill: colours.soft }));
}
