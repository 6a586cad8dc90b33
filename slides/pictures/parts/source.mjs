// What a chart says of where its figures come from.
const words = { en: { cores: 'cores', trial: 'TRIAL FIGURES' }, ja: { cores: 'コア', trial: '試験値' } };

/** One line: on what machine and when it was measured. */
export const sourceOf = ({ machine, date, provisional }, language) =>
  `${provisional ? `${words[language].trial} · ` : ''}${machine.cpu}, ${machine.cores} ${words[language].cores}, ${machine.os} · ${date}`;
