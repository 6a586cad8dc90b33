// SPDX-License-Identifier: Apache-2.0
// One short training on one device, and the same on two: what the room sees first. Its legend holds for all slides.
import { frame } from './parts/frame.mjs';

export default (language) => frame(language);
