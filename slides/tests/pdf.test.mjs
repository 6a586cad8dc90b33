// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { PDFDict, PDFDocument, PDFName } from 'pdf-lib';
import { refuseIncompletePdf } from '../check/pdf.mjs';
import { render } from '../build/render.mjs';
import { deckOf, saying, scratch, slideText } from './fixtures.mjs';

test('A PDF holds a page with notes for each slide, and is refused where it does not', { timeout: 200000 }, async (t) => {
  const deck = await deckOf(t, slideText({}), slideText({ id: 'two' }));
  const [path] = await render([deck], ['ja'], ['pdf'], scratch(t));
  await refuseIncompletePdf(path, deck);
  await assert.rejects(refuseIncompletePdf(path, { ...deck, slides: deck.slides.slice(1) }), saying('has 2 pages; its deck has 1 slides'));
  const document = await PDFDocument.load(readFileSync(path)), page = document.getPage(1);
  for (const reference of page.node.Annots().asArray()) document.context.lookup(reference, PDFDict).delete(PDFName.of('AP'));
  writeFileSync(path, await document.save());
  await assert.rejects(refuseIncompletePdf(path, deck), saying("draws a note's icon upon page 2, the slide two"));
});
