// SPDX-License-Identifier: Apache-2.0
// Memory layouts of tensors.
//
// Activations in bf16 are laid out as H x W x N x C. oneDNN gets a batch as one image of depth H, height W and width N,
// with windows of width 1 along N: AMX multiplies 16 elements along the width at a time, and images of 4 x 4 or 2 x 2
// would leave most of these unused.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "backend/graph.h"

namespace odori::cpu {

using Type = dnnl::memory::data_type;

/// Plain order: N x C x H x W, or O x I x H x W.
dnnl::memory::desc plain_layout(const Shape& shape, Type type = Type::f32);
/// The layout of activations. fp32: channels in groups, as oneDNN's convolutions prefer on this machine; plain if their
/// number is not a multiple of 16.
dnnl::memory::desc activation_layout(const dnnl::engine& engine, const Shape& shape, Type type);
/// The same, but for fp32 the operation chooses the layout.
dnnl::memory::desc any_activation_layout(const Shape& shape, Type type);
/// Converts an activation's dimensions back to N, C, H, W.
dnnl::memory::desc as_images(const dnnl::memory::desc& activation);
/// Strides, kernels or paddings: `of_images` for height and width; in bf16 also `of_batch` for the width N.
dnnl::memory::dims window(Type type, int of_images, int of_batch);
/// The layout of a parameter in the model's flat vectors, equal on all machines, so that ranks can exchange them.
/// Weights of convolutions are in blocks of 16 x 16 channels (OIhw16i16o) if inputs and outputs are multiples of 16.
/// All else is plain.
dnnl::memory::desc parameter_layout(const ParameterView& view);
/// parameter_layout() of a convolution's weight, with dimensions that match the layout of activations of this type.
dnnl::memory::desc weight_layout(const ParameterView& view, Type activations);
/// A vector of n floats.
dnnl::memory::desc vector_layout(int n);

}  // namespace odori::cpu
