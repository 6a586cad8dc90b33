// SPDX-License-Identifier: Apache-2.0
// Each element is dropped with probability `ratio`, the others are divided by 1 - ratio; in place, and so is the
// gradient. Source: N. Srivastava et al., 2014, "Dropout: a simple way to prevent neural networks from overfitting".
#include <algorithm>

#include "backend/cpu/operation.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/simd.h"
#include "backend/random_rules.h"
#include "numbers/bf16.h"

namespace odori::cpu {
namespace {

using dnnl::memory;

constexpr std::size_t lanes = 16, group = 128;  // a group: 16 Philox blocks of 8 times 16 bits
static_assert(vector_grain % group == 0);

/// Draws these groups, one behind another: 1 where dropout_bits(element) >= threshold. Philox::block, 16 blocks at
/// once.
ODORI_SIMD_CLONES void draw(std::uint8_t* mask, Range groups, std::uint32_t threshold, const RandomKey& key,
                            std::uint32_t layer) {
  for (std::size_t g = groups.begin; g < groups.end; ++g, mask += group) {
    std::uint32_t c[4][lanes];
    for (std::uint32_t i = 0; i < lanes; ++i) {
      c[0][i] = static_cast<std::uint32_t>(g * lanes) + i;
      c[1][i] = static_cast<std::uint32_t>(key.step);
      c[2][i] = key.stream;
      c[3][i] = static_cast<std::uint32_t>(RandomUse::dropout) | layer << 8;
    }
    auto k0 = static_cast<std::uint32_t>(key.seed), k1 = static_cast<std::uint32_t>(key.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      for (std::size_t i = 0; i < lanes; ++i) {
        const std::uint64_t p0 = 0xD2511F53ull * c[0][i], p1 = 0xCD9E8D57ull * c[2][i];
        c[0][i] = static_cast<std::uint32_t>(p1 >> 32) ^ c[1][i] ^ k0;
        c[1][i] = static_cast<std::uint32_t>(p1);
        c[2][i] = static_cast<std::uint32_t>(p0 >> 32) ^ c[3][i] ^ k1;
        c[3][i] = static_cast<std::uint32_t>(p0);
      }
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    for (std::size_t word = 0; word < 4; ++word)
      for (std::size_t i = 0; i < lanes; ++i) {
        mask[32 * word + i] = (c[word][i] & 0xffff) >= threshold;
        mask[32 * word + 16 + i] = c[word][i] >> 16 >= threshold;
      }
  }
}

ODORI_SIMD_CLONES void apply(const std::uint8_t* __restrict mask, float* __restrict x, float scale, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = mask[i] ? x[i] * scale : 0.0f;
}
ODORI_SIMD_CLONES void apply(const std::uint8_t* __restrict mask, std::uint16_t* __restrict x, float scale,
                             std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = mask[i] ? Bf16::from(Bf16::to_float(x[i]) * scale) : 0;
}

class Dropout : public Operation {
 public:
  Dropout(const Setup& setup, const Value& x, float ratio, std::uint32_t layer)
      : Operation(setup),
        in_fp32_(setup.type == Type::f32),
        threshold_(dropout_threshold(ratio)),
        scale_(1.0f / (1.0f - ratio)),
        layer_(layer) {
    output_ = x;
    value_ = x.data;
    gradient_ = x.gradient;
    const Shape& s = x.shape;
    // The random numbers count elements in groups of 16 channels, whatever the layout is.
    const memory::desc grouped{{s.n, s.c, s.h, s.w}, Type::f32, memory::format_tag::nChw16c};
    const std::size_t n_drawn = grouped.get_size() / sizeof(float);
    groups_ = (n_drawn + group - 1) / group;
    size_ = in_fp32_ ? n_drawn : s.size();
    mask_ = setup.plan.own({{static_cast<memory::dim>(groups_ * group)}, Type::u8, memory::format_tag::x});
    if (!in_fp32_) return;
    const bool same_order = s.h * s.w == 1 && s.c % 16 == 0;
    value_ = to_groups(setup, x.data, grouped, same_order, group_value_, ungroup_value_);
    if (x.gradient) gradient_ = to_groups(setup, x.gradient, grouped, same_order, group_gradient_, ungroup_gradient_);
  }

  void forward(Mode mode, const RandomKey& key) override {
    if (mode == Mode::evaluate) return;
    auto* mask = static_cast<std::uint8_t*>(mask_.get_data_handle());
    parallel(groups_, vector_grain / group, [&](Range part) {
      if (in_fp32_)
        draw(mask + part.begin * group, part, threshold_, key, layer_);
      else
        draw_channels_last(mask, part, key);
    });
    group_value_.run(stream_);
    apply_to(value_);
    ungroup_value_.run(stream_);
  }
  void backward() override {
    if (!gradient_) return;
    group_gradient_.run(stream_);
    apply_to(gradient_);
    ungroup_gradient_.run(stream_);
  }
  void describe(std::vector<std::string>& lines) const override {
    lines.push_back("dropout " + to_string(output_.shape) + " forward and backward: vector loops, in place");
    group_value_.describe(lines);
    group_gradient_.describe(lines);
  }

 private:
  /// The memory itself where its channels stand in groups of 16, else a copy and the steps there and back.
  static memory to_groups(const Setup& setup, const memory& from, const memory::desc& grouped, bool same_order,
                          Steps& there, Steps& back) {
    if (same_order || from.get_desc() == grouped) return from;
    setup.plan.begin_pass();
    const memory copy = setup.plan.scratch(grouped);
    there.add_reorder("dropout", setup, from, copy);
    back.add_reorder("dropout", setup, copy, from);
    return copy;
  }

  /// The same for the order H x W x N x C: a group is 16 channels of 8 neighbouring pixels, or goes on in the next 16
  /// channels, or the next image. Groups of the same pixels follow each other, so that writes do.
  void draw_channels_last(std::uint8_t* mask, Range groups, const RandomKey& key) const {
    const auto image = static_cast<std::size_t>(output_.shape.h * output_.shape.w);
    const auto batch = static_cast<std::size_t>(output_.shape.n), channels = static_cast<std::size_t>(output_.shape.c);
    const std::size_t columns = batch * ((channels + 15) / 16), rows = image % 8 == 0 ? image / 8 : 1;
    for (std::size_t i = groups.begin; i < groups.end; ++i) {
      const std::size_t g = rows == 1 ? i : i % columns * rows + i / columns;
      std::uint8_t drawn[group];
      draw(drawn, {g, g + 1}, threshold_, key, layer_);
      std::size_t column = g * 8 / image, pixel = g * 8 % image;
      for (std::size_t run = 0; run < 8 && column < columns; ++run) {
        const std::size_t n = column / ((channels + 15) / 16), c = column % ((channels + 15) / 16) * 16;
        std::copy_n(drawn + run * 16, std::min<std::size_t>(16, channels - c),
                    mask + (pixel * batch + n) * channels + c);
        if (++pixel == image) pixel = 0, ++column;
      }
    }
  }

  void apply_to(const memory& numbers) const {
    const auto* mask = static_cast<const std::uint8_t*>(mask_.get_data_handle());
    void* x = numbers.get_data_handle();
    parallel(size_, vector_grain, [&](Range part) {
      if (in_fp32_)
        apply(mask + part.begin, static_cast<float*>(x) + part.begin, scale_, part.size());
      else
        apply(mask + part.begin, static_cast<std::uint16_t*>(x) + part.begin, scale_, part.size());
    });
  }

  bool in_fp32_;
  std::uint32_t threshold_;
  float scale_;
  std::uint32_t layer_;
  std::size_t groups_, size_;
  memory mask_, value_, gradient_;
  Steps group_value_, ungroup_value_, group_gradient_, ungroup_gradient_;
};

}  // namespace

OperationPtr new_dropout(const Setup& setup, const Value& x, float ratio, std::uint32_t layer) {
  return std::make_unique<Dropout>(setup, x, ratio, layer);
}

}  // namespace odori::cpu
