// Each element is dropped with probability `ratio`, the others are divided by 1 - ratio; in place, and so is the
// gradient. Source: N. Srivastava et al., 2014, "Dropout: a simple way to prevent neural networks from overfitting".
#include "backend/cpu/layout.h"
#include "backend/cpu/operation.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/simd.h"
#include "backend/random_rules.h"

namespace odori::cpu {
namespace {

using dnnl::memory;

constexpr std::size_t lanes = 16, group = 128;  // a group: 16 Philox blocks of 8 times 16 bits
static_assert(vector_grain % group == 0);

/// Draws the groups of [begin, end), both multiples of 128: mask[e] = 1 where dropout_bits(e) >= threshold.
/// Philox::block, 16 blocks at once.
ODORI_SIMD_CLONES void draw(std::uint8_t* mask, std::size_t begin, std::size_t end, std::uint32_t threshold,
                            const RandomKey& key, std::uint32_t layer) {
  for (std::size_t g = begin / group; g < end / group; ++g) {
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
    std::uint8_t* out = mask + g * group;
    for (std::size_t word = 0; word < 4; ++word)
      for (std::size_t i = 0; i < lanes; ++i) {
        out[32 * word + i] = (c[word][i] & 0xffff) >= threshold;
        out[32 * word + 16 + i] = c[word][i] >> 16 >= threshold;
      }
  }
}

ODORI_SIMD_CLONES void apply(const std::uint8_t* __restrict mask, float* __restrict x, float scale, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = mask[i] ? x[i] * scale : 0.0f;
}

class Dropout : public Operation {
 public:
  Dropout(const Setup& setup, const Value& x, float ratio, std::uint32_t layer)
      : stream_(setup.stream), threshold_(dropout_threshold(ratio)), scale_(1.0f / (1.0f - ratio)), layer_(layer) {
    output_ = x;
    // The random numbers count elements in groups of 16 channels, whatever the layout is.
    const Shape& s = x.shape;
    const memory::desc grouped{{s.n, s.c, s.h, s.w}, memory::data_type::f32, memory::format_tag::nChw16c};
    size_ = grouped.get_size() / sizeof(float);
    const auto padded = static_cast<memory::dim>((size_ + group - 1) / group * group);
    mask_ = setup.plan.own({{padded}, memory::data_type::u8, memory::format_tag::x});
    const bool same_order = s.h * s.w == 1 && s.c % 16 == 0;
    value_ = to_groups(setup, x.data, grouped, same_order, group_value_, ungroup_value_);
    if (x.gradient) gradient_ = to_groups(setup, x.gradient, grouped, same_order, group_gradient_, ungroup_gradient_);
  }

  void forward(Mode mode, const RandomKey& key) override {
    if (mode == Mode::evaluate) return;
    auto* mask = static_cast<std::uint8_t*>(mask_.get_data_handle());
    auto* x = static_cast<float*>(value_.get_data_handle());
    group_value_.run(stream_);
    parallel(size_, vector_grain, [&](Range part) {
      draw(mask, part.begin, (part.end + group - 1) / group * group, threshold_, key, layer_);
      apply(mask + part.begin, x + part.begin, scale_, part.size());
    });
    ungroup_value_.run(stream_);
  }
  void backward() override {
    if (!gradient_) return;
    const auto* mask = static_cast<const std::uint8_t*>(mask_.get_data_handle());
    auto* g = static_cast<float*>(gradient_.get_data_handle());
    group_gradient_.run(stream_);
    parallel(size_, vector_grain, [&](Range part) { apply(mask + part.begin, g + part.begin, scale_, part.size()); });
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

  dnnl::stream& stream_;
  std::uint32_t threshold_;
  float scale_;
  std::uint32_t layer_;
  std::size_t size_;
  memory mask_, value_, gradient_;
  Steps group_value_, ungroup_value_, group_gradient_, ungroup_gradient_;
};

}  // namespace

OperationPtr dropout(const Setup& setup, const Value& x, float ratio, std::uint32_t layer) {
  return std::make_unique<Dropout>(setup, x, ratio, layer);
}

}  // namespace odori::cpu
