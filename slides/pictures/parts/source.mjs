// SPDX-License-Identifier: Apache-2.0
// What a chart says of where its figures come from.
const words = {
  en: { cores: 'cores', trial: 'TRIAL FIGURES', stopped: 'stopped early', images: 'images', network: 'network', nodes: 'one machine plays the nodes' },
  ja: { cores: 'コア', trial: '試験値', stopped: '途中まで', images: '枚', network: 'ネットワーク', nodes: '1台でノードを模擬', 'JPEG copies': 'JPEG 版' },
};

/** One line: what was trained, on what machine, and when it was measured. */
export function sourceOf({ dataset, n_images: n, model, machine, date, simulated_nodes: simulated, provisional, stopped }, language) {
  const say = words[language];
  return [provisional && say.trial, stopped && say.stopped, dataset?.replace('JPEG copies', (copies) => say[copies] ?? copies), n && `${n.toLocaleString('en-US')}${language === 'ja' ? '' : ' '}${say.images}`, model && `${say.network} ${model}`, simulated && say.nodes,
    `${machine.cpu}, ${machine.cores} ${say.cores}`, date].filter(Boolean).join(' · ');
}

/** A link in words: "1 Gbit/s, 50 µs" for 1gbit,50us, as --link and --network take it, or for what ./odori compare writes of it. */
export const linkInWords = (link) => link.replace('gbit', ' Gbit/s').replace(/,(?! )/, ', ').replace(/ ?us/, ' µs');
