// SPDX-License-Identifier: Apache-2.0
#include "model/networks.h"

#include <fmt/ranges.h>

#include "errors/error.h"

namespace odori {
namespace {

struct Entry {
  const char* name;
  Network (*make)(int n_classes);
};
constexpr Entry networks[] = {{"vgg", vgg}, {"mid", mid}, {"tiny", tiny}};

const Entry& find(const std::string& name) {
  for (const Entry& entry : networks)
    if (name == entry.name) return entry;
  throw UsageError(
      fmt::format("There is no network \"{}\". The networks are: {}.", name, fmt::join(network_names(), ", ")));
}

}  // namespace

NetworkSpec create_network(const std::string& name, int n_classes, int image_size) {
  find(name);
  require(n_classes > 0, "A network needs at least one class, but {} were asked for.", n_classes);
  if (image_size < 32 || image_size % 32 != 0)
    throw UsageError(in_language({"--image-size {} can't be used: it has to be a multiple of 32.",
                                  "--image-size {} は使えません。32 の倍数にしてください。"},
                                 image_size));
  return {name, n_classes, image_size};
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const Entry& entry : networks) names.emplace_back(entry.name);
  return names;
}

Network layers_of(const NetworkSpec& spec) {
  return spec.layers ? spec.layers(spec) : find(spec.name).make(spec.n_classes);
}

NetworkCost cost_of(const NetworkSpec& spec) {
  NetworkCost cost;
  Shape shape{1, 3, spec.image_size, spec.image_size};
  for (const auto& layer : layers_of(spec)) {
    const Shape output = layer->output(shape);
    for (const ParameterRequest& parameter : layer->parameters(shape)) {
      if (!parameter.trained) continue;
      const auto size = static_cast<double>(parameter.shape.size());
      const bool is_vector = parameter.kind == ParameterKind::vector;
      // The first layer computes no gradient of the images.
      if (!is_vector)
        cost.layers.push_back({.operations = (cost.layers.empty() ? 2 : 3) * 2 * size * output.h * output.w,
                               .inputs = static_cast<double>(shape.size()),
                               .outputs = static_cast<double>(output.size()),
                               .channels = static_cast<double>(output.c)});
      cost.layers.back().parameters += size;
      if (is_vector) cost.layers.back().vectors += size;
      ++cost.arrays;
    }
    if (!cost.layers.empty()) cost.layers.back().activations += static_cast<double>(output.size());
    shape = output;
  }
  for (const LayerCost& layer : cost.layers) cost.parameters += layer.parameters, cost.operations += layer.operations;
  return cost;
}

}  // namespace odori
