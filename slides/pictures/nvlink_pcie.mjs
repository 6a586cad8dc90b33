// Two GPUs: joined by NVLink, or through the PCIe switch and the host.
import { arrow, box, colours, picture, rule, text } from './parts/svg.mjs';

const words = {
  en: { gpu: (n) => `GPU ${n}`, host: 'CPU and memory', nvlink: 'NVLink: straight to the other GPU', pcie: 'PCIe only: through switch and host', doctor: './odori doctor says which links there are' },
  ja: { gpu: (n) => `GPU ${n}`, host: 'CPU とメモリ', nvlink: 'NVLink：相手の GPU に直接', pcie: 'PCIe のみ：スイッチとホストを経由', doctor: 'どの経路があるかは ./odori doctor が教える' },
};

export default function draw(language) {
  const say = words[language];
  const pair = (x, title, nvlink) => [
    text(x + 262, 24, title, { size: 28, weight: 700, fill: nvlink ? colours.forward : colours.communication }),
    box(x + 142, 66, 240, 76, say.host, { fill: colours.waiting, size: 24, weight: 600 }),
    box(x + 172, 196, 180, 54, 'PCIe', { fill: '#ffffff', stroke: colours.soft, line: 3, size: 24, weight: 600 }),
    rule([[x + 262, 144], [x + 262, 194]], { stroke: nvlink ? colours.line : colours.communication, line: nvlink ? 4 : 7 }),
    [0, 1].map((n) => [box(x + n * 344, 316, 180, 96, say.gpu(n), { fill: colours.backward, size: 30, weight: 700, radius: 12 }),
      rule([[x + 90 + n * 344, 314], [x + 222 + n * 80, 252]], { stroke: nvlink ? colours.line : colours.communication, line: nvlink ? 4 : 7 })]),
    nvlink ? [344, 364, 384].map((y) => arrow([[x + 184, y], [x + 340, y]], { stroke: colours.forward, line: 5, head: 'both' })) : '',
  ];
  return picture(1160, 500, pair(0, say.nvlink, true), rule([[580, 10], [580, 430]], { stroke: colours.line, line: 2 }), pair(636, say.pcie, false),
    text(580, 472, say.doctor, { size: 26, fill: colours.soft }));
}
