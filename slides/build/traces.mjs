// SPDX-License-Identifier: Apache-2.0
// What --trace FOLDER has recorded, for pictures.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, fromKit } from './problem.mjs';

/** The spans of all ranks, [{ name, rank, device, begin_us, us, bytes }], from the first one's begin on. What an evaluation consists of is left out. */
export function readTrace(folder) {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^trace\.\d+\.json$/.test(name)) : [];
  const events = files.flatMap((name) => eventsOf(readFileSync(join(folder, name), 'utf8'))).filter(({ ph }) => ph === 'X');
  if (!events.length) throw new Problem(`There is no trace in ${fromKit(folder)}: a training with --trace writes one.`);
  const begin = Math.min(...events.map(({ ts }) => ts));
  const inside = (one, whole) => one !== whole && whole.name === 'evaluate' && one.pid === whole.pid && one.tid === whole.tid && one.ts >= whole.ts && one.ts < whole.ts + whole.dur;
  const evaluations = events.filter(({ name }) => name === 'evaluate');
  return events.filter((one) => !evaluations.some((whole) => inside(one, whole)))
    .map(({ name, pid, tid, ts, dur, args }) => ({ name, rank: pid, device: tid, begin_us: ts - begin, us: dur, bytes: args?.bytes ?? 0 })).sort((a, b) => a.begin_us - b.begin_us);
}

/** A stream may lack its end: its last line, and the bracket. */
function eventsOf(text) {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line.replace(/,\s*$/, ''))].filter((event) => event?.ph);
    } catch {
      return [];
    }
  });
}

/** Some iterations of a trace, from number `first` (0, 1, ...) of each rank on: { spans, iterations_us: rank 0's [begin, length] }, from their begin on. */
export function iterationsOf(trace, first, n) {
  const perRank = [...new Set(trace.map(({ rank }) => rank))].map((rank) => trace.filter((span) => span.name === 'iteration' && span.rank === rank).slice(first, first + n));
  const begin = Math.min(...perRank.map(([one]) => one.begin_us)), within = ({ begin_us: at }, whole) => at >= whole.begin_us && at < whole.begin_us + whole.us;
  return { spans: trace.filter((span) => span.name !== 'iteration' && perRank.some((all) => all[0].rank === span.rank && all.some((one) => within(span, one)))).map((span) => ({ ...span, begin_us: span.begin_us - begin })),
    iterations_us: perRank[0].map(({ begin_us, us }) => [begin_us - begin, us]) };
}

/** The opening frame of a room's own machine: FOLDER/one and FOLDER/two hold trace and result.json of a training on one device and on two. */
export function frameOf(folder) {
  const runs = ['one', 'two'].map((name, i) => {
    const path = join(folder, name), result = join(path, 'result.json');
    if (!existsSync(result)) throw new Problem(`There is no ${fromKit(result)}: slides/README.md says how a room's frame is recorded.`);
    const trace = readTrace(path);
    return { devices: i + 1, iterations: trace.filter(({ name: what }) => what === 'iteration').length, spans: trace.filter(({ name: what }) => what !== 'iteration').map(({ name: what, device, begin_us, us }) => ({ name: what, device, begin_us, us })), result: JSON.parse(readFileSync(result, 'utf8')) };
  });
  const { machine, date, network, batch_size: batchsize, images } = runs[1].result;
  return { machine, date, model: network, batchsize, images, runs: runs.map(({ result: _, ...run }) => run) };
}
