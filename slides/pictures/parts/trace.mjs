// SPDX-License-Identifier: Apache-2.0
// Recorded spans as rows on a time axis.
import { colours } from '../../theme/palette.mjs';

const kindOf = (name) => (colours[name] ? name : 'communication');

/** Waiting inside an exchange: a pattern that a picture with such spans holds once. */
export const hatched = `<defs><pattern id="hatched" width="10" height="10" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="10" height="10" fill="${colours.waiting}"/><rect width="4" height="10" fill="${colours.communication}"/></pattern></defs>`;

/** An all-reduce begins to move bytes when the last rank has come: what is before is waiting ("inside"). */
export function splitAtLastArrival(spans) {
  const nth = new Map(), all = spans.map((span) => {
    const key = `${span.rank} ${span.device} ${span.name}`, n = nth.get(key) ?? 0;
    nth.set(key, n + 1);
    return { ...span, n };
  });
  return all.flatMap((span) => {
    const last = Math.max(...all.filter(({ name, n }) => name === 'allreduce' && n === span.n).map(({ begin_us }) => begin_us));
    if (span.name !== 'allreduce' || last <= span.begin_us) return [span];
    return [{ ...span, name: 'inside', us: last - span.begin_us }, { ...span, begin_us: last, us: span.begin_us + span.us - last }];
  });
}

/** A row a device or rank, as lanes.mjs takes them, for `unit` pixels a microsecond; `say` names kinds and rows. */
export function rowsOf(spans, unit, label, say = {}) {
  const keys = [...new Map(spans.map((span) => [`${span.rank ?? 0} ${span.device}`, span])).values()].sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || a.device - b.device);
  const split = splitAtLastArrival(spans);
  return keys.map((row) => ({ label: label(row), spans: split.filter((span) => span.rank === row.rank && span.device === row.device)
    .map(({ name, begin_us, us }) => ({ kind: kindOf(name), begin: begin_us, end: begin_us + Math.max(us, 4 / unit), label: say[name] ?? '', ...(name === 'inside' && { fill: 'url(#hatched)' }) })) }));
}
