// SPDX-License-Identifier: Apache-2.0
// The orders of elements in memory.
//
// In bf16 activations are laid out as H x W x N x C, and oneDNN gets a batch as one image of depth H, height W and
// width N, over which no window reaches: AMX multiplies 16 elements along the width at a time, and images of 4 x 4 or 2
// x 2 would leave most of them empty.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "backend/graph.h"

namespace odori::cpu {

using Type = dnnl::memory::data_type;

/// N x C x H x W, or O x I x H x W: what people and files use.
dnnl::memory::desc plain_layout(const Shape& shape, Type type = Type::f32);
/// Of activations. fp32: the channels in groups of 16, or as many as oneDNN's convolutions like on this machine; plain
/// where the channels don't come in such groups.
dnnl::memory::desc activation_layout(const dnnl::engine& engine, const Shape& shape, Type type);
/// The same where the operation may choose, for fp32.
dnnl::memory::desc any_activation_layout(const Shape& shape, Type type);
/// An activation's dimensions as N, C, H, W again.
dnnl::memory::desc as_images(const dnnl::memory::desc& activation);
/// Strides, kernels or paddings: the same for height and width, and for the width N of bf16.
dnnl::memory::dims window(Type type, int of_images, int of_batch);
/// The layout of a parameter in the model's flat vectors: the same on every machine, so that flat vectors can be sent.
/// A convolution's weight in blocks of 16 x 16 channels (OIhw16i16o) where they come in such, everything else plain.
dnnl::memory::desc parameter_layout(const ParameterView& view);
/// A convolution's weight, O x I x H x W, as it is laid out there; its dimensions are those that go with the
/// activations'.
dnnl::memory::desc weight_layout(const ParameterView& view, Type activations);
/// A vector of n floats.
dnnl::memory::desc vector_layout(int n);

}  // namespace odori::cpu
