// The orders in which numbers stand in memory.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "backend/graph.h"

namespace odori::cpu {

/// N x C x H x W, or O x I x H x W: what people and files use.
dnnl::memory::desc plain_layout(const Shape& shape);
/// The channels in groups of 16, or as many as oneDNN's convolutions like on this machine; plain where the channels
/// don't come in such groups.
dnnl::memory::desc preferred_layout(const dnnl::engine& engine, const Shape& shape);
/// How a parameter stands in the model's flat vectors: the same on every machine, so that flat vectors can be sent. A
/// convolution's weight in blocks of 16 x 16 channels (OIhw16i16o) where they come in such, everything else plain.
dnnl::memory::desc parameter_layout(const ParameterView& view);
/// A vector of n floats.
dnnl::memory::desc vector_layout(int n);

}  // namespace odori::cpu
