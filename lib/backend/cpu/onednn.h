// SPDX-License-Identifier: Apache-2.0
// Hides the API differences between oneDNN 2.x, which creates a `primitive_desc` from a `desc`, and 3.x, which creates
// the primitive_desc directly.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

namespace odori::cpu {

/// Makes the caller provide scratch memory, so that all primitives share one.
inline dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// The dimensions of a memory::desc.
inline dnnl::memory::dims sizes(const dnnl::memory::desc& d) {
#if DNNL_VERSION_MAJOR >= 3
  return d.get_dims();
#else
  return d.dims();
#endif
}
/// The same dimensions and type, with a layout that a primitive chooses.
inline dnnl::memory::desc in_any_layout(const dnnl::memory::desc& d) {
#if DNNL_VERSION_MAJOR >= 3
  return {d.get_dims(), d.get_data_type(), dnnl::memory::format_tag::any};
#else
  return {d.dims(), d.data_type(), dnnl::memory::format_tag::any};
#endif
}

/// Describes a forward primitive; empty (false) if there is no implementation for this machine.
template <typename Primitive, typename... Args>
typename Primitive::primitive_desc describe_forward(const dnnl::engine& engine, const Args&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, args..., user_scratchpad(), true};
#else
  return {typename Primitive::desc(args...), user_scratchpad(), engine, true};
#endif
}

/// The same for a backward primitive; `forward` describes the primitive whose gradient it is.
template <typename Primitive, typename Forward, typename... Args>
typename Primitive::primitive_desc describe_backward(const dnnl::engine& engine, const Forward& forward,
                                                     const Args&... args) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, args..., forward, user_scratchpad(), true};
#else
  return {typename Primitive::desc(args...), user_scratchpad(), engine, forward, true};
#endif
}

// Batch normalisation: 3.x names the layout of source and destination, 2.x takes one for both.
inline auto describe_batch_normalization(const dnnl::engine& engine, dnnl::prop_kind kind,
                                         const dnnl::memory::desc& data, float epsilon,
                                         dnnl::normalization_flags flags) {
#if DNNL_VERSION_MAJOR >= 3
  return describe_forward<dnnl::batch_normalization_forward>(engine, kind, data, data, epsilon, flags);
#else
  return describe_forward<dnnl::batch_normalization_forward>(engine, kind, data, epsilon, flags);
#endif
}
inline auto describe_batch_normalization_backward(const dnnl::engine& engine,
                                                  const dnnl::batch_normalization_forward::primitive_desc& forward,
                                                  const dnnl::memory::desc& data, float epsilon,
                                                  dnnl::normalization_flags flags) {
  const auto kind = dnnl::prop_kind::backward;
#if DNNL_VERSION_MAJOR >= 3
  return describe_backward<dnnl::batch_normalization_backward>(engine, forward, kind, data, data, data, epsilon, flags);
#else
  return describe_backward<dnnl::batch_normalization_backward>(engine, forward, kind, data, data, epsilon, flags);
#endif
}

/// 2.x requires the shift in backward, although it is not used; 3.x rejects it.
inline constexpr bool batch_normalization_backward_takes_shift = DNNL_VERSION_MAJOR < 3;

// Element-wise: 3.x names the layout of source and destination, 2.x takes one for both.
inline auto describe_elementwise(const dnnl::engine& engine, dnnl::algorithm algorithm, const dnnl::memory::desc& x) {
  const auto kind = dnnl::prop_kind::forward_training;
#if DNNL_VERSION_MAJOR >= 3
  return describe_forward<dnnl::eltwise_forward>(engine, kind, algorithm, x, x, 0.0f, 0.0f);
#else
  return describe_forward<dnnl::eltwise_forward>(engine, kind, algorithm, x, 0.0f, 0.0f);
#endif
}
inline auto describe_elementwise_backward(const dnnl::engine& engine,
                                          const dnnl::eltwise_forward::primitive_desc& forward,
                                          dnnl::algorithm algorithm, const dnnl::memory::desc& x) {
#if DNNL_VERSION_MAJOR >= 3
  return describe_backward<dnnl::eltwise_backward>(engine, forward, algorithm, x, x, x, 0.0f, 0.0f);
#else
  return describe_backward<dnnl::eltwise_backward>(engine, forward, algorithm, x, x, 0.0f, 0.0f);
#endif
}

// Pooling: 3.x has a dilation; 0 means none.
inline auto describe_max_pooling(const dnnl::engine& engine, const dnnl::memory::desc& x, const dnnl::memory::desc& y,
                                 const dnnl::memory::dims& kernels, const dnnl::memory::dims& strides) {
  const dnnl::memory::dims none(kernels.size(), 0);
  const auto kind = dnnl::prop_kind::forward_training;
  const auto algorithm = dnnl::algorithm::pooling_max;
#if DNNL_VERSION_MAJOR >= 3
  return describe_forward<dnnl::pooling_forward>(engine, kind, algorithm, x, y, strides, kernels, none, none, none);
#else
  return describe_forward<dnnl::pooling_forward>(engine, kind, algorithm, x, y, strides, kernels, none, none);
#endif
}
inline auto describe_max_pooling_backward(const dnnl::engine& engine,
                                          const dnnl::pooling_forward::primitive_desc& forward,
                                          const dnnl::memory::desc& x, const dnnl::memory::desc& y,
                                          const dnnl::memory::dims& kernels, const dnnl::memory::dims& strides) {
  const dnnl::memory::dims none(kernels.size(), 0);
  const auto algorithm = dnnl::algorithm::pooling_max;
#if DNNL_VERSION_MAJOR >= 3
  return describe_backward<dnnl::pooling_backward>(engine, forward, algorithm, x, y, strides, kernels, none, none,
                                                   none);
#else
  return describe_backward<dnnl::pooling_backward>(engine, forward, algorithm, x, y, strides, kernels, none, none);
#endif
}

}  // namespace odori::cpu
