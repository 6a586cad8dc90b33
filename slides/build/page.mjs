// From a deck's text to Marp's Markdown in one language: code, pictures and numbers put in, times written into the notes.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { codeSize, columnsOn } from './code_size.mjs';
import { excerpt } from './excerpts.mjs';
import { withoutLongLines } from './long_lines.mjs';
import { Problem, kit } from './problem.mjs';
import { withNumbers } from './results.mjs';

/** Marp's Markdown of a deck in one language. */
export async function marpText(deck, language) {
  const total = deck.slides.reduce((sum, { minutes }) => sum + minutes, 0);
  const title = JSON.stringify(deck.title[language]);
  const pages = [];
  let elapsed = 0;
  for (const slide of deck.slides) {
    elapsed += slide.minutes;
    const part = slide[language];
    const body = await withProblemsPlaced(deck.path, part.line, () => bodyOf(part.body, slide.classes, language));
    const notes = [timing[language](slide.minutes, elapsed, total), await withProblemsPlaced(deck.path, part.line, () => withNumbers(part.notes))].join('\n\n').replaceAll('-->', '→');
    pages.push([`<!-- _class: "${slide.classes}" -->`, `<div id="${slide.id}"></div>`, body, `<!--\n${notes}\n-->`].join('\n\n'));
  }
  const settings = `marp: true\ntheme: odori\nlang: ${language}\ntitle: ${title}\npaginate: true`;
  return `---\n${settings}\n---\n\n${pages.join('\n\n---\n\n')}\n`;
}

const timing = {
  en: (minutes, elapsed, total) => `${minutes} min (then ${elapsed} of ${total} min have passed)`,
  ja: (minutes, elapsed, total) => `${minutes}分(ここまでで全${total}分のうち${elapsed}分)`,
};

async function withProblemsPlaced(path, line, work) {
  try {
    return await work();
  } catch (problem) {
    throw problem instanceof Problem ? new Problem(problem.message, path, line) : problem;
  }
}

async function bodyOf(body, classes, language) {
  const lines = [];
  const codes = [];
  const given = body.split('\n');
  for (const line of given) {
    const code = /^<!-- code: (.*) -->$/.exec(line);
    const picture = /^!\[(.+)\]\(picture:(\w+)\)$/.exec(line);
    if (code) {
      const { text: whole, language: highlighting } = excerpt(code[1]);
      const text = withoutLongLines(whole, columnsOn(classes), highlighting);
      codes.push(text);
      lines.push(`\`\`\`\`${highlighting}`, text, '````');
    } else if (picture) {
      lines.push(await figure(picture[1], picture[2], language));
    } else if (/^<!-- (?!column)/.test(line)) {
      throw new Problem(`"${line}" is no directive; there are code and column.`);
    } else {
      lines.push(withoutBadBreaks(withLocalLinks(withNumbers(line))));
    }
  }
  const nTextLines = given.filter((line) => line.trim() && !line.startsWith('<!--') && !/^\|[-| :]+\|$/.test(line)).length - 1;
  const style = codes.length ? `\n\n<style scoped>pre { font-size: ${codeSize(codes, classes, nTextLines)}px; }</style>` : '';
  return inColumns(lines.join('\n')) + style;
}

/** Links are written from the kit's folder; the pages lie in out/slides/. */
const withLocalLinks = (line) => line.replace(/\]\((?!https?:|#)([^)]+)\)/g, '](../../$1)');

/** A number stays with what it counts, and 28 x 28 on one line. */
const withoutBadBreaks = (line) => line.replace(/(\d) (?=[\u3040-\u9fff])/g, '$1\u00a0').replace(/(\d) x (?=\d)/g, '$1\u00a0x\u00a0');

function inColumns(body) {
  const [heading, ...rest] = body.split('\n');
  const columns = rest.join('\n').split('<!-- column -->');
  if (columns.length === 1) return body;
  return [heading, '<div class="columns">', ...columns.map((column) => `<div>\n\n${column.trim()}\n\n</div>`), '</div>'].join('\n');
}

/** A picture as part of the page: one file is all that a deck is, and each picture keeps its own styles. */
async function figure(caption, name, language) {
  const image = Buffer.from(await picture(name, language)).toString('base64');
  const alt = caption.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `<figure><img alt="${alt}" src="data:image/svg+xml;base64,${image}"></figure>`;
}

/** The SVG that pictures/NAME.mjs draws in this language. */
export async function picture(name, language) {
  const path = join(kit, 'slides/pictures', `${name}.mjs`);
  if (!existsSync(path)) throw new Problem(`There is no slides/pictures/${name}.mjs to draw the picture ${name}.`);
  const { default: draw } = await import(pathToFileURL(path));
  const svg = String(await draw(language)).trim();
  if (!svg.startsWith('<svg') || !svg.includes('xmlns=') || !svg.includes('viewBox=')) {
    throw new Problem(`slides/pictures/${name}.mjs should return <svg xmlns="..." viewBox="...">; it returned "${svg.slice(0, 60)}".`);
  }
  return svg;
}
