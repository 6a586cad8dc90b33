// SPDX-License-Identifier: Apache-2.0
// From decks to files: Marp does the work, Debian's Chromium prints.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PDFDict, PDFDocument, PDFName } from 'pdf-lib';
import { asCss } from '../theme/palette.mjs';
import { marpText } from './page.mjs';
import { Problem, kit } from './problem.mjs';

/** Where Chromium is; `chromiumPath()` throws a problem where it isn't. */
export function chromiumPath() {
  const candidates = process.env.CHROME_PATH ? [process.env.CHROME_PATH] : ["/usr/bin/chromium"];
  const path = candidates.find((candidate) => candidate && existsSync(candidate));
  if (!path) throw new Problem('There is no Chromium here, which prints the slides: install chromium, or name it in CHROME_PATH.');
  return path;
}

/** Chromium doesn't put root into its sandbox; it opens nothing but the kit's own pages here. */
export const asRoot = process.getuid?.() === 0;

/**
 * Writes each deck in each language into `folder`, as DECK.LANGUAGE.html or .pdf by `formats`, and returns the files' paths.
 * Throws a problem where a deck can't be built.
 */
export async function render(decks, languages, formats, folder) {
  const texts = join(folder, 'marp');
  rmSync(texts, { recursive: true, force: true });
  mkdirSync(texts, { recursive: true });
  const theme = join(texts, 'odori.css');
  writeFileSync(theme, `/* @theme odori */\n${asCss()}${readFileSync(join(kit, 'slides/theme/odori.css'))}`);
  const names = [];
  for (const deck of decks) {
    for (const language of languages) {
      names.push(`${deck.name}.${language}`);
      writeFileSync(join(texts, `${names.at(-1)}.md`), await marpText(deck, language));
    }
  }
  for (const format of formats) marp(texts, folder, theme, format);
  if (formats.includes('pdf')) for (const name of names) await hideIcons(join(folder, `${name}.pdf`));
  return formats.flatMap((format) => names.map((name) => join(folder, `${name}.${format}`)));
}

/** Notes are annotations, which viewers list; the icon that each draws upon its slide is replaced by an empty appearance. */
async function hideIcons(path) {
  const document = await PDFDocument.load(readFileSync(path), { updateMetadata: false });
  const empty = document.context.register(document.context.stream('', { Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 0, 0] }));
  for (const page of document.getPages()) {
    for (const reference of page.node.Annots()?.asArray() ?? []) {
      const annotation = document.context.lookup(reference, PDFDict);
      if (annotation.get(PDFName.of('Subtype')) !== PDFName.of('Text')) continue;
      annotation.set(PDFName.of('AP'), document.context.obj({ N: empty }));
      annotation.set(PDFName.of('Rect'), document.context.obj([0, 0, 0, 0]));
    }
  }
  writeFileSync(path, await document.save());
}

function marp(texts, folder, theme, format) {
  const flags = ['--input-dir', texts, '--output', folder, '--theme', theme, '--html', '--no-config-file', '--no-stdin', '--parallel', '2'];
  if (format === 'pdf') flags.push('--pdf', '--pdf-notes', '--pdf-outlines', '--browser', 'chrome', '--browser-path', chromiumPath(), '--browser-timeout', '120');
  const environment = { ...process.env, ...(asRoot && { CHROME_NO_SANDBOX: '1' }) };
  const program = join(kit, 'slides/node_modules/@marp-team/marp-cli/marp-cli.js');
  const { status, stderr } = spawnSync(process.execPath, [program, ...flags], { encoding: 'utf8', env: environment });
  if (status !== 0) throw new Problem(`Marp could not write the ${format.toUpperCase()} files:\n${stderr}`);
}
