// SPDX-License-Identifier: Apache-2.0
// Recorded spans: how they are read, and what pictures make of them.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { showInstead } from '../build/results.mjs';
import { frameOf, iterationsOf, readTrace } from '../build/traces.mjs';
import { exchangeOf } from '../pictures/overlap.mjs';
import { endsOf } from '../pictures/parts/frame.mjs';
import { splitAtLastArrival } from '../pictures/parts/trace.mjs';
import closing from '../pictures/closing.mjs';
import { saying, scratch } from './fixtures.mjs';

const event = (name, ts, dur, pid = 0, tid = 0) => JSON.stringify({ name, ph: 'X', ts, dur, pid, tid });
/** A stream whose end is missing. */
const write = (folder, rank, ...events) => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `trace.${rank}.json`), `[\n${events.join(',\n')},\n{"name":"upd`);
};
const training = [event('iteration', 1000, 100), event('forward', 1000, 60), event('evaluate', 1100, 50), event('forward', 1110, 20)];

test('A trace without its end is read; an evaluation is one piece', (t) => {
  const folder = scratch(t);
  assert.throws(() => readTrace(folder), saying('There is no trace in'));
  write(folder, 0, ...training);
  assert.deepEqual(readTrace(folder).map(({ name, begin_us, us }) => [name, begin_us, us]), [['iteration', 0, 100], ['forward', 0, 60], ['evaluate', 100, 50]]);
});

test('Some iterations of all ranks begin with the first rank\'s', (t) => {
  const folder = scratch(t);
  for (const rank of [0, 1]) write(folder, rank, ...[0, 100, 200].flatMap((at) => [event('iteration', at + 5 * rank, 90, rank), event('forward', at + 5 * rank, 50, rank)]));
  const { spans, iterations_us } = iterationsOf(readTrace(folder), 1, 2);
  assert.deepEqual([spans.map(({ rank, begin_us }) => [rank, begin_us]), iterations_us], [[[0, 0], [1, 5], [0, 100], [1, 105]], [[0, 90], [100, 90]]]);
});

test('A room\'s own traces become the opening frame', (t) => {
  const room = scratch(t);
  assert.throws(() => frameOf(room), saying('no', 'one/result.json', "how a room's frame is recorded"));
  for (const name of ['one', 'two']) {
    write(join(room, name), 0, ...training);
    writeFileSync(join(room, name, 'result.json'), JSON.stringify({ machine: { cpu: 'The room', cores: 8 }, date: '2026-01-31', network: 'mid', batch_size: 64, images: 512 }));
  }
  const frame = frameOf(room);
  assert.deepEqual([frame.machine.cpu, frame.runs.map(({ devices, iterations }) => [devices, iterations])], ['The room', [[1, 1], [2, 1]]]);
  assert.deepEqual(endsOf(frame.runs[0]), { end: 150, trained: 100 });
  showInstead('opening.json', frame);
  assert.match(closing('en'), /The room, 8 cores/);
});

test('What of an exchange is hidden, and what is waiting', () => {
  const span = (name, begin_us, us, rank = 0) => ({ name, rank, device: 0, begin_us, us });
  assert.deepEqual(exchangeOf([span('backward', 0, 100), span('allreduce', 60, 90)]), [{ begin: 60, end: 100, hidden: true }, { begin: 100, end: 150, hidden: false }]);
  assert.deepEqual(splitAtLastArrival([span('allreduce', 10, 40), span('allreduce', 30, 20, 1)]).map(({ name, begin_us, us }) => [name, begin_us, us]), [['inside', 10, 20], ['allreduce', 30, 20], ['allreduce', 30, 20]]);
});
