// SPDX-License-Identifier: Apache-2.0
// What a speaker prints from: every slide has its page, 16:9, with its notes, and without their icons.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { PDFDict, PDFDocument, PDFHexString, PDFName, PDFRawStream, PDFString } from 'pdf-lib';
import { Problem } from '../build/problem.mjs';

/** Throws a problem where the PDF of a deck doesn't hold one 16:9 page with notes for each of its slides. */
export async function refuseIncompletePdf(path, deck) {
  const pages = (await PDFDocument.load(readFileSync(path))).getPages();
  const refuse = (sentence) => { throw new Problem(`${basename(path)} ${sentence}`); };
  if (pages.length !== deck.slides.length) refuse(`has ${pages.length} pages; its deck has ${deck.slides.length} slides.`);
  pages.forEach((page, i) => {
    const { width, height } = page.getSize();
    if (Math.abs(width / height - 16 / 9) > 0.01) refuse(`has a page ${i + 1} of ${width} x ${height}, which isn't 16:9.`);
    if (!notesOf(page)) refuse(`has no notes on page ${i + 1}, the slide ${deck.slides[i].id}.`);
    if (annotationsOf(page).some(hasIcon)) refuse(`draws a note's icon upon page ${i + 1}, the slide ${deck.slides[i].id}.`);
  });
}

const annotationsOf = (page) => (page.node.Annots()?.asArray() ?? []).map((reference) => page.doc.context.lookup(reference, PDFDict));

/** A note is drawn as an icon unless it brings an appearance of its own, which is empty. */
function hasIcon(annotation) {
  if (annotation.get(PDFName.of('Subtype')) !== PDFName.of('Text')) return false;
  const drawn = annotation.lookupMaybe(PDFName.of('AP'), PDFDict)?.lookup(PDFName.of('N'));
  return !(drawn instanceof PDFRawStream) || drawn.getContentsSize() > 0;
}

function notesOf(page) {
  return annotationsOf(page).map((annotation) => annotation.lookup(PDFName.of('Contents')))
    .some((contents) => (contents instanceof PDFString || contents instanceof PDFHexString) && contents.decodeText().trim());
}
