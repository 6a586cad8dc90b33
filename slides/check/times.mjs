// SPDX-License-Identifier: Apache-2.0
// Minutes: each deck's slides fit into what the timetables of the instructors' deck give them, and leave little of it over.
import { Problem, gatherProblems } from '../build/problem.mjs';

const idle = 10; // minutes of a slot that no slide speaks for, at most
const row = /^\| (\d\d):(\d\d) \|(.*)\| (\S+) \|$/;

/** Throws a problem for each deck whose minutes don't add up to its slots in a timetable. A table's heading says when the day ends. */
export function refuseWrongTimes(decks) {
  const tables = decks.flatMap((deck) => deck.slides.flatMap((slide) => ['en', 'ja'].map((language) => tableOf(deck, slide, language)))).filter(({ rows }) => rows.length);
  return gatherProblems(tables, ({ deck, slide, language, rows, end }) => {
    const slots = new Map();
    rows.forEach(({ begin, of }, i) => {
      const length = (rows[i + 1]?.begin ?? end) - begin;
      if (!(length > 0)) throw new Problem(`In the timetable ${slide.id} the row of ${clock(begin)} ends before it begins.`, deck.path, slide[language].line);
      if (/^\d/.test(of)) slots.set(of, (slots.get(of) ?? 0) + length);
    });
    return gatherProblems([...slots], ([number, slot]) => {
      const spoken = decks.find(({ name }) => name.startsWith(`${number}_`));
      if (!spoken) return;
      const minutes = spoken.slides.reduce((sum, one) => sum + one.minutes, 0);
      if (minutes > slot || slot - minutes > idle) {
        throw new Problem(`The timetable ${slide.id} gives deck ${number} ${slot} minutes, and its slides take ${minutes}: at most ${idle} may be left over.`, deck.path, slide[language].line);
      }
    });
  });
}

function tableOf(deck, slide, language) {
  const { body } = slide[language], until = /(\d\d):(\d\d)/.exec(body.split('\n')[0]);
  const rows = body.split('\n').map((line) => row.exec(line)).filter(Boolean).map(([, hours, minutes, , of]) => ({ begin: hours * 60 + Number(minutes), of }));
  return { deck, slide, language, rows, end: until ? until[1] * 60 + Number(until[2]) : NaN };
}

const clock = (minutes) => `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
