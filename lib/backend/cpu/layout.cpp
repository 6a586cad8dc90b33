#include "backend/cpu/layout.h"

#include "backend/cpu/onednn.h"

namespace odori::cpu {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc layout(const Shape& shape, Tag tag) {
  return {{shape.n, shape.c, shape.h, shape.w}, memory::data_type::f32, tag};
}

}  // namespace

memory::desc plain_layout(const Shape& shape) { return layout(shape, Tag::nchw); }

memory::desc preferred_layout(const dnnl::engine& engine, const Shape& shape) {
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

memory::desc vector_layout(int n) { return {{n}, memory::data_type::f32, Tag::x}; }

}  // namespace odori::cpu
