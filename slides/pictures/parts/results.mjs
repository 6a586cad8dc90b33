// Result files for charts: nothing is drawn without one.
import { existsSync, readFileSync } from 'node:fs';
import { Problem, kit } from '../../build/problem.mjs';

/** results/NAME.json. Throws a sentence if it isn't there, or holds trial figures where slides are built for others to see. */
export function readResult(name) {
  const path = `slides/results/${name}.json`;
  if (!existsSync(`${kit}/${path}`)) {
    throw new Problem(`There is no ${path}, so there is nothing to draw. slides/results/README.md says which command measures it.`);
  }
  const result = JSON.parse(readFileSync(`${kit}/${path}`, 'utf8'));
  if (!result.machine || !result.date) throw new Problem(`${path} doesn't say on what machine and when it was measured.`);
  if (result.provisional && process.env.CI) throw new Problem(`${path} holds trial figures ("provisional"); measure it on a quiet machine.`);
  return result;
}

const words = { en: { cores: 'cores', trial: 'TRIAL FIGURES' }, ja: { cores: 'コア', trial: '試験値' } };

/** One line: on what machine and when it was measured. */
export const sourceOf = ({ machine, date, provisional }, language) =>
  `${provisional ? `${words[language].trial} · ` : ''}${machine.cpu}, ${machine.cores} ${words[language].cores}, ${machine.os} · ${date}`;
