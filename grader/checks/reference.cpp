#include "checks/reference.h"

#include <algorithm>
#include <numeric>

#include "errors/error.h"

namespace odori::grader {
namespace {

NetworkSpec network_of(const RunData& data) { return create_network("tiny", data.sets.train->n_classes()); }

Batch batch_of(const Dataset& set, const Images& images) {
  Batch batch{.transform = set.transform(), .storage = set.storage()};
  for (const std::int64_t image : images) {
    require(image >= 0 && static_cast<std::size_t>(image) < set.size(), "There is no image {} among {}.", image,
            set.size());
    batch.examples.push_back(set[static_cast<std::size_t>(image)]);
  }
  return batch;
}

void set_parameters(Classifier& model, const std::vector<float>& parameters) {
  require(parameters.size() == model.parameter_count(), "The network has {} parameters, and {} were given.",
          model.parameter_count(), parameters.size());
  ModelState state = model.state();
  auto next = parameters.begin();
  for (auto& parameter : state.parameters) {
    std::copy_n(next, parameter.size(), parameter.begin());
    next += static_cast<std::ptrdiff_t>(parameter.size());
  }
  model.restore(state);
}

DevicePoolOptions one_cpu_device() { return {.request = DeviceRequest::cpu}; }

}  // namespace

Reference::Reference(const RunData& data, int n_images)
    : data_(data), pool_(one_cpu_device()), model_(network_of(data), n_images, 0) {
  model_.to_device(pool_.use(0));
}

std::vector<float> Reference::gradient(const std::vector<float>& weights, const Images& images) {
  set_parameters(model_, weights);
  model_.forward_backward(batch_of(*data_.sets.train, images));
  std::vector<float> gradient;
  for (const NamedView& parameter : model_.parameters()) {
    const auto part = model_.graph().read_parameter(model_.memory().gradients, parameter.view);
    gradient.insert(gradient.end(), part.begin(), part.end());
  }
  return gradient;
}

std::vector<float> first_weights(const RunData& data, std::uint64_t seed) {
  DevicePool pool(one_cpu_device());
  Classifier model(network_of(data), 1, seed);
  model.to_device(pool.use(0));
  std::vector<float> weights;
  for (const auto& parameter : model.state().parameters)
    weights.insert(weights.end(), parameter.begin(), parameter.end());
  return weights;
}

EvaluationSeen evaluate(const RunData& data, const std::vector<float>& weights, const Images& images) {
  DevicePool pool(one_cpu_device());
  Classifier model(network_of(data), static_cast<int>(std::max<std::size_t>(images.size(), 1)), 0);
  model.to_device(pool.use(0));
  set_parameters(model, weights);
  model.evaluate(batch_of(*data.sets.test, images));
  const Metrics metrics = model.take_metrics();
  return {metrics.loss(), metrics.accuracy(), metrics.samples};
}

Images whole_set(std::size_t n) {
  Images all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace odori::grader
