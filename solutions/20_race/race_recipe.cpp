// SPDX-License-Identifier: Apache-2.0
#include "race_recipe.h"

#include <fmt/ranges.h>

#include <cmath>

#include "errors/error.h"

namespace odori::race {
namespace {

/// Keeps 0.6 of the running statistics. No ReLU: a GELU follows.
constexpr BatchNormalizationSpec normalization{.decay = 0.6f, .epsilon = 1e-12f};
constexpr LogitsSpec last{.scale = 1.0f / 9, .smoothing = 0.2f};
constexpr int whitening_channels = 24;  // twice the 12 elements of a patch: each direction, and its opposite

template <int width1, int width2, int width3>
Network layers(const NetworkSpec& spec) {
  Network net;
  net.push_back(convolution("whitening", whitening_channels, 2, 0));  // 31
  net.push_back(bias("whitening"));
  net.push_back(gelu());
  const auto block = [&](const std::string& name, int channels) {
    net.push_back(convolution(name + "/conv1", channels));
    net.push_back(max_pooling(2, true));
    net.push_back(batch_normalization(name + "/norm1", normalization));
    net.push_back(gelu());
    net.push_back(convolution(name + "/conv2", channels));
    net.push_back(batch_normalization(name + "/norm2", normalization));
    net.push_back(gelu());
  };
  // comments: height and width after the line
  block("block1", width1);        // 15
  block("block2", width2);        // 7
  block("block3", width3);        // 3
  net.push_back(max_pooling(3));  // 1
  net.push_back(linear("linear", spec.n_classes, false));
  net.push_back(logits(last));
  return net;
}

struct Size {
  const char* name;
  Network (*layers)(const NetworkSpec& spec);
};
constexpr Size all_sizes[] = {
    {"full", layers<64, 256, 256>}, {"small", layers<16, 48, 48>}, {"tiny", layers<8, 8, 16>}};

}  // namespace

std::vector<std::string> sizes() {
  std::vector<std::string> names;
  for (const Size& size : all_sizes) names.emplace_back(size.name);
  return names;
}

NetworkSpec network_of_size(const std::string& name) {
  for (const Size& size : all_sizes)
    if (name == size.name) return {.name = "race_" + name, .layers = size.layers};
  throw UsageError(fmt::format("There is no size \"{}\". The sizes are: {}.", name, fmt::join(sizes(), ", ")));
}

Group group_of(const std::string& name) {
  if (name == "whitening/W" || name.ends_with("/gamma")) return Group::frozen;
  if (name == "whitening/b") return Group::whitening_bias;
  return name.ends_with("/beta") ? Group::bias : Group::weight;
}

double triangle(int step, int steps) {
  const int rising = static_cast<int>(steps * 0.23);
  if (step < rising) return 0.2 + 0.8 * step / rising;
  return 1 - 0.93 * (step - rising) / (steps - rising);
}

double look_ahead_decay(int step, int steps) {
  return std::pow(0.95, 5) * std::pow(static_cast<double>(step) / steps, 3);
}

}  // namespace odori::race
