// SPDX-License-Identifier: Apache-2.0
// What an audience would meet: each page is opened in headless Chromium and measured there.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';
import { Problem } from '../build/problem.mjs';
import { asRoot, chromiumPath } from '../build/render.mjs';
import { withNumbers } from '../build/numbers.mjs';

/** In pixels of a slide of 1280 x 720; `contrast` is WCAG's ratio; `textOverlap` is what boxes of neighbouring labels may share;
 * the foot is the page number's;
 * `empty` is the share of the height on which nothing stands, but for the `spacing` between lines. */
export const limits = { margin: 24, foot: 40, bodyText: 28, text: 20, sourceText: 18, contrast: 4.5, textOverlap: 3, empty: 0.45, spacing: 40 };

const patience = 120_000; // milliseconds: tests share their machine

const measure = readFileSync(new URL('measure.js', import.meta.url), 'utf8');

/**
 * Opens each page (the path of an HTML file), which should show the slides of the deck at the same place in `decks`, and returns
 * a sentence for each fault: "PAGE, slide ID: ...".
 */
export async function faultsOfPages(paths, decks) {
  const browser = await puppeteer.launch({ executablePath: chromiumPath(), args: asRoot ? ['--no-sandbox'] : [], timeout: patience });
  try {
    const faults = [];
    for (const [i, path] of paths.entries()) faults.push(...await faultsOfPage(browser, path, decks[i]));
    return faults;
  } finally {
    await browser.close();
  }
}

async function faultsOfPage(browser, path, deck) {
  const faults = [];
  const page = await browser.newPage();
  page.setDefaultTimeout(patience);
  await page.setViewport({ width: 1280, height: 720 });
  // A page that needs anything but itself isn't self-contained.
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const own = request.url() === pathToFileURL(path).href || request.url().startsWith('data:');
    if (!own) faults.push(`${basename(path)} asks for ${request.url().slice(0, 80)}: it should hold everything itself.`);
    if (own) request.continue();
    else request.abort();
  });
  page.on('pageerror', (error) => faults.push(`${basename(path)}: a script failed: ${error.message}`));
  await page.goto(pathToFileURL(path).href);
  await page.evaluate(() => Promise.all([document.fonts.ready, ...[...document.images].map((image) => image.decode().catch(() => {}))]));
  const { shown, faults: ofSlides } = await page.evaluate(`(${measure.replace(/;\s*$/, '')})(${JSON.stringify(limits)})`);
  const wanted = deck.slides.map(({ id }) => id);
  if (shown.join() !== wanted.join()) faults.push(`${basename(path)} shows the slides ${shown.join(', ')} instead of ${wanted.join(', ')}.`);
  const { language, notes } = await page.evaluate(() => ({
    language: document.documentElement.lang,
    notes: [...document.querySelectorAll('.bespoke-marp-note')].map((note) => note.textContent),
  }));
  deck.slides.forEach((slide, i) => {
    const said = compact(withNumbers(slide[language].notes, deck.numbers));
    if (!compact(notes[i] ?? '').endsWith(said)) faults.push(`${basename(path)}, slide ${slide.id}: the presenter's view lacks its notes, "${said.slice(0, 40)}".`);
  });
  for (const [id, sentences] of Object.entries(ofSlides)) {
    faults.push(...sentences.map((sentence) => `${basename(path)}, slide ${id}: ${sentence}`));
  }
  await page.close();
  return faults;
}

const compact = (text) => text.replace(/\s+/g, '');

/** Throws a problem that holds all faults of these pages. */
export async function refuseUnreadablePages(paths, decks) {
  const faults = await faultsOfPages(paths, decks);
  if (faults.length) throw new Problem(faults.join('\n'));
}
