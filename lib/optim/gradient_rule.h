// SPDX-License-Identifier: Apache-2.0
// How gradients of several devices of one process are combined.
#pragma once

namespace odori {

/// mean: the mean gradient, with the learning rate as given. sum: Chainer's rule, the sum of gradients with the
/// learning rate divided by the number of devices, n; weight decay is then reduced to 1/n.
enum class GradientRule { mean, sum };

}  // namespace odori
