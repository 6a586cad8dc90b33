// SPDX-License-Identifier: Apache-2.0
import { fileURLToPath } from 'node:url';
import { relative, resolve } from 'node:path';

/** The kit's folder: every path in a deck or a message is written from there. */
export const kit = resolve(fileURLToPath(new URL('../..', import.meta.url)));

/** A path as messages name it. */
export const fromKit = (path) => relative(kit, path);

/** A fault in a deck, a picture or this machine: a sentence for whoever has to mend it, and where, if it is one place. */
export class Problem extends Error {
  constructor(sentence, path, line) {
    super(`${path ? `${fromKit(path)}:${line ? `${line}:` : ''} ` : ''}${sentence}`);
  }
}

/** Calls `work` for each item, also after one has failed, and throws all their problems as one. */
export async function gatherProblems(items, work) {
  const sentences = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      sentences.push(problem.message);
    }
  }
  if (sentences.length) throw new Problem(sentences.join('\n'));
}
