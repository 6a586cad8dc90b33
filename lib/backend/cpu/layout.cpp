// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/layout.h"

#include "backend/cpu/onednn.h"

namespace odori::cpu {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc layout(const Shape& shape, Tag tag, Type type = Type::f32) {
  return {{shape.n, shape.c, shape.h, shape.w}, type, tag};
}

}  // namespace

memory::desc plain_layout(const Shape& shape, Type type) { return layout(shape, Tag::nchw, type); }

memory::desc any_activation_layout(const Shape& shape, Type type) {
  if (type == Type::f32) return layout(shape, Tag::any);
  return {{1, shape.c, shape.h, shape.w, shape.n}, type, Tag::ndhwc};
}

memory::desc as_images(const memory::desc& activation) {
  const memory::dims d = sizes(activation);
  if (d.size() == 4) return activation;
  return activation.permute_axes({4, 1, 2, 3, 0}).reshape({d[4], d[1], d[2], d[3]});
}

memory::dims window(Type type, int of_images, int of_batch) {
  if (type == Type::f32) return {of_images, of_images};
  return {of_images, of_images, of_batch};
}

memory::desc activation_layout(const dnnl::engine& engine, const Shape& shape, Type type) {
  if (type != Type::f32) return any_activation_layout(shape, type);
  if (shape.c % 16 != 0) return plain_layout(shape);
  const auto any = layout(shape, Tag::any);
  const auto same_size = describe_forward<dnnl::convolution_forward>(
      engine, dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, any,
      layout({shape.c, shape.c, 3, 3}, Tag::any), any, memory::dims{1, 1}, memory::dims{1, 1}, memory::dims{1, 1});
  return same_size ? same_size.src_desc() : plain_layout(shape);
}

memory::desc parameter_layout(const ParameterView& view) {
  const Shape& shape = view.shape;
  const bool blocked = view.kind == ParameterKind::convolution_weight && shape.n % 16 == 0 && shape.c % 16 == 0;
  return layout(shape, blocked ? Tag::OIhw16i16o : Tag::oihw);
}

memory::desc weight_layout(const ParameterView& view, Type activations) {
  const Shape& s = view.shape;
  const memory::desc stored = parameter_layout(view);
  return activations == Type::f32 ? stored : stored.reshape({s.n, s.c, s.h, s.w, 1});
}

memory::desc vector_layout(int n) { return {{n}, memory::data_type::f32, Tag::x}; }

}  // namespace odori::cpu
