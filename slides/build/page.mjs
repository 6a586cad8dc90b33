// SPDX-License-Identifier: Apache-2.0
// From a deck's text to Marp's Markdown in one language: code, pictures and numbers put in, times written into the notes.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { codeSize, columnsOf, columnsOn, roomySize } from './code_size.mjs';
import { excerpt } from './excerpts.mjs';
import { withoutLongLines } from './long_lines.mjs';
import { Problem, kit } from './problem.mjs';
import { originsOf, withNumbers } from './numbers.mjs';
import { readQuoted, readResult, resultsOf } from './results.mjs';

/** Marp's Markdown of a deck in one language. */
export async function marpText(deck, language) {
  const total = deck.slides.reduce((sum, { minutes }) => sum + minutes, 0);
  const title = JSON.stringify(deck.title[language]);
  const pages = [];
  let elapsed = 0;
  for (const slide of deck.slides) {
    elapsed += slide.minutes;
    const part = slide[language];
    const body = await withProblemsPlaced(deck.path, part.line, () => bodyOf(part.body, slide, language, deck.numbers));
    const notes = [timing[language](slide.minutes, elapsed, total), ...chartsMadeBy(part.body, language), await withProblemsPlaced(deck.path, part.line, () => withNumbers(part.notes, deck.numbers))].join('\n\n').replaceAll('-->', '→');
    pages.push([`<!-- _class: "${slide.classes}" -->`, `<div id="${slide.id}"></div>`, body, `<!--\n${notes}\n-->`].join('\n\n'));
  }
  const settings = `marp: true\ntheme: odori\nlang: ${language}\ntitle: ${title}\npaginate: true`;
  return `---\n${settings}\n---\n\n${pages.join('\n\n---\n\n')}\n`;
}

const timing = {
  en: (minutes, elapsed, total) => `${minutes} min (then ${elapsed} of ${total} min have passed)`,
  ja: (minutes, elapsed, total) => `${minutes}分(ここまでで全${total}分のうち${elapsed}分)`,
};

/** In the notes: the commands that made what this slide's charts show. */
function chartsMadeBy(body, language) {
  const commands = new Set([...body.matchAll(/\]\(picture:(\w+)\)/g)].flatMap(([, name]) => resultsOf(name)).map(({ command }) => command).filter(Boolean));
  return commands.size ? [`${{ en: 'Chart made by: ', ja: '図のコマンド：' }[language]}${[...commands].join('; ')}`] : [];
}

async function withProblemsPlaced(path, line, work) {
  try {
    return await work();
  } catch (problem) {
    throw problem instanceof Problem ? new Problem(problem.message, path, line) : problem;
  }
}

async function bodyOf(body, { classes, frame }, language, numbers) {
  const lines = [];
  const given = body.split('\n');
  const nTextLines = given.filter((line) => line.trim() && !line.startsWith('<!--') && !/^\|[-| :]+\|$/.test(line)).length - 1;
  const excerpts = given.map((line) => /^<!-- code: (.*) -->$/.exec(line)?.[1]).filter(Boolean).map(excerpt);
  const brokenFor = (size) => excerpts.map(({ text, language: highlighting }) => withoutLongLines(text, columnsOn(classes, size), highlighting));
  const codes = codeSize(brokenFor(roomySize), classes, nTextLines) < roomySize ? brokenFor() : brokenFor(roomySize);
  let shown = 0;
  for (const line of given) {
    const code = /^<!-- code: (.*) -->$/.exec(line);
    const picture = /^!\[(.+)\]\(picture:(\w+)\)$/.exec(line);
    if (code) {
      lines.push(`\`\`\`\`${excerpts[shown].language}`, codes[shown++], '````');
    } else if (picture) {
      lines.push(await figure(picture[1], picture[2], language, frame));
    } else if (/^<!-- (?!column)/.test(line)) {
      throw new Problem(`"${line}" is no directive; there are code and column.`);
    } else {
      lines.push(withoutBadBreaks(withLocalLinks(withNumbers(line, numbers))));
    }
  }
  const style = codes.length ? `\n\n<style scoped>pre { font-size: ${codeSize(codes, classes, nTextLines)}px; }</style>` : '';
  return inColumns(lines.join('\n')) + style + largerType(body, classes, codes.join('\n').split('\n').length * Boolean(codes.length), language) + sourceLine(body, language, numbers);
}

