// SPDX-License-Identifier: Apache-2.0
// The cost of one layer of a network, for predictions of time and memory.
#pragma once

namespace odori {

/// A layer with weights, together with the layers without weights after it (normalisation counts as one). Per image.
struct LayerCost {
  double parameters = 0;   // trained elements, those of the normalisation included
  double vectors = 0;      // of these, the biases, scales and shifts: one per output channel
  double operations = 0;   // floating-point operations per training step
  double inputs = 0;       // elements that the layer reads
  double outputs = 0;      // elements that it writes, before the layers that follow it
  double activations = 0;  // outputs of all these layers, kept from forward to backward
  double channels = 0;     // of the output: tensor parallelism splits these
};

}  // namespace odori
