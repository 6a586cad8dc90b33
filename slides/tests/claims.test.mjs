// SPDX-License-Identifier: Apache-2.0
// What pictures and timetables promise.
import assert from 'node:assert/strict';
import test from 'node:test';
import { marpText } from '../build/page.mjs';
import { readComputed, readResult, showInstead } from '../build/results.mjs';
import { ringSeconds, treeSeconds } from '../build/ring.mjs';
import { vgg } from '../build/vgg.mjs';
import { refuseFalsePictures } from '../check/pictures.mjs';
import { refuseWrongTimes } from '../check/times.mjs';
import { fitted, linesOf } from '../pictures/fixed_part.mjs';
import { causes } from '../pictures/where_it_went.mjs';
import { predicted, scaling } from '../results/scaling.mjs';
import { curvesOf, simulation } from '../results/simulation.mjs';
import { streams, timelinesOf } from '../results/streams.mjs';
import { deckOf, saying, slideText } from './fixtures.mjs';

const withPicture = (id, name, heading = 'A') => slideText({ id, en: `## ${heading}\n![x](picture:${name})`, ja: `## ${heading}\n![x](picture:${name})` });

test('A picture is shown once, with the figures of its heading', async (t) => {
  await refuseFalsePictures([await deckOf(t, withPicture('one', 'gather'), withPicture('two', 'nvlink_pcie', '7 ms or 25'))]);
  await assert.rejects(async () => refuseFalsePictures([await deckOf(t, withPicture('one', 'gather'), withPicture('two', 'gather'))]), saying('slide two shows the picture gather once more', '9_test\'s slide one has it'));
  await assert.rejects(async () => refuseFalsePictures([await deckOf(t, withPicture('one', 'nvlink_pcie', '7 ms or 24'))]), saying('says 24', "nvlink_pcie doesn't show that"));
});

test('A chart of fewer than three runs says so', async (t) => {
  const deck = await deckOf(t, withPicture('one', 'batch_accuracy')), recorded = readResult('batch_accuracy.json');
  await refuseFalsePictures([deck]);
  t.after(() => showInstead('batch_accuracy.json', recorded));
  showInstead('batch_accuracy.json', { ...recorded, seeds: 5, points: recorded.points.map((point) => ({ ...point, accuracy: { ...point.accuracy, values: [0.4] } })) });
  await assert.rejects(refuseFalsePictures([deck]), saying('points of 1 run', 'measure 3'));
  await refuseFalsePictures([deck], async () => '<svg><text class="few-runs">1 run</text></svg>');
});

test('A chart has the command that made it in the notes', async (t) => {
  const text = await marpText(await deckOf(t, withPicture('one', 'exchange_time'), withPicture('two', 'closing'), withPicture('three', 'gather')), 'en');
  assert.deepEqual(text.match(/(?<=Chart made by: ).*/g), [readResult('exchange.json').command, readResult('opening.json').command]);
  const recorded = readResult('opening.json');
  t.after(() => showInstead('opening.json', recorded));
  showInstead('opening.json', { machine: {}, date: '2026-01-31', runs: [] });
  await assert.rejects(async () => refuseFalsePictures([await deckOf(t, withPicture('one', 'closing'))], async () => '<svg></svg>'), saying('of 2026-01-31', "doesn't say which command made it"));
});

test('A deck takes the time that a timetable gives it', async (t) => {
  const table = (end, ...rows) => `## Until ${end}\n\n| from | what | deck |\n|---|---|---|\n${rows.map((row) => `| ${row} |`).join('\n')}`;
  const deckWith = async (text) => [await deckOf(t, slideText({ words: 'one, 40 min', en: text, ja: text }))];
  await refuseWrongTimes(await deckWith(table('10:00', '09:00 | a | 9', '09:30 | *break* | –', '09:40 | b | 9')));
  await assert.rejects(async () => refuseWrongTimes(await deckWith(table('10:00', '09:30 | a | 9'))), saying('gives deck 9 30 minutes, and its slides take 40'));
  await assert.rejects(async () => refuseWrongTimes(await deckWith(table('10:00', '09:00 | a | 9'))), saying('60 minutes', 'at most 10 may be left over'));
  await assert.rejects(async () => refuseWrongTimes(await deckWith(table('10:00', '09:40 | a | 9', '09:20 | b | –'))), saying('the row of 9:40 ends before it begins'));
});

test('The seconds of 2018 give lines whose limit is not two', () => {
  assert.deepEqual(fitted([[0, 1], [2, 5], [4, 9]]), [1, 2]);
  const { one, two, limit, speedup } = linesOf([[4, 193.17], [50, 2394.27]], [[4, 114.01], [50, 1297.95]]);
  assert.deepEqual([...one, ...two, limit].map((x) => x.toFixed(2)), ['1.77', '47.85', '11.06', '25.74', '1.86']);
  assert.ok(Math.abs(speedup(193.17) - 193.17 / 114.01) < 1e-9);
});

