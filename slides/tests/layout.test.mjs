// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { faultsOfPages } from '../check/layout.mjs';
import { render } from '../build/render.mjs';
import { deckOf, scratch, slideText } from './fixtures.mjs';

const svg = (shapes) => {
  const image = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1160 500">${shapes}</svg>`).toString('base64');
  return `<figure><img alt="a test" src="data:image/svg+xml;base64,${image}"></figure>`;
};
const label = (words, more = '') => `<text x="100" y="100" font-size="24" ${more}>${words}</text>`;
const lines = (count) => Array.from({ length: count }, (_, i) => `- line ${i}`).join('\n');

// What a slide holds below its heading, and the fault to be found; without one, none may be.
const slides = {
  plain: [`Text, and \`code\`.\n\n${lines(6)}`],
  empty: ['Text.', /empty on \d+ % of its height; 45 % may be/],
  drawn: [svg(`<rect x="50" y="50" width="400" height="200" fill="#20263a"/>${label('on dark', 'fill="#fff"')}<text class="source" x="900" y="490" font-size="18">machine</text>`)],
  too_full: [lines(14), /leaves|too full|edge/],
  too_full_column: [`<!-- column -->\n${lines(13)}\n<!-- column -->\nText`, /edge|leaves|too full/],
  too_wide: ['<table style="display: table; width: 1400px"><tr><td>wide</td></tr></table>', /A table leaves the slide/],
  cut_off: [`<div style="overflow: hidden; height: 40px">\n\n${lines(3)}\n\n</div>`, /cuts off/],
  upon: ['<p style="height: 20px; margin: 0">one</p><p style="margin: -60px 0 0">two</p>', /lies upon/],
  small_text: ['<p style="font-size: 24px">small</p>', /"small" is body text of 24 pixels/],
  tiny_text: ['<table><tr><td style="font-size: 15px">tiny</td></tr></table>', /"tiny" is 15 pixels high/],
  pale: ['<p style="color: #aaa">pale</p>', /"pale" has a contrast of 2.3/],
  empty_picture: [svg('<rect').replace('</figure>', '</figure>'), /its SVG is broken/],
  small_label: [svg(label('little', 'style="font-size: 15px"')), /"little" is 15 pixels high/],
  pale_label: [svg(label('faint', 'fill="#ccc"')), /"faint" has a contrast/],
  dark_on_dark: [svg(`<rect width="800" height="300" fill="#20263a"/>${label('unseen')}`), /"unseen" has a contrast/],
  label_outside: [svg('<text x="1100" y="100" font-size="24">leaving it</text>'), /"leaving it" leaves the picture/],
  labels_collide: [svg(`${label('first')}${label('second')}`), /"second" lies upon "first"/],
  foreign: ['<img src="https://example.org/picture.png">', /asks for https:\/\/example.org/],
};

test('Each fault that an audience would meet is found, and only those', { timeout: 200000 }, async (t) => {
  const texts = Object.entries(slides).map(([id, [body]]) => slideText({ id, en: `## ${id}\n${body}` }));
  const deck = await deckOf(t, ...texts);
  const paths = await render([deck], ['en'], ['html'], scratch(t));
  const faults = await faultsOfPages(paths, [deck]);
  for (const [id, [, fault]] of Object.entries(slides)) {
    const found = faults.filter((sentence) => sentence.includes(`slide ${id}:`) || (id === 'foreign' && sentence.includes('asks for')));
    if (fault) assert.ok(found.some((sentence) => fault.test(sentence)), `${id}: ${fault} isn't in: ${found.join('\n') || 'nothing'}`);
    else assert.deepEqual(found, []);
  }
});

test('A page that lacks a slide of its deck is found', { timeout: 200000 }, async (t) => {
  const deck = await deckOf(t, slideText({}), slideText({ id: 'two' }));
  const paths = await render([{ ...deck, slides: deck.slides.slice(1) }], ['ja'], ['html'], scratch(t));
  assert.match((await faultsOfPages(paths, [deck])).join(), /shows the slides two instead of one, two/);
});

test('A presenter without notes is found', { timeout: 200000 }, async (t) => {
  const deck = await deckOf(t, slideText({ ja: `## 見出し\n${lines(7)}`, jaNotes: '話す: 一つ目\n\n- `code` と <b>' }));
  const paths = await render([deck], ['ja'], ['html'], scratch(t));
  assert.deepEqual(await faultsOfPages(paths, [deck]), []);
  const others = deck.slides.map((slide) => ({ ...slide, ja: { ...slide.ja, notes: '別の話' } }));
  assert.match((await faultsOfPages(paths, [{ ...deck, slides: others }])).join(), /slide one: the presenter's view lacks its notes, "別の話"/);
});
