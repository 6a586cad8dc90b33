// SPDX-License-Identifier: Apache-2.0
// The parameters before the first step.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "race_recipe.h"

namespace odori::race {

/// Elements of a patch of 2 x 2 pixels: red, green, blue, each row by row.
inline constexpr int patch = 12;
using Covariance = std::array<std::array<double, patch>, patch>;

/// Mean of a patch's products with itself, over all patches of the first n images as `transform` normalises them. Not
/// centred.
Covariance patch_covariance(const Dataset& images, std::size_t n);

/// Weights of the first convolution, 24 x 3 x 2 x 2: the covariance's eigenvectors, that of the largest eigenvalue
/// first, each divided by sqrt(eigenvalue + epsilon), then all of them once more with the other sign. Their outputs on
/// such patches have a mean square of about 1, and no correlation. The eigenvectors are found by rotations: C. Jacobi,
/// 1846, "Über ein leichtes Verfahren, die in der Theorie der Säcularstörungen vorkommenden Gleichungen numerisch
/// aufzulösen".
std::vector<float> whitening_weights(const Covariance& covariance, double epsilon);

/// A model on the device, for the recipe's batches. Throws UsageError, before it allocates anything, for a name that is
/// not one of sizes(), and if the training images do not fill one batch.
std::unique_ptr<Classifier> new_model(const std::string& size, const Recipe& recipe, const Dataset& train,
                                      Device& device);

/// Writes all parameters and statistics of the model, which is on its device: the whitening weights; in each other
/// convolution the first as many output channels as there are input channels pass their input on (S. Zagoruyko and N.
/// Komodakis, 2017, "DiracNets", arXiv 1706.00388), and what remains is uniform of [-1, 1] / sqrt(inputs of one
/// output), as the linear layer is; scales are 1, biases 0.
void write_initial_values(Classifier& model, const Dataset& train, const Recipe& recipe, std::uint64_t seed);

}  // namespace odori::race
