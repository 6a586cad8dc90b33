// SPDX-License-Identifier: Apache-2.0
// The VGG's layers, read from lib/model/vgg.cpp: what slides say of its size is what the kit trains.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, kit } from './problem.mjs';

/**
 * The VGG for images of this size and 10 classes: { layers: [{ name, block, inputs, outputs, size, products, parameters }],
 * products, flop, parameters, bytes, outputs }. `products` are multiply-adds of a forward pass, `outputs` the values that
 * convolutions put out; both are of one image. Parameters of a batch normalisation count with its layer.
 */
export function vgg(size = 32, nClasses = 10) {
  const source = readFileSync(join(kit, 'lib/model/vgg.cpp'), 'utf8');
  const layers = [];
  let edge = size, inputs = 3;
  for (const [words, name, channels, dense, units] of source.matchAll(/\bblock\("(\w+)", (\d+)\)|\blinear\("(\w+)", (\w+),|\bmax_pooling\(\)/g)) {
    if (name) {
      const outputs = Number(channels), weights = 9 * inputs * outputs;
      layers.push({ name, block: name[5], inputs, outputs, size: edge, products: weights * edge ** 2, parameters: weights + 2 * outputs });
      inputs = outputs;
    } else if (dense) {
      const outputs = Number(units) || nClasses, from = inputs * edge ** 2;
      layers.push({ name: dense, block: 'dense', inputs: from, outputs, size: 1, products: from * outputs, parameters: from * outputs + (source.includes(`"bn_${dense}"`) ? 2 * outputs : 0) });
      [inputs, edge] = [outputs, 1];
    } else if (words) {
      edge /= 2;
    }
  }
  if (layers.length !== 15) throw new Problem(`15 layers of the VGG should be found in it; there are ${layers.length}. Has its way of naming them changed?`, join(kit, 'lib/model/vgg.cpp'));
  const sum = (key, of = layers) => of.reduce((total, layer) => total + layer[key], 0);
  const products = sum('products'), parameters = sum('parameters');
  const outputs = layers.filter(({ block }) => block !== 'dense').reduce((total, layer) => total + layer.outputs * layer.size ** 2, 0);
  return { layers, products, flop: 2 * products, parameters, bytes: 4 * parameters, outputs };
}
