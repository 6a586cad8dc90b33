// SPDX-License-Identifier: Apache-2.0
// What pictures promise: each is shown once, shows the figures of its heading, and says of how few runs a point is.
import { languages } from '../build/deck.mjs';
import { withNumbers } from '../build/numbers.mjs';
import { picture } from '../build/page.mjs';
import { Problem, gatherProblems } from '../build/problem.mjs';
import { resultsOf, spreadsIn } from '../build/results.mjs';

const enoughRuns = 3;

/** Throws a problem that names each picture of these decks that is shown twice, contradicts its heading, or hides how few runs it stands on. */
export async function refuseFalsePictures(decks, drawn = picture) {
  const shown = new Map();
  const uses = decks.flatMap((deck) => deck.slides.flatMap((slide) => (slide.frame > 1 ? [] : namesIn(slide.en.body)).map((name) => ({ deck, slide, name }))));
  await gatherProblems(uses, async ({ deck, slide, name }) => {
    const refuse = (sentence) => { throw new Problem(sentence, deck.path, slide.line); };
    const first = shown.get(name);
    if (first) refuse(`The slide ${slide.id} shows the picture ${name} once more; ${first} has it. A second look at it wants a picture of its own, or none.`);
    shown.set(name, `${deck.name}'s slide ${slide.id}`);
    const silent = resultsOf(name).find(({ command }) => !command);
    if (silent) refuse(`A result that the picture ${name} draws, of ${silent.date}, doesn't say which command made it ("command"): the notes show that.`);
    const runs = fewestRuns(name);
    for (const language of languages) {
      const svg = await drawn(name, language), words = textOf(svg);
      const heading = withNumbers(slide[language].body.split('\n')[0], deck.numbers).replace(/`[^`]*`|\d+つ/g, '');  // a count (6つ) needs no picture
      const missing = (heading.match(/\d+(?:\.\d+)?/g) ?? []).find((number) => !words.match(/\d+(?:\.\d+)?/g)?.includes(number));
      if (missing) refuse(`The heading of ${slide.id} in ${language} says ${missing}, and its picture ${name} doesn't show that.`);
      if (runs < enoughRuns && !/class="few-runs"/.test(svg)) {
        refuse(`The picture ${name} has points of ${runs} ${runs === 1 ? 'run' : 'runs'}: measure ${enoughRuns}, or say so in the picture (a text of class few-runs).`);
      }
    }
  });
}

const namesIn = (body) => [...body.matchAll(/\]\(picture:(\w+)\)/g)].map(([, name]) => name);

const textOf = (svg) => [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, words]) => words).join('\n');

/** How many runs its worst point stands on; Infinity for a diagram. */
const fewestRuns = (name) => Math.min(...resultsOf(name).flatMap(spreadsIn).map(({ values }) => values.length));
