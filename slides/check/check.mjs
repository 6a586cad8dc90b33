// SPDX-License-Identifier: Apache-2.0
// All that a deck is held to, each part by a name of its own.
import { languages, refuseOldTranslations } from '../build/deck.mjs';
import { gatherProblems } from '../build/problem.mjs';
import { render } from '../build/render.mjs';
import { refuseUnreadablePages } from './layout.mjs';
import { handbook, refuseDeadMentions } from './mentions.mjs';
import { refuseTypedFigures } from './numbers.mjs';
import { refuseIncompletePdf } from './pdf.mjs';
import { refuseFalsePictures } from './pictures.mjs';
import { refuseWrongTimes } from './times.mjs';

/**
 * The checks by name; each takes decks and a folder to build into, and throws a problem that names every fault. That both
 * languages have the same slides is read with the deck; that code, pictures and numbers exist shows when it is built.
 */
export const checks = {
  translations: (decks) => gatherProblems(decks, refuseOldTranslations),
  mentions: (decks) => gatherProblems([...decks, handbook()], refuseDeadMentions),
  numbers: (decks) => gatherProblems(decks, refuseTypedFigures),
  pictures: (decks) => refuseFalsePictures(decks),
  times: (decks) => refuseWrongTimes(decks),
  layout: async (decks, folder) => {
    const pages = await render(decks, languages, ['html'], folder);
    await refuseUnreadablePages(pages, decks.flatMap((deck) => languages.map(() => deck)));
  },
  // Printing takes longest of all: of several decks each has its turn in one language.
  pdf: async (decks, folder) => {
    for (const [turn, language] of languages.entries()) {
      const printed = decks.filter((_, i) => decks.length === 1 || i % languages.length === turn);
      const files = await render(printed, [language], ['pdf'], folder);
      for (const [i, file] of files.entries()) await refuseIncompletePdf(file, printed[i]);
    }
  },
};
