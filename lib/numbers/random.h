// SPDX-License-Identifier: Apache-2.0
// Random numbers that are equal on all machines, backends and thread counts.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace odori {

/// Philox4x32-10, a counter-based generator: computes four 32-bit values from a 128-bit counter and a 64-bit key,
/// without state. Source: J. Salmon et al., 2011, "Parallel random numbers: as easy as 1, 2, 3".
struct Philox {
  using Block = std::array<std::uint32_t, 4>;
  static constexpr Block block(Block c, std::uint64_t key) {
    auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = 0xD2511F53ull * c[0], p1 = 0xCD9E8D57ull * c[2];
      c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
           static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return c;
  }
};

/// Purposes of random numbers; different purposes never share any.
enum class RandomUse : std::uint32_t { shuffle = 1, initial_weights, dropout, augmentation, synthetic_data };

/// A sequence of random numbers (Philox) for one seed, purpose, and `stream`: a device or rank.
class RandomSequence {
 public:
  RandomSequence(std::uint64_t seed, RandomUse use, std::uint32_t stream = 0)
      : seed_(seed), use_(static_cast<std::uint32_t>(use)), stream_(stream) {}

  std::uint32_t next() {
    if (position_ % 4 == 0) {
      const std::uint64_t n = position_ / 4;
      block_ =
          Philox::block({static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n >> 32), stream_, use_}, seed_);
    }
    return block_[position_++ % 4];
  }
  /// A uniform integer in [0, n), n <= 2^32, by rejection.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t limit = (1ull << 32) / n * n;
    std::uint64_t r = next();
    while (r >= limit) r = next();
    return r % n;
  }
  /// A uniform float in [0, 1).
  float uniform() { return static_cast<float>(next() >> 8) * 0x1p-24f; }
  /// Normally distributed values with mean 0 (G. Box and M. Muller, 1958, "A note on the generation of random normal
  /// deviates"). Each pair of them takes two random numbers of the sequence.
  void fill_normal(std::span<float> values, float deviation);

  /// Number of values taken: the whole state, together with the constructor's arguments.
  std::uint64_t position() const { return position_; }
  void seek(std::uint64_t position);

 private:
  std::uint64_t seed_;
  std::uint32_t use_, stream_;
  std::uint64_t position_ = 0;
  Philox::Block block_{};
};

/// 0 .. n-1 in random order (Fisher and Yates).
std::vector<std::int64_t> random_permutation(std::size_t n, RandomSequence& random);

}  // namespace odori
