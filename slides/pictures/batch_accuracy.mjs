// SPDX-License-Identifier: Apache-2.0
// On photographs: held-out accuracy by batch after the same epochs, for three rates; and how many updates 40 % take.
import { readResult } from '../build/results.mjs';
import { byBatch } from './parts/by_batch.mjs';

export default (language) => byBatch(language, readResult('batch_accuracy.json'), { goal: 0.4, top: 0.6, dataset: 'CIFAR-10 (JPEG copies)' });