test('Where the speedup went adds up, cause by cause', () => {
  const span = (name, device, us) => ({ name, device, us });
  const trace = { tasks: [{ task: 'multi_gpu', iterations_us: [[0, 100]], spans: [span('forward', 0, 60), span('forward', 1, 80), span('gather', 0, 5)] }] };
  const { ideal, evaluate, wait, exchange, measured } = causes({ runs: [{ devices: 2, speedup: { median: 1.2 } }] }, trace);
  assert.deepEqual([ideal, measured], [2, 1.2]);
  assert.ok(Math.abs(evaluate - (16 / 15) / (1 / 2 + 1 / 15)) < 1e-9);
  assert.ok(Math.abs(wait - (16 / 15) / (1 / 2 * 80 / 70 + 1 / 15)) < 1e-9 && exchange < wait);
});

test('The curves of scaling are what ./odori predict computes', () => {
  assert.deepEqual(readComputed('scaling.json'), JSON.parse(JSON.stringify(scaling())), 'slides/results/scaling.mjs writes the file anew');
});

test("The streams of task 7 run as its program prints it", () => {
  const [one, other] = timelinesOf('Yours: 2.00 ms\n  compute       |ff11|\n  communication |   1|\nWith one event: 0.90 ms\n  compute       |f1  |\n  communication | 1  |\n');
  assert.deepEqual(one, { title: 'Yours', milliseconds: 2, compute: [{ mark: 'f', begin: 0, end: 1 }, { mark: '1', begin: 1, end: 2 }], communication: [{ mark: '1', begin: 1.5, end: 2 }] });
  assert.deepEqual(other.compute[1], { mark: '1', begin: 0.5, end: 0.9 });
  assert.throws(() => timelinesOf('Yours: 2.00 ms\n'), /two timelines, not 0/);
  assert.deepEqual(readComputed('streams.json'), streams(), 'slides/results/streams.mjs writes the file again');
});

test('Communicators send what the notes of their chart say', () => {
  const { gradient_bytes: bytes, exchanges } = readResult('compare.json'), sent = (name) => exchanges.find((one) => one.name === name).sent_to_other_nodes;
  const most = (what) => exchanges.filter(({ sent_to_other_nodes: to }) => to).sort((a, b) => b.sent_to_other_nodes[what] - a.sent_to_other_nodes[what])[0].name;
  assert.deepEqual([most('messages'), most('bytes')], ['naive', 'ring']);
  assert.deepEqual(['hierarchical', 'flat'].map((name) => (sent(name).bytes / bytes).toFixed(2)), ['1.00', '0.50']);
});

test('An all-reduce takes on slides what ./odori predict says', () => {
  for (const [communicator, secondsOf] of [['ring', ringSeconds], ['tree', treeSeconds]]) {
    const { between, gradients, scaling: rows } = predicted(['--model', 'vgg', '--image-size', 32, '--batchsize', 1, '--timings', '1:1,2:2', '--nodes', 8, '--network', '10gbit,50us', '--communicator', communicator]);
    assert.equal(vgg(32).bytes, gradients);
    assert.equal(rows.length, 4);
    for (const { devices, weak } of rows) {
      const seconds = secondsOf(devices, gradients, between.bandwidth / 1.25e8, between.latency);
      assert.ok(Math.abs(seconds - weak.exchange) < 1e-9, `${communicator}, ${devices} devices: ${seconds} s, not ${weak.exchange}`);
    }
  }
});

test("Exercise 06's formulas are those of the slides", () => {
  const { curve, model, network, within, devices_per_node } = readResult('prediction.json'), bytes = 4 * 551136;  // of lib/model/mid.cpp
  assert.deepEqual([model, network, within], ['mid', '10gbit,50us', '100gbit,5us']);
  for (const { devices, ring } of curve) {
    const milliseconds = 1000 * (devices > devices_per_node ? ringSeconds(devices, bytes, 10, 50e-6) : ringSeconds(devices, bytes, 100, 5e-6));
    assert.ok(Math.abs(milliseconds - ring) < 1e-3, `${devices} devices: ${milliseconds} ms, not ${ring}`);
  }
});

test("Task 3's ring and the kit's tree take as long on simulated ranks as the program says, and as the formulas do", () => {
  const { points } = readComputed('simulation.json');
  for (const point of points)
    for (const name of ['ring', 'tree']) assert.ok(Math.abs(point[name] - point[`${name}_formula`]) < 0.01 * point[name], `${name}, ${point.ranks} ranks`);
  assert.ok(points.at(-1).tree < points.at(-1).ring && points[3].tree < 1.05 * points[3].ring);
  assert.deepEqual(readComputed('simulation.json'), simulation(), 'slides/results/simulation.mjs writes the file again');
  assert.throws(() => curvesOf('nothing'), /seven columns/);
});
