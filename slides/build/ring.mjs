// SPDX-License-Identifier: Apache-2.0
// The all-reduce by a ring or a tree, as lib/comm/cost.h has it; a test holds this against ./odori predict.

/** What n ranks send: `messages` one after the other, and the `share` of the gradients' bytes that goes over each link. */
export const ring = (n) => ({ messages: 2 * (n - 1), share: 2 * (n - 1) / n });

/** Seconds of an all-reduce over a link of so many Gbit/s, each message of which takes so many seconds more. */
export const ringSeconds = (n, bytes, gbit, latency = 0) => ring(n).share * bytes / (gbit * 1.25e8) + ring(n).messages * latency;

/** The same by recursive halving and doubling, of n = 2, 4, 8 ... ranks: as many bytes in 2 log2 n messages. */
export const treeSeconds = (n, bytes, gbit, latency = 0) => ring(n).share * bytes / (gbit * 1.25e8) + 2 * Math.log2(n) * latency;
