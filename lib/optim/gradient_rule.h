// SPDX-License-Identifier: Apache-2.0
// What several devices of one process make of their gradients.
#pragma once

namespace odori {

/// mean: the mean gradient, with the learning rate as given. sum: the original's rule, the sum of gradients
/// with the learning rate divided by the number of devices (weight decay then acts by 1/n).
enum class GradientRule { mean, sum };

}  // namespace odori
