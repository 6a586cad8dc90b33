// SPDX-License-Identifier: Apache-2.0
// What one layer of a network costs, for predictions of time and memory.
#pragma once

namespace odori {

/// A layer with weights, and the layers without weights that follow it (normalisation counts as one of these). Elements
/// and operations of one image.
struct LayerCost {
  double parameters = 0;   // trained elements, those of the normalisation included
  double vectors = 0;      // of these, the biases, scales and shifts: one per output channel
  double operations = 0;   // floating-point operations of a training step
  double inputs = 0;       // elements that the layer reads
  double outputs = 0;      // elements that it writes, before the layers that follow it
  double activations = 0;  // outputs of all of them, kept from forward to backward
  double channels = 0;     // of the output: tensor parallelism splits these
};

}  // namespace odori