/** Text as large as its slide bears: sizes of text and table, from what its lines take. Beside code it is as large as ever. */
function largerType(body, classes, nCodeLines, language) {
  if (/split|picture|wide/.test(classes) || (classes && !nCodeLines)) return '';
  const fences = body.match(/^(`{3,}).*?^\1$/gms) ?? [], lines = withNumbersLeftOut(body.replace(/^(`{3,}).*?^\1$/gms, '')).split('\n').slice(1).filter((line) => line.trim() && !/^<!--|^\|[-| :]+\|$/.test(line));
  if (nCodeLines) return lines.length <= 3 && nCodeLines <= 9 ? `\n\n<style scoped>section { font-size: ${lines.length < 3 ? 40 : 38}px; }</style>` : '';
  const rows = lines.filter((line) => line.startsWith('|')), text = lines.filter((line) => !line.startsWith('|'));
  const leading = language === 'ja' ? 1.6 : 1.5;
  const heightAt = (size) => fences.reduce((sum, fence) => sum + 70 + (fence.split('\n').length - 2) * size * 1.35, 0) +
    rows.reduce((sum, row) => sum + Math.ceil((columnsOf(row) * 0.8 * size * 0.5 + 36 * row.split('|').length) / 1200) * 0.8 * size * 1.35 + 24, 0) +
    text.reduce((sum, line) => sum + line.split('<br>').reduce((n, part) => n + Math.ceil(columnsOf(part) * size * 0.5 / 1120), 0) * size * leading + (classes ? 16 : 0.65 * size), 0);
  const size = [46, 44, 42, 40, 38].find((one) => heightAt(one) * (language === 'ja' ? 1.1 : 1) < (body.includes('quoted') ? 480 : 520));
  return size ? `\n\n<style scoped>section { font-size: ${size}px; } table { font-size: ${Math.round(0.8 * size)}px; }</style>` : '';
}

const withNumbersLeftOut = (text) => text.replace(/\{\{.*?\}\}/g, '1,000').replace(/\]\([^)]*\)/g, '').replace(/[*`]/g, '');

const originWords = { en: { quoted: 'Quoted: ', measured: 'Measured: ', cores: 'cores' }, ja: { quoted: '引用：', measured: '実測：', cores: 'コア' } };

/** At a slide's foot: who printed, or what machine measured, the numbers of its text. */
function sourceLine(body, language, numbers) {
  const say = originWords[language], { files, quoted } = originsOf(body, numbers);
  const named = quoted.map((name) => readQuoted()[name].source[language]).join(language === 'ja' ? '；' : '; ');
  const machines = new Set(files.map((file) => readResult(file)).map(({ machine, date }) => `${say.measured}${machine.cpu}, ${machine.cores} ${say.cores}, ${date.split(' ')[0]}`));
  const sources = [...(named ? [say.quoted + named] : []), ...machines];
  return sources.length ? `\n\n<div class="source">${sources.join(' · ')}</div>` : '';
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
async function figure(caption, name, language, frame) {
  const image = Buffer.from(await picture(name, language, frame)).toString('base64');
  const alt = caption.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `<figure><img alt="${alt}" src="data:image/svg+xml;base64,${image}"></figure>`;
}

/** The SVG that pictures/NAME.mjs draws in this language, of a slide's frames this one. */
export async function picture(name, language, frame) {
  const path = join(kit, 'slides/pictures', `${name}.mjs`);
  if (!existsSync(path)) throw new Problem(`There is no slides/pictures/${name}.mjs to draw the picture ${name}.`);
  const { default: draw } = await import(pathToFileURL(path));
  const svg = String(await draw(language, frame)).trim();
  if (!svg.startsWith('<svg') || !svg.includes('xmlns=') || !svg.includes('viewBox=')) {
    throw new Problem(`slides/pictures/${name}.mjs should return <svg xmlns="..." viewBox="...">; it returned "${svg.slice(0, 60)}".`);
  }
  return svg;
}
