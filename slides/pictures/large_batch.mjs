// SPDX-License-Identifier: Apache-2.0
// Task 4's own set: held-out accuracy by batch after the same epochs, for three rates; and how many updates 60 % take.
import { readResult } from '../build/results.mjs';
import { byBatch } from './parts/by_batch.mjs';

export default (language) => byBatch(language, readResult('measured.json', 'solutions/04_large_batch'), { goal: 0.6, top: 1, dataset: 'synthetic' });
