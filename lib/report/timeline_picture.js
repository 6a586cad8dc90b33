// SPDX-License-Identifier: Apache-2.0
// The picture: a row a device, on a canvas, since a training has thousands of spans.
const canvas = document.querySelector("#picture canvas"), picture = document.getElementById("picture");
const tip = document.getElementById("tip"), family = getComputedStyle(document.body).fontFamily;
const kinds = data.kinds;  // of each name: "compute", "communication", or "" for what is neither
// Where communication goes on while a device computes, each has a lane of its own, as streams have in profilers.
const two_lanes = data.rows.some(row => row.hidden > .01 * row.iteration);
const axis = 60, laneHeight = two_lanes ? 34 : 46, pad = 6, gap = 16;
const rowHeight = (two_lanes ? 2 : 1) * laneHeight + 2 * pad + (two_lanes ? 3 : 0);
const height = axis + data.rows.length * (rowHeight + gap) - gap + 8;
const top_of = i => axis + i * (rowHeight + gap);
const laneTop = (name, y) => y + pad + (two_lanes && kinds[name] === "communication" ? laneHeight + 3 : 0);
const behind = name => data.names[name] === "evaluate";  // lies behind what it consists of
const n_iterations = Math.max(0, ...data.rows.map(row => row.iterations.length));

const firsts = data.rows.flatMap(row => [...row.spans.slice(0, 1).map(s => s[1]), ...row.iterations.slice(0, 1).map(i => i[0])]);
const begin = Math.min(...firsts);
const end = Math.max(begin + 1, ...data.rows.map(row => row.spans.reduce((most, s) => Math.max(most, s[1] + s[2]), 0)));
let width = 0, gutter = 0, scale = null, zoom = null, pointed = null;
const shade = name => css("--" + name);  // as of screen, dark screen or paper

/** From the first device's begin of iteration k to the last one's end. */
function timeOf(k) {
  const of = data.rows.map(row => row.iterations[k]).filter(Boolean);
  return [Math.min(...of.map(i => i[0])), Math.max(...of.map(i => i[1]))];
}
const zero = n_iterations ? timeOf(0)[0] : begin;  // the axis counts from the training's begin

/** Stripes of communication on waiting: in an all-reduce, until the last rank has come. */
function hatching(c) {
  const tile = document.createElement("canvas").getContext("2d");
  tile.canvas.width = tile.canvas.height = 8;
  tile.fillStyle = shade("waiting");
  tile.fillRect(0, 0, 8, 8);
  tile.strokeStyle = shade("communication");
  tile.lineWidth = 2;
  for (const x of [-8, 0, 8]) tile.stroke(new Path2D(`M${x} 8L${x + 8} 0`));
  return c.createPattern(tile.canvas, "repeat");
}

/** The part of an interval that is on the canvas, in pixels; null if none is. */
function onCanvas(from, to) {
  const a = Math.max(gutter, scale(from)), b = Math.min(width, scale(to));
  return b <= gutter || a >= width ? null : [a, b];
}

function drawTicks(c) {
  c.font = "12px " + family;
  c.textAlign = "center";
  c.textBaseline = "alphabetic";
  let free = gutter - 8;  // where the last words ended
  for (const tick of d3.ticks(scale.domain()[0] - zero, scale.domain()[1] - zero, Math.max(3, width / 130))) {
    const x = scale(tick + zero);
    if (x < gutter - 1 || x > width) continue;
    c.fillStyle = shade("line");
    c.fillRect(x, axis - 6, 1, height - axis);
    const words = tick === 0 ? "0" : (tick < 0 ? "−" : "") + duration(Math.abs(tick)).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");
    const half = c.measureText(words).width / 2;
    if (x - half < free || x + half > width) continue;
    c.fillStyle = shade("soft");
    c.fillText(words, x, 28);
    free = x + half + 10;
  }
}

/** A bracket an iteration with its number, and a line through all rows where it begins. */
function drawIterations(c) {
  const seen = [...Array(n_iterations).keys()].map(k => ({k, at: onCanvas(...timeOf(k))})).filter(one => one.at && one.at[1] - one.at[0] > 3);
  const words = k => t("iteration") + " " + (data.first_iteration + k + 1), short = k => String(data.first_iteration + k + 1);
  const fits = label => seen.every(({k, at: [a, b]}) => c.measureText(label(k)).width + 10 < b - a || a === gutter || b === width);
  const label = fits(words) ? words : short;
  for (const {k, at: [a, b]} of seen) {
    c.fillStyle = shade("one");
    c.fillRect(a + 1, 50, b - a - 2, 2);
    if (a > gutter) c.fillRect(a - .5, 50, 1, height - 50);
    c.fillStyle = shade("soft");
    if (c.measureText(label(k)).width + 6 < b - a) c.fillText(label(k), (a + b) / 2, 45);
  }
}

