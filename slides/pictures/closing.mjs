// SPDX-License-Identifier: Apache-2.0
// The opening frame once more, with names and figures.
import { frame } from './parts/frame.mjs';

export default (language) => frame(language, { named: true });