/** The whole training as a strip at the top, and which part of it is shown. */
function drawOverview(c) {
  const whole = baseScale();
  c.fillStyle = shade("lane");
  c.fillRect(gutter, 0, width - gutter, 9);
  for (let k = 0; k < n_iterations; ++k) {
    const [a, b] = timeOf(k).map(whole);
    c.fillStyle = shade(k % 2 ? "one" : "waiting");
    c.fillRect(a, 0, Math.max(.5, b - a), 9);
  }
  const [a, b] = scale.domain().map(whole);
  c.strokeStyle = shade("ink");
  c.lineWidth = 2;
  c.strokeRect(a + 1, 1, Math.max(4, b - a - 2), 7);
}

function words(c, [name, from, length, , wait], y) {
  const at = onCanvas(from + wait, from + length);
  if (!at) return;
  const label = t(data.names[name]), [a, b] = at;
  if (c.measureText(label).width + 10 > b - a) return;
  const second = b - a > 60 && laneHeight > 40;
  c.fillStyle = dark_words.has(data.names[name]) ? "#1d2433" : "#fff";
  c.fillText(label, (a + b) / 2, y + laneHeight / 2 - (second ? 7 : 0));
  if (second) c.fillText(duration(length), (a + b) / 2, y + laneHeight / 2 + 9);
}

function drawSpan(c, [name, from, length, , wait], y, hatched) {
  const under = behind(name);
  const transfer = [from + wait, from + length, colour(data.names[name])];
  for (const [begin, end, fill] of wait ? [[from, from + wait, hatched], transfer] : [transfer]) {
    const at = onCanvas(begin, end);
    if (!at) continue;
    const [a, b] = at, w = Math.max(1.2, b - a - (b - a > 4 ? .8 : 0));
    const box = under ? [a, y, w, rowHeight] : [a, laneTop(name, y), w, laneHeight];
    c.fillStyle = fill;
    c.beginPath();
    if (w > 5 && c.roundRect) c.roundRect(...box, 3); else c.rect(...box);
    c.fill();
  }
}

const label_font = "600 14px " + family;
/** In pixels: "rank 1023" is wider than "rank 7". */
function widestLabel() {
  const c = canvas.getContext("2d");
  c.font = label_font;
  return Math.ceil(Math.max(0, ...data.rows.map(row => c.measureText(rowLabel(row)[0]).width)));
}

function drawRow(c, row, i, hatched) {
  const y = top_of(i), [label, below] = rowLabel(row);
  c.fillStyle = shade("lane");
  c.fillRect(gutter, y, width - gutter, rowHeight);
  c.fillStyle = shade("waiting");
  for (const iteration of row.iterations) {
    const at = onCanvas(...iteration);
    if (at) c.fillRect(at[0], y, at[1] - at[0], rowHeight);
  }
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.font = "500 12px " + family;
  for (const span of row.spans) if (behind(span[0])) drawSpan(c, span, y);
  for (const span of row.spans) if (!behind(span[0])) drawSpan(c, span, y, hatched);
  for (const span of row.spans) if (!behind(span[0])) words(c, span, laneTop(span[0], y));
  c.textAlign = "left";
  c.fillStyle = shade("ink");
  c.font = label_font;
  c.fillText(label, 0, y + rowHeight / 2 - (below ? 9 : 0));
  c.fillStyle = shade("soft");
  c.font = "12px " + family;
  c.fillText(below, 0, y + rowHeight / 2 + 10);
}

/** An outline round the span that is pointed at, and round its counterparts on the other rows. */
function drawPointed(c) {
  if (!pointed) return;
  c.strokeStyle = shade("ink");
  for (const {row, span} of [pointed, ...counterparts(pointed)]) {
    const at = onCanvas(span[1], span[1] + span[2]), y = top_of(data.rows.indexOf(row));
    if (!at) continue;
    c.lineWidth = span === pointed.span ? 3 : 2;
    c.setLineDash(span === pointed.span ? [] : [5, 3]);
    c.strokeRect(at[0] - 1, laneTop(span[0], y) - 1, Math.max(3, at[1] - at[0] + 1), laneHeight + 2);
  }
  c.setLineDash([]);
}

function draw() {
  const c = canvas.getContext("2d"), density = Math.max(2, window.devicePixelRatio || 1);  // 2: crisp on paper
  canvas.width = width * density;
  canvas.height = height * density;
  canvas.style.height = height + "px";
  c.setTransform(density, 0, 0, density, 0, 0);
  c.fillStyle = shade("paper");
  c.fillRect(0, 0, width, height);
  const hatched = hatching(c);
  drawOverview(c);
  drawTicks(c);
  data.rows.forEach((row, i) => drawRow(c, row, i, hatched));
  c.font = "12px " + family;
  c.textAlign = "center";
  c.textBaseline = "alphabetic";
  drawIterations(c);
  drawPointed(c);
}
